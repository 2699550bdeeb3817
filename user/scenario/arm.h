// One run of one arm on the machine this program is on: in a lab guest or live.
//
//   alone     the competitor by itself: what its work costs undisturbed
//   cost      the gap loop beside the stream: what one interrupt of each class
//             costs outside every hook, on this kernel with this NIC
//   race      the competitor beside the stream, between two snapshots
//
// A run without probes attaches nothing and has times and throughput only: the
// other side of the probe effect.
#ifndef IRQPROF_SCENARIO_ARM_H_
#define IRQPROF_SCENARIO_ARM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "user/model/result.h"

namespace irqprof {

// All that a guest needs to be told; JSON on its way there.
struct ArmJob {
  std::string arm;
  std::string nic_model;
  int round = 0;
  bool probes = true;
  int64_t iterations = 0;  // of the competitor
  std::string direction;   // of the stream: "send" or "receive"
  int block_bytes = 8192;
  std::string sink_address;
  int sink_port = 0;
  int cpu = 0;  // the competitor's and the stream's

  bool operator==(const ArmJob&) const = default;
};

struct ArmOutcome {
  Arm::Nic nic;
  Run run;
};

std::string ArmJobToJson(const ArmJob& job);
absl::StatusOr<ArmJob> ParseArmJob(const std::string& text);

std::string ArmOutcomeToJson(const ArmOutcome& outcome);
absl::StatusOr<ArmOutcome> ParseArmOutcome(const std::string& text);

// `netdev`: the arm's NIC here, already up. `progress` gets a word per stage.
absl::StatusOr<ArmOutcome> RunArm(const ArmJob& job, const std::string& netdev,
                                  const std::function<void(const std::string&)>& progress,
                                  const std::atomic<bool>* stop);

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_ARM_H_
