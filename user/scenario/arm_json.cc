#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "user/model/result_json.h"
#include "user/scenario/arm.h"

namespace irqprof {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArmJob, arm, nic_model, round, probes, iterations, direction,
                                   block_bytes, sink_address, sink_port, cpu)

std::string ArmJobToJson(const ArmJob& job) { return nlohmann::json(job).dump(); }

absl::StatusOr<ArmJob> ParseArmJob(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<ArmJob>();
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("the guest's job is broken: ", error.what()));
  }
}

std::string ArmOutcomeToJson(const ArmOutcome& outcome) {
  return nlohmann::json{{"netdev", outcome.nic.netdev},
                        {"driver", outcome.nic.driver},
                        {"model", outcome.nic.model},
                        {"run", RunToJson(outcome.run)}}
      .dump();
}

absl::StatusOr<ArmOutcome> ParseArmOutcome(const std::string& text) {
  try {
    auto json = nlohmann::json::parse(text);
    ArmOutcome outcome;
    outcome.nic = {json.at("netdev"), json.at("driver"), json.at("model")};
    auto run = ParseRun(json.at("run").get<std::string>(), "guest");
    if (!run.ok()) return run.status();
    outcome.run = std::move(*run);
    return outcome;
  } catch (const nlohmann::json::exception& error) {
    return absl::DataLossError(absl::StrCat("the guest's result is broken: ", error.what()));
  }
}

}  // namespace irqprof
