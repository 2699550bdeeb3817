#include "user/workload/gap_loop.h"

#include <sched.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include <algorithm>

#include "absl/status/status.h"
#include "user/collect/clock.h"

namespace irqprof {
namespace {

// More than a minute of 1000 timer interrupts a second.
constexpr size_t kMaxGaps = 1 << 16;

inline uint64_t Ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(MonotonicNs());
#endif
}

struct Reading {
  uint64_t hardirqs = 0;
  uint64_t vectors = 0;
  uint64_t softirqs = 0;
  uint64_t switches = 0;
  uint64_t captured_ns = 0;

  bool operator==(const Reading&) const = default;
};

inline Reading Read(const GapCounters& counters) {
  Reading reading = {*counters.hardirq_count, *counters.vector_count, *counters.softirq_count,
                     *counters.switches, 0};
  for (int i = 0; i < counters.n_captured; ++i) reading.captured_ns += *counters.captured_ns[i];
  return reading;
}

// Read twice: equal, and not interrupted in between, or not to be trusted.
struct DoubleReading {
  Reading reading;
  bool equal;
  uint64_t end_ticks;
};

inline DoubleReading ReadTwice(const GapCounters& counters) {
  const Reading first = Read(counters);
  const Reading second = Read(counters);
  return {second, first == second, Ticks()};
}

// A moment in both clocks, from the tightest of a few bracketed reads.
struct Moment {
  uint64_t ticks = 0;
  int64_t ns = 0;
};

Moment Now() {
  Moment best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const uint64_t before = Ticks();
    const int64_t ns = MonotonicNs();
    const uint64_t width = Ticks() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, ns};
  }
  return best;
}

double NsPerTick(const Moment& begin, const Moment& end) {
  return end.ticks > begin.ticks
             ? static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks)
             : 1;
}

// Long enough for a rate right to 0.1 %: only the length of the loop hangs on it.
double RoughNsPerTick() {
  const Moment begin = Now();
  while (MonotonicNs() - begin.ns < 1'000'000) {
  }
  return NsPerTick(begin, Now());
}

template <typename Step>
uint64_t MedianTicks(Step step) {
  constexpr size_t kSteps = 2001;
  std::vector<uint64_t> steps(kSteps);
  uint64_t previous = Ticks();
  for (uint64_t& ticks : steps) {
    const uint64_t now = step();
    ticks = now - previous;
    previous = now;
  }
  std::nth_element(steps.begin(), steps.begin() + kSteps / 2, steps.end());
  return steps[kSteps / 2];
}

// Far above the jitter of an undisturbed step, far below any interrupt: even
// the emptiest takes some 1500 instructions.
uint64_t GapTicks(uint64_t median_ticks) { return 4 * median_ticks + 40; }

// The first reads after an interrupt may miss the caches; dropping those would
// leave the dear interrupts out.
uint64_t ReadTicks(uint64_t median_ticks) { return 4 * median_ticks + 400; }

Gap Difference(const Reading& before, const Reading& after, uint64_t gap_ticks) {
  Gap gap;
  gap.gap_ticks = gap_ticks;
  gap.captured_ns = after.captured_ns - before.captured_ns;
  gap.hardirqs = static_cast<uint32_t>(after.hardirqs - before.hardirqs);
  gap.vectors = static_cast<uint32_t>(after.vectors - before.vectors);
  gap.softirqs = static_cast<uint32_t>(after.softirqs - before.softirqs);
  gap.switches = static_cast<uint32_t>(after.switches - before.switches);
  return gap;
}

struct Limits {
  uint64_t step_ticks;
  uint64_t read_ticks;
  uint64_t loop_ticks;
};

void Loop(const GapCounters& counters, const Limits& limits, const std::atomic<bool>* stop,
          GapRun& run) {
  size_t recorded = 0;
  Reading known = ReadTwice(counters).reading;
  const uint64_t begin = Ticks();
  uint64_t previous = begin;
  while (previous - begin < limits.loop_ticks && recorded < run.gaps.size()) {
    const uint64_t now = Ticks();
    if (now - previous <= limits.step_ticks) {
      previous = now;
      continue;
    }
    DoubleReading read = ReadTwice(counters);
    bool quiet = read.equal && read.end_ticks - now <= limits.read_ticks;
    if (!quiet) {
      ++run.discarded_count;
      for (uint64_t start = read.end_ticks; !quiet; start = read.end_ticks) {
        read = ReadTwice(counters);
        quiet = read.equal && read.end_ticks - start <= limits.read_ticks;
      }
      run.discarded_ticks += read.end_ticks - previous;
    } else if (read.reading == known) {
      ++run.silent_count;
      run.silent_ticks += now - previous;
    } else {
      run.gaps[recorded++] = Difference(known, read.reading, now - previous);
    }
    known = read.reading;
    // not the clock anew: an interrupt since the reading belongs to the next gap
    previous = read.end_ticks;
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) break;
  }
  run.gaps.resize(recorded);
}

}  // namespace

absl::StatusOr<GapRun> CollectGaps(const GapCounters& counters, int64_t duration_ns,
                                   const std::atomic<bool>* stop,
                                   const std::function<void()>& at_begin,
                                   const std::function<void()>& at_end) {
  GapRun run;
  run.gaps.resize(kMaxGaps);  // written once here: no page fault in the loop
  const int cpu = sched_getcpu();
  run.step_ticks = MedianTicks(Ticks);
  Limits limits;
  limits.step_ticks = GapTicks(run.step_ticks);
  limits.read_ticks = ReadTicks(MedianTicks([&] { return ReadTwice(counters).end_ticks; }));
  limits.loop_ticks = static_cast<uint64_t>(static_cast<double>(duration_ns) / RoughNsPerTick());

  if (at_begin) at_begin();
  const Moment begin = Now();
  Loop(counters, limits, stop, run);
  const Moment end = Now();
  if (at_end) at_end();
  if (sched_getcpu() != cpu)
    return absl::FailedPreconditionError(
        "The calibration loop was moved to another CPU; pin its thread before it starts.");
  if (end.ticks <= begin.ticks || end.ns <= begin.ns)
    return absl::FailedPreconditionError(
        "This CPU's time stamp counter does not advance steadily, so interrupts cannot be "
        "calibrated on it.");
  run.ns_per_tick = NsPerTick(begin, end);
  run.begin_ns = begin.ns;
  run.elapsed_ns = end.ns - begin.ns;
  return run;
}

}  // namespace irqprof
