// The gap loop: how long each interrupt takes away from a program in user mode,
// all of it, beside what the ledger's hooks saw of it.
//
// It reads the time stamp counter in a tight loop. A step far longer than the
// usual one is a gap: something took the CPU. The counters (written by BPF
// programs on this CPU) tell what it was and how much of it was captured; the
// rest, entry and exit code and the hypervisor's share, is what no hook sees.
// user/workload/gap_costs.h makes costs per interrupt of the records.
//
// Contract: the calling thread is pinned to one CPU, the counters are that
// CPU's, and they only rise. Ticks are TSC ticks on x86, ns elsewhere.
// It makes no system call while it loops, so its own work is in no gap.
#ifndef IRQPROF_USER_WORKLOAD_GAP_LOOP_H_
#define IRQPROF_USER_WORKLOAD_GAP_LOOP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace irqprof {

// Memory that BPF programs update on this CPU. `captured_ns`: the self times
// of all interrupt levels (nmi, hardirq, vector, softirq); the first
// `n_captured` are read and added up.
struct GapCounters {
  const volatile uint64_t* switches = nullptr;
  const volatile uint64_t* hardirq_count = nullptr;
  const volatile uint64_t* vector_count = nullptr;
  const volatile uint64_t* softirq_count = nullptr;
  const volatile uint64_t* captured_ns[4] = {};
  int n_captured = 0;
};

// What the counters gained in one gap, and how long it was.
struct Gap {
  uint64_t gap_ticks = 0;
  uint64_t captured_ns = 0;
  uint32_t hardirqs = 0;
  uint32_t vectors = 0;
  uint32_t softirqs = 0;
  uint32_t switches = 0;
};

struct GapRun {
  std::vector<Gap> gaps;    // those in which a counter moved
  uint64_t step_ticks = 0;  // the loop's own median step: part of every gap
  double ns_per_tick = 1;   // over the whole loop, against CLOCK_MONOTONIC
  int64_t begin_ns = 0;     // CLOCK_MONOTONIC
  int64_t elapsed_ns = 0;
  uint64_t discarded_count = 0;  // another interrupt came before the counters were read
  uint64_t discarded_ticks = 0;
  uint64_t silent_count = 0;  // gaps in which no counter moved: host or firmware
  uint64_t silent_ticks = 0;
};

// Loops for `duration_ns`; ends early when the records are full or `stop` (may
// be null) is set. `at_begin` and `at_end` (may be empty) are called just before
// and after the loop: the place for snapshots of the same time.
absl::StatusOr<GapRun> CollectGaps(const GapCounters& counters, int64_t duration_ns,
                                   const std::atomic<bool>* stop = nullptr,
                                   const std::function<void()>& at_begin = {},
                                   const std::function<void()>& at_end = {});

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_GAP_LOOP_H_
