// A scenario: one experiment as data, read from TOML.
//
// It says the question, the arms (variants of one NIC or setting), the fixed
// work of the competitor, the stream beside it, and what of the metrics to
// show. It does not say where it runs (lab or live) and holds no results.
//
// Reading is strict: an unknown key, a wrong type, or a value no run could use
// is refused with "path:line: what was expected". The keys of the file:
//
//   title, question                      one sentence each
//   rounds                               how often every arm runs
//   metrics                              names of user/model/metrics.h it is about: a run says
//                                        which of them it could not measure
//   reference                            published rows, relative to this file
//   [competitor] lab_iterations          fixed work in the lab, where the clock is virtual
//                live_alone_s            on a host: sized to take this long undisturbed
//   [stream]     direction, block_bytes  "send" or "receive", seen from the measured host
//   [lab]        cpus, wire_interval_us  the guest, and how long its wire holds frames back
//   [[arm]]      name, nic, title        nic: the lab's NIC, one of lab::KnownNicModels()
//                default                 whether it runs when no arms are named
//                settings.kernel_parameters  extra words for the lab kernel's command line
#ifndef IRQPROF_SCENARIO_SCENARIO_H_
#define IRQPROF_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "user/model/result.h"

namespace irqprof {

struct ScenarioArm {
  std::string name;
  std::string nic;
  std::string title;  // the name, where the file gives none
  bool by_default = true;
  std::map<std::string, std::string> settings;
};

struct Scenario {
  std::string name;  // of the file, without directory and .toml
  std::string path;
  std::string title;
  std::string question;
  int rounds = 3;
  std::vector<std::string> metrics;
  std::string reference;  // path as it can be opened; empty: nothing published
  struct Competitor {
    int64_t lab_iterations = 100'000'000;
    double live_alone_s = 3;
  } competitor;
  struct Stream {
    std::string direction = "send";
    int block_bytes = 8192;
  } stream;
  struct Lab {
    int cpus = 1;
    int wire_interval_us = 997;
  } lab;
  std::vector<ScenarioArm> arms;
};

absl::StatusOr<Scenario> ParseScenario(std::string_view text, const std::string& path);

// A name is looked for as DIRECTORY/NAME.toml; what holds a slash or ends with
// .toml is taken as a path.
absl::StatusOr<Scenario> LoadScenario(const std::string& name_or_path,
                                      const std::string& directory);

// One broken file does not hide the others.
struct ListedScenario {
  std::string name;
  absl::StatusOr<Scenario> scenario;
};
// By name. An error only where the directory itself cannot be read.
absl::StatusOr<std::vector<ListedScenario>> ListScenarios(const std::string& directory);

// The published rows. Every arm they name must be one of the scenario's.
absl::StatusOr<std::vector<Reference>> ParseReference(std::string_view text,
                                                      const std::string& path,
                                                      const Scenario& scenario);
// Empty where the scenario has no reference.
absl::StatusOr<std::vector<Reference>> LoadReference(const Scenario& scenario);

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_SCENARIO_H_
