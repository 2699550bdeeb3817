#include "user/scenario/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace irqprof {
namespace {

Scenario ThreeArms() {
  Scenario scenario;
  scenario.name = "s";
  scenario.arms = {{"rl", "", "", true, {}}, {"de", "", "", true, {}}, {"fxp", "", "", false, {}}};
  return scenario;
}

TEST(Plan, EveryRoundRunsEveryArmOnce) {
  const auto plan = PlanRun(ThreeArms(), {"fxp", "de", "rl"}, 5, 42);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 15u);
  for (size_t i = 0; i < plan->size(); i += 3) {
    std::set<size_t> arms;
    for (size_t j = i; j < i + 3; ++j) {
      EXPECT_EQ((*plan)[j].round, static_cast<int>(i / 3));
      arms.insert((*plan)[j].arm);
    }
    EXPECT_EQ(arms, (std::set<size_t>{0, 1, 2}));
  }
}

TEST(Plan, WithoutNamesTheDefaultArmsRun) {
  const auto plan = PlanRun(ThreeArms(), {}, 1, 1);
  ASSERT_TRUE(plan.ok());
  std::set<size_t> arms;
  for (const PlannedRun& run : *plan) arms.insert(run.arm);
  EXPECT_EQ(arms, (std::set<size_t>{0, 1}));
}

// The values were computed with another implementation of mt19937_64: a change
// here means that a printed seed no longer repeats an old run.
TEST(Plan, ASeedMeansTheSameOrderForEver) {
  const auto plan = PlanRun(ThreeArms(), {"rl", "de", "fxp"}, 3, 1999);
  ASSERT_TRUE(plan.ok());
  std::string order;
  for (const PlannedRun& run : *plan) order += std::to_string(run.arm);
  EXPECT_EQ(order, "120201210");
  EXPECT_EQ(*PlanRun(ThreeArms(), {"fxp", "rl", "de"}, 3, 1999), *plan);
}

TEST(Plan, EveryOrderIsEquallyLikely) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const auto plan = PlanRun(ThreeArms(), {"rl", "de", "fxp"}, 1, seed);
    ASSERT_TRUE(plan.ok());
    std::string order;
    for (const PlannedRun& run : *plan) order += std::to_string(run.arm);
    ++seen[order];
  }
  ASSERT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150) << order;
}

TEST(Plan, WhatCannotBePlannedIsRefused) {
  EXPECT_EQ(PlanRun(ThreeArms(), {"xl"}, 1, 0).status().message(),
            "no arm \"xl\" in s; there are: rl, de, fxp");
  EXPECT_EQ(PlanRun(ThreeArms(), {"rl", "rl"}, 1, 0).status().message(),
            "arm \"rl\" is asked for twice");
  EXPECT_EQ(PlanRun(ThreeArms(), {}, 0, 0).status().message(), "rounds must be 1 or more, not 0");
}

}  // namespace
}  // namespace irqprof
