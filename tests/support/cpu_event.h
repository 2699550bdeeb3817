// What happens on one CPU, as a list a test can write down: the input of the
// oracle (event_oracle.h) and of the real accounting (account_replay.h).
//
// Times are ns of one clock and never fall along a list. Facts that only the
// kernel knows (what is pending, the preempt count, where a softirq really runs)
// stand in the event itself. `Sums` is what both sides answer with: one number
// per name, zeros left out, so that two accounts are compared with ==.
#ifndef IRQPROF_TESTS_SUPPORT_CPU_EVENT_H_
#define IRQPROF_TESTS_SUPPORT_CPU_EVENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace irqprof {

struct Task {
  enum Kind { kIdle, kUser, kKthread, kKsoftirqd };
  uint32_t pid = 0;
  Kind kind = kUser;
};

inline constexpr Task kIdleTask{0, Task::kIdle};

// Bits of the kernel's preempt count.
inline constexpr uint32_t kServingSoftirq = 0x100;
inline constexpr uint32_t kSoftirqsDisabled = 0x200;

inline constexpr uint32_t kTimer = 1, kNetTx = 2, kNetRx = 3, kTasklet = 6;  // softirqs

enum class SoftirqRuns { kAtIrqExit, kInTask };

struct CpuEvent {
  enum Kind {
    kLineEntry,
    kLineExit,
    kVectorEntry,
    kVectorExit,
    kSoftirqEntry,
    kSoftirqExit,
    kSoftirqRaise,
    kSwitch,
    kNmi,
    kPoll,
  };
  uint64_t time_ns = 0;
  Kind kind = kSwitch;
  uint32_t item = 0;     // irq, vector or softirq number; pid of the task that leaves
  uint64_t address = 0;  // line: its action; poll: its NAPI instance
  bool handled = true;
  Task next;              // switch
  uint64_t delta_ns = 0;  // NMI: how long it took, up to time_ns
  uint32_t work = 0;      // poll
  uint32_t budget = 0;
  SoftirqRuns runs = SoftirqRuns::kInTask;  // softirq entry: the truth
  uint32_t pending = 0;                     // at exits: raised and not yet taken up
  uint32_t preempt_count = 0;               // at exits of lines and vectors
};

CpuEvent LineEntry(uint64_t time_ns, uint32_t irq, uint64_t action);
CpuEvent LineExit(uint64_t time_ns, uint32_t irq, uint64_t action, bool handled = true);
CpuEvent VectorEntry(uint64_t time_ns, uint32_t vector);
CpuEvent VectorExit(uint64_t time_ns, uint32_t vector);
CpuEvent SoftirqEntry(uint64_t time_ns, uint32_t vec, SoftirqRuns runs = SoftirqRuns::kInTask);
CpuEvent SoftirqExit(uint64_t time_ns, uint32_t vec, uint32_t pending = 0);
CpuEvent SoftirqRaise(uint64_t time_ns, uint32_t vec);
CpuEvent Switch(uint64_t time_ns, uint32_t prev_pid, Task next);
CpuEvent Nmi(uint64_t time_ns, uint64_t delta_ns);
CpuEvent Poll(uint64_t time_ns, uint64_t napi, uint32_t work, uint32_t budget);

// An interrupt's exit that leaves these softirqs raised.
CpuEvent Raising(CpuEvent exit, uint32_t pending, uint32_t preempt_count = 0);

using Sums = std::map<std::string, uint64_t>;

// 0 where the name is not there.
uint64_t Get(const Sums& sums, const std::string& name);

// Names of what spends time: "hardirq 40/1", "vector 0", "softirq 3 stolen".
std::string LineName(uint32_t irq, uint64_t action);
std::string VectorName(uint32_t vector);
std::string SoftirqName(uint32_t vec, SoftirqRuns runs);
// "stolen": on top of what an interrupt hit; "own": work of the running task.
std::string SoftirqKind(SoftirqRuns runs);

std::string ToText(const CpuEvent& event);
std::string ToText(const std::vector<CpuEvent>& events);

// One line per name that differs; empty: equal.
std::string Differences(const Sums& expected, const Sums& got);

}  // namespace irqprof

#endif  // IRQPROF_TESTS_SUPPORT_CPU_EVENT_H_
