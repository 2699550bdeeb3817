// The reference for bpf/account.h: slow, obvious, and made of other ideas.
//
// It walks the time between one event and the next and gives every such segment
// to the one context that is innermost, found on a stack, and to the task that
// is running. It never subtracts a nested time and keeps no base values, so the
// mistakes that the real accounting could make are not possible here. It is
// right only for complete lists: an event that does not fit its stack is
// reported under the name "illegal".
//
// Names in the answer, next to those of cpu_event.h (ITEM):
//   idle, task                      self time
//   self|count|hits KIND            KIND: hardirq, vector, softirq-stolen,
//                                   softirq-own, nmi; hits: not inside a softirq
//   ITEM self|total|count|max|handled|hist N
//   task PID on_cpu|switches|KIND ns|KIND hits       not of the idle task
//   theft PID ITEM
//   napi ID in PLACE polls|packets|exhausted|self    PLACE: softirq, thread, task
#ifndef IRQPROF_TESTS_SUPPORT_EVENT_ORACLE_H_
#define IRQPROF_TESTS_SUPPORT_EVENT_ORACLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/cpu_event.h"

namespace irqprof {

class EventOracle {
 public:
  EventOracle(uint64_t began_ns, Task running) : now_ns_(began_ns), running_(running) {}

  void Feed(const CpuEvent& event);

  // The sums up to now_ns, not before the last event: open contexts have spent
  // their time until then, but have not ended.
  Sums At(uint64_t now_ns) const;

 private:
  struct Context {
    std::string kind;
    std::string item;
    uint64_t start_ns = 0;
    bool steals = false;
    uint64_t since_poll_ns = 0;  // NET_RX: own time since its start or last poll
  };

  void Enter(Context context);
  void Exit(const std::string& item, bool handled);
  void FinishPoll(const CpuEvent& event);
  void TakeNmi(const CpuEvent& event);
  void PassTime(uint64_t until_ns);
  void Spend(const std::string& kind, const std::string& item, bool steals, uint64_t ns);
  void CountEnd(const std::string& kind);
  void CountForTask(const std::string& what, uint64_t number);

  uint64_t now_ns_;
  Task running_;
  std::vector<Context> stack_;
  Sums sums_;
};

}  // namespace irqprof

#endif  // IRQPROF_TESTS_SUPPORT_EVENT_ORACLE_H_
