// Makes lists of events that a kernel could produce, and no others: the source
// of the exhaustive and the random streams.
//
// It follows the rules of one CPU: hardirqs do not nest in themselves, softirqs
// run in batches that take up what is pending and start over for what was raised
// meanwhile, an interrupt's exit runs them unless they are disabled or being
// served, and only a task that is in none of this can be switched out. Where a
// softirq runs is known here because the batch was begun here.
//
// Left out: an interrupt between the start of a task's own batch and its first
// softirq. That lasts a few ns, and no accounting by preempt count could tell it
// from the end of an earlier batch.
#ifndef IRQPROF_TESTS_SUPPORT_TINY_KERNEL_H_
#define IRQPROF_TESTS_SUPPORT_TINY_KERNEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/cpu_event.h"

namespace irqprof {

class TinyKernel {
 public:
  enum Move {
    kLine,
    kVector,
    kEndInterrupt,
    kEndInterruptRaising,
    kRaise,
    kStartBatch,  // the task raises a softirq and runs it itself
    kSoftirqEntry,
    kSoftirqExit,
    kEndBatch,  // no event: an interrupt could still hit the end of the batch
    kDisableSoftirqs,
    kEnableSoftirqs,
    kSwitch,
    kNmi,
    kPoll,
  };

  explicit TinyKernel(uint64_t began_ns) : now_ns_(began_ns) {}

  std::vector<Move> Moves() const;

  // dt_ns later; `pick` chooses the line, vector, softirq or task.
  void Do(Move move, uint64_t dt_ns, uint32_t pick);

  const std::vector<CpuEvent>& events() const { return events_; }
  uint64_t now_ns() const { return now_ns_; }

  static Task FirstTask();

 private:
  void EndInterrupt(uint32_t pick);
  void Raise(uint32_t vec);
  void StartBatch(SoftirqRuns runs);
  void EnterSoftirq();
  void TakeUpPending();

  uint64_t now_ns_;
  Task running_ = FirstTask();
  std::optional<CpuEvent> interrupt_;
  std::optional<uint32_t> softirq_;
  bool serving_ = false;
  bool disabled_ = false;
  SoftirqRuns runs_ = SoftirqRuns::kInTask;
  uint32_t todo_ = 0;
  uint32_t pending_ = 0;
  std::vector<CpuEvent> events_;
};

}  // namespace irqprof

#endif  // IRQPROF_TESTS_SUPPORT_TINY_KERNEL_H_
