// Runs a scenario in the lab: one guest per arm and round, and one more per arm
// without probes (round 0's seed again) for the probe effect.
//
// With the instruction-counted clock a guest does not see the host, so guests
// run side by side; on the host's clock they run one after the other.
#ifndef IRQPROF_SCENARIO_LAB_RUN_H_
#define IRQPROF_SCENARIO_LAB_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "user/lab/kernel_image.h"
#include "user/model/result.h"
#include "user/scenario/scenario.h"

namespace irqprof {

struct LabRunOptions {
  LabKernel kernel;
  std::vector<std::string> arms;  // empty: those that run by default
  int rounds = 3;
  uint64_t order_seed = 0;
  bool host_clock = false;
};

// `progress` gets one line per step. Cancelled if `stop` becomes set; the first
// failure of a guest sets it too, and is told with its arm and round.
absl::StatusOr<Result> RunInLab(const Scenario& scenario, const LabRunOptions& options,
                                const std::function<void(const std::string&)>& progress,
                                std::atomic<bool>* stop);

// What the program does as pid 1 of a guest: the job it was given.
[[noreturn]] void RunAsGuest();

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_LAB_RUN_H_
