// The metrics of one race from its profile and times. Pure.
#ifndef IRQPROF_SCENARIO_ARM_METRICS_H_
#define IRQPROF_SCENARIO_ARM_METRICS_H_

#include <optional>
#include <string>

#include "user/model/result.h"

namespace irqprof {

struct RaceTimes {
  int competitor_pid = 0;
  int stream_pid = 0;
  double alone_s = 0;
  double real_s = 0;
  double user_s = 0;  // as time(1) prints them
  double sys_s = 0;
  double stream_mib_per_s = 0;
  double stream_mib = 0;  // moved in the measured window
};

// ns per interrupt, and per preemption, outside every hook; absent: not measured.
struct UnobservedCosts {
  std::optional<double> hardirq_ns;
  std::optional<double> vector_ns;
  std::optional<double> softirq_ns;
  std::optional<double> switch_ns;
};

// What needs no probes.
Metrics TimesToMetrics(const RaceTimes& times);

// Adds what the exact ledger and the kernel's say. competitor_unobserved_s is
// left out when a class that hit the competitor was not measured.
void AddLedgerMetrics(const Profile& profile, const RaceTimes& times, const std::string& netdev,
                      const UnobservedCosts& costs, Metrics& metrics);

// Where the hidden time went. Per task, the kernel's user and system columns
// hold its own work and what was booked there instead of as an interrupt:
//
//   misplaced = columns.user + columns.system - (own - own softirq)
//
// and summed over all tasks and idle that is the hidden time less what the
// kernel's other interrupt column shows too much, since both ledgers add up to
// the same elapsed time. The competitor makes no system call:
// of what is misplaced to it, the user part is what its user column has beyond
// its own time. Absent where the columns cannot be read per task.
std::optional<HiddenSplit> SplitHidden(const Profile& profile, const RaceTimes& times);

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_ARM_METRICS_H_
