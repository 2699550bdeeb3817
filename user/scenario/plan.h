// The order in which a scenario's arms run. Pure.
//
// Every round runs every wanted arm once, in an order shuffled anew, so that
// what drifts over a session does not favour one arm. The same seed gives the
// same order on every machine and library: the generator is fixed by the C++
// standard, and the shuffle is ours because std::shuffle's is not.
#ifndef IRQPROF_SCENARIO_PLAN_H_
#define IRQPROF_SCENARIO_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "user/scenario/scenario.h"

namespace irqprof {

struct PlannedRun {
  size_t arm = 0;  // index into Scenario::arms
  int round = 0;   // from 0

  bool operator==(const PlannedRun&) const = default;
};

// `wanted`: names of arms; none: those that run by default.
absl::StatusOr<std::vector<PlannedRun>> PlanRun(const Scenario& scenario,
                                                const std::vector<std::string>& wanted, int rounds,
                                                uint64_t order_seed);

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_PLAN_H_
