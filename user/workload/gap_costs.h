// What one interrupt of each class costs beyond what the hooks capture, from
// the gap loop's records. Pure.
//
//   unobserved of a gap = gap - the loop's own step - captured        (ns)
//
// Gaps with a task switch are left out: another task's time is in them. A
// class is measured from its pure gaps,
//
//   vector, hardirq  exactly one of it and nothing else
//   softirq          exactly one interrupt of a measured class and n >= 1
//                    softirqs: (unobserved - that interrupt's k) / n
//
// and, where it has too few of those, by non-negative least squares over the
// gaps it occurs in, the measured classes taken as known. Where a device
// interrupt never comes without the same number of softirqs behind it, the two
// cannot be told apart: it is then taken to cost what a vector does, whose entry
// and exit are the same code, and the softirqs get the rest, so that the sum is
// right for the mix that was measured. Other classes that only ever come
// together stay unmeasured.
//
// k is the trimmed mean (a twentieth cut off at each end). It is multiplied by
// a count to give a sum, so it must be a mean: a median would lose the dear
// interrupts, which belong to the sum. A plain mean would take in the gaps in
// which the host or firmware had the CPU besides, thousands of times as long.
#ifndef IRQPROF_USER_WORKLOAD_GAP_COSTS_H_
#define IRQPROF_USER_WORKLOAD_GAP_COSTS_H_

#include <optional>

#include "user/workload/gap_loop.h"

namespace irqprof {

// Fewer samples than this are no measurement.
inline constexpr int kMinGapSamples = 10;

struct GapCost {
  std::optional<double> k_ns;  // absent: not measured
  double median_ns = 0;        // of the pure samples; 0 without
  double mean_ns = 0;          // plain mean of the pure samples; 0 without
  int sample_count = 0;        // pure gaps, or those of the fit
  bool fitted = false;         // k is from least squares
};

struct GapCosts {
  GapCost hardirq;
  GapCost vector;
  GapCost softirq;
  int switched_count = 0;  // gaps left out for a task switch
};

GapCosts CostsOfGaps(const GapRun& run);

// What the exact ledger says of the looping task over the time of the loop.
struct LoopLedger {
  int64_t own_ns = 0;
  int64_t switches = 0;  // times it was switched out
  int64_t hardirqs = 0;  // that hit it
  int64_t vectors = 0;
  int64_t softirqs = 0;
};

// ns that one preemption costs a task beyond the interrupts: waking the other
// task after the last hook, the scheduler, the switch's own program. The ledger
// books it as the loop's own time, but the loop did not get it:
//
//   own - (elapsed - gaps) = sum over classes of k * hits + k_switch * switches
//
// Absent with fewer than kMinGapSamples switches or a class not measured.
std::optional<double> SwitchCost(const GapRun& run, const GapCosts& costs,
                                 const LoopLedger& ledger);

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_GAP_COSTS_H_
