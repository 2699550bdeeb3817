// Drives bpf/account.h over a list of events, as the programs of
// bpf/ledger.bpf.c do, with a clock the test sets.
//
// Stints and thefts are flushed at a switch into a map in the way of
// flush_task(); the open stint is added when it is read, in the way of the
// collector. The answer has the names of event_oracle.h, and
// "hardirq rest" for the slot that all lines without a slot share.
#ifndef IRQPROF_TESTS_SUPPORT_ACCOUNT_REPLAY_H_
#define IRQPROF_TESTS_SUPPORT_ACCOUNT_REPLAY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "bpf/records.h"
#include "tests/support/cpu_event.h"

namespace irqprof {

// The ns clock the accounting reads. A hook stands for an interrupt that hits
// the program just before or just after that read; it does not hit itself.
class FakeClock {
 public:
  static FakeClock& Get();
  uint64_t Read();

  uint64_t now_ns = 0;
  uint64_t last_read_ns = 0;             // by other than hooks
  account_level reader = LEVEL_HARDIRQ;  // of the program that runs
  std::function<void()> before_read;
  std::function<void()> after_read;

 private:
  bool in_hook_ = false;
};

class AccountReplay {
 public:
  // `counted`: the preempt count is known, as with IRQPROF_PERCPU_SYMBOLS.
  AccountReplay(uint64_t began_ns, Task running, bool counted = true);

  // Sets the clock to the event's time, unless it is already past it.
  void Feed(const CpuEvent& event);

  // See EventOracle::At(). Reads a copy, changes nothing.
  Sums At(uint64_t now_ns) const;

  const cpu_account& account() const { return *account_; }
  cpu_account* mutable_account() { return account_.get(); }
  uint64_t Lost(loss_id cause) const { return account_->losses[cause]; }
  uint64_t Losses() const;

  // What closes: the net times of all levels at now_ns, which must be the time
  // since recording began, whatever was lost.
  uint64_t LevelSum(uint64_t now_ns) const;

 private:
  void FeedLine(const CpuEvent& event);
  void FeedVector(const CpuEvent& event);
  void FeedSoftirq(const CpuEvent& event);
  void FeedSwitch(const CpuEvent& event);
  void InterruptEnded(const CpuEvent& event);
  void AddOpenStint(const cpu_account& extended, uint64_t now_ns, Sums& sums) const;

  std::unique_ptr<cpu_account> account_;
  bool counted_;
  std::map<uint32_t, task_account> tasks_;
};

}  // namespace irqprof

#define ACCOUNT_CLOCK(a) irqprof::FakeClock::Get().Read()
#include "bpf/account.h"

#endif  // IRQPROF_TESTS_SUPPORT_ACCOUNT_REPLAY_H_
