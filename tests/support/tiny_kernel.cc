#include "tests/support/tiny_kernel.h"

#include <array>
#include <bit>

namespace irqprof {
namespace {

struct Line {
  uint32_t irq;
  uint64_t action;
};
// 40 and 16 are shared; actions of one line are 64 bytes apart, as objects are.
constexpr std::array<Line, 6> kLines = {
    {{40, 0x1000}, {16, 0x1000}, {40, 0x1040}, {41, 0x2000}, {16, 0x3000}, {9, 0x40}}};
constexpr uint32_t kVectorCount = 11;
constexpr std::array<uint32_t, 10> kSoftirqOrder = {kNetRx, kTimer, kTasklet, kNetTx, 0,
                                                    4,      5,      7,        8,      9};
constexpr std::array<Task, 6> kTasks = {{{100, Task::kUser},
                                         kIdleTask,
                                         {17, Task::kKsoftirqd},
                                         {200, Task::kUser},
                                         {2101, Task::kKthread},
                                         {300, Task::kUser}}};

template <typename Table>
auto Pick(const Table& table, uint32_t pick) {
  return table[pick % table.size()];
}

}  // namespace

Task TinyKernel::FirstTask() { return kTasks[0]; }

std::vector<TinyKernel::Move> TinyKernel::Moves() const {
  if (interrupt_) return {kEndInterrupt, kEndInterruptRaising, kNmi};
  std::vector<Move> moves = {kLine, kVector, kNmi};
  if (softirq_) {
    moves.insert(moves.end(), {kSoftirqExit, kRaise});
    if (*softirq_ == kNetRx) moves.push_back(kPoll);
  } else if (serving_) {
    moves.push_back(todo_ != 0 ? kSoftirqEntry : kEndBatch);
  } else if (disabled_) {
    moves.insert(moves.end(), {kRaise, kPoll, kEnableSoftirqs});
  } else {
    moves.insert(moves.end(), {kStartBatch, kSwitch, kDisableSoftirqs});
  }
  return moves;
}

void TinyKernel::Do(Move move, uint64_t dt_ns, uint32_t pick) {
  now_ns_ += dt_ns;
  switch (move) {
    case kLine:
      interrupt_ = LineEntry(now_ns_, Pick(kLines, pick).irq, Pick(kLines, pick).action);
      return events_.push_back(*interrupt_);
    case kVector:
      interrupt_ = VectorEntry(now_ns_, pick % kVectorCount);
      return events_.push_back(*interrupt_);
    case kEndInterrupt:
      return EndInterrupt(0);
    case kEndInterruptRaising:
      Raise(Pick(kSoftirqOrder, pick));
      return EndInterrupt(pick);
    case kRaise:
      return Raise(Pick(kSoftirqOrder, pick));
    case kStartBatch:
      Raise(Pick(kSoftirqOrder, pick));
      return StartBatch(SoftirqRuns::kInTask);
    case kEnableSoftirqs:
      disabled_ = false;
      if (pending_ != 0) StartBatch(SoftirqRuns::kInTask);
      return;
    case kSoftirqEntry:
      return EnterSoftirq();
    case kSoftirqExit:
      events_.push_back(SoftirqExit(now_ns_, *softirq_, pending_));
      softirq_.reset();
      return TakeUpPending();
    case kEndBatch:
      serving_ = false;
      return;
    case kDisableSoftirqs:
      disabled_ = true;
      return;
    case kSwitch: {
      const Task next =
          Pick(kTasks, pick).pid == running_.pid ? Pick(kTasks, pick + 1) : Pick(kTasks, pick);
      events_.push_back(Switch(now_ns_, running_.pid, next));
      running_ = next;
      return;
    }
    case kNmi:
      return events_.push_back(Nmi(now_ns_, pick % (dt_ns + 1)));
    case kPoll:
      return events_.push_back(Poll(now_ns_, 0x4000 + pick % 3 * 64, pick % 65, pick % 2 * 64));
  }
}

void TinyKernel::EndInterrupt(uint32_t pick) {
  CpuEvent exit = *interrupt_;
  exit.time_ns = now_ns_;
  exit.kind = exit.kind == CpuEvent::kLineEntry ? CpuEvent::kLineExit : CpuEvent::kVectorExit;
  exit.handled = exit.kind == CpuEvent::kLineExit && pick % 2 == 0;
  exit.pending = pending_;
  exit.preempt_count =
      0x10000 + (serving_ ? kServingSoftirq : 0) + (disabled_ ? kSoftirqsDisabled : 0);
  events_.push_back(exit);
  interrupt_.reset();
  // ksoftirqd is there to run them: what runs on top of it is its own work
  if (!serving_ && !disabled_ && pending_ != 0)
    return StartBatch(running_.kind == Task::kKsoftirqd ? SoftirqRuns::kInTask
                                                        : SoftirqRuns::kAtIrqExit);
  TakeUpPending();
}

void TinyKernel::StartBatch(SoftirqRuns runs) {
  serving_ = true;
  runs_ = runs;
  TakeUpPending();
  if (runs == SoftirqRuns::kInTask) EnterSoftirq();
}

void TinyKernel::EnterSoftirq() {
  softirq_ = std::countr_zero(todo_);
  todo_ &= todo_ - 1;
  events_.push_back(SoftirqEntry(now_ns_, *softirq_, runs_));
}

void TinyKernel::Raise(uint32_t vec) {
  pending_ |= 1u << vec;
  events_.push_back(SoftirqRaise(now_ns_, vec));
}

void TinyKernel::TakeUpPending() {
  if (!serving_ || softirq_ || todo_ != 0) return;
  todo_ = pending_;
  pending_ = 0;
}

}  // namespace irqprof
