#include "user/scenario/plan.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace irqprof {
namespace {

absl::StatusOr<size_t> ArmNamed(const Scenario& scenario, const std::string& name) {
  for (size_t i = 0; i < scenario.arms.size(); ++i)
    if (scenario.arms[i].name == name) return i;
  return absl::InvalidArgumentError(absl::StrCat(
      "no arm \"", name, "\" in ", scenario.name, "; there are: ",
      absl::StrJoin(scenario.arms, ", ",
                    [](std::string* out, const ScenarioArm& arm) { out->append(arm.name); })));
}

absl::StatusOr<std::vector<size_t>> ChooseArms(const Scenario& scenario,
                                               const std::vector<std::string>& wanted) {
  std::vector<size_t> arms;
  for (size_t i = 0; wanted.empty() && i < scenario.arms.size(); ++i)
    if (scenario.arms[i].by_default) arms.push_back(i);
  for (const std::string& name : wanted) {
    const absl::StatusOr<size_t> arm = ArmNamed(scenario, name);
    if (!arm.ok()) return arm.status();
    if (std::find(arms.begin(), arms.end(), *arm) != arms.end())
      return absl::InvalidArgumentError(absl::StrCat("arm \"", name, "\" is asked for twice"));
    arms.push_back(*arm);
  }
  // The order of asking must not change what a seed means.
  std::sort(arms.begin(), arms.end());
  return arms;
}

// Uniform in 0..bound-1: the last, incomplete stretch of the generator is thrown away.
uint64_t Below(std::mt19937_64& random, uint64_t bound) {
  const uint64_t limit = std::numeric_limits<uint64_t>::max() / bound * bound;
  uint64_t value = random();
  while (value >= limit) value = random();
  return value % bound;
}

// Fisher and Yates.
void Shuffle(std::mt19937_64& random, std::vector<size_t>& arms) {
  for (size_t left = arms.size(); left > 1; --left)
    std::swap(arms[left - 1], arms[Below(random, left)]);
}

}  // namespace

absl::StatusOr<std::vector<PlannedRun>> PlanRun(const Scenario& scenario,
                                                const std::vector<std::string>& wanted, int rounds,
                                                uint64_t order_seed) {
  if (rounds < 1)
    return absl::InvalidArgumentError(absl::StrCat("rounds must be 1 or more, not ", rounds));
  absl::StatusOr<std::vector<size_t>> arms = ChooseArms(scenario, wanted);
  if (!arms.ok()) return arms.status();
  std::mt19937_64 random(order_seed);
  std::vector<PlannedRun> plan;
  for (int round = 0; round < rounds; ++round) {
    Shuffle(random, *arms);
    for (const size_t arm : *arms) plan.push_back({arm, round});
  }
  return plan;
}

}  // namespace irqprof
