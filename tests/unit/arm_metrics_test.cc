#include "user/scenario/arm_metrics.h"

#include <gtest/gtest.h>

#include "user/scenario/arm.h"

namespace irqprof {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int kCompetitor = 77, kStream = 76;

// One second of one CPU: 100 ms idle, 400 ms hardirqs and vectors, 200 ms
// softirqs, the rest tasks; the kernel saw no hardirq and 260 ms of softirqs.
Profile RaceProfile() {
  Profile profile;
  profile.elapsed_ns = 1000 * kMs;
  CpuRow cpu;
  cpu.elapsed_ns = 1000 * kMs;
  cpu.self = {100 * kMs, 300 * kMs, 200 * kMs, 390 * kMs, 10 * kMs, 0};
  profile.cpus = {cpu};

  ContextRow nic_line, other_line, timer, net_rx;
  nic_line.kind = other_line.kind = "hardirq";
  nic_line.netdev = "eth0";
  nic_line.count = 5000;
  nic_line.self_ns = 380 * kMs;
  other_line.count = 10;
  other_line.self_ns = 10 * kMs;
  timer.kind = "vector";
  timer.count = 250;
  timer.self_ns = 10 * kMs;
  net_rx.kind = "softirq";
  net_rx.count = 900;
  net_rx.self_ns = 200 * kMs;
  profile.contexts = {nic_line, other_line, timer, net_rx};
  NapiRow napi;
  napi.netdev = "eth0";
  napi.self_ns = 150 * kMs;
  profile.napi = {napi};

  TaskRow competitor, stream;
  competitor.pid = kCompetitor;
  competitor.own_ns = 250 * kMs;
  competitor.stolen = {300 * kMs, 8 * kMs, 120 * kMs, 0};
  competitor.on_cpu_ns = competitor.own_ns + competitor.stolen.Sum();
  competitor.hits = {4000, 200, 700};
  competitor.switches = 100;
  competitor.kernel.columns = {290 * kMs, 180 * kMs, 160 * kMs, 0};
  stream.pid = kStream;
  stream.own_ns = 60 * kMs;
  stream.own_softirq_ns = 10 * kMs;
  stream.kernel.columns = {5 * kMs, 135 * kMs, 100 * kMs, 0};
  profile.tasks = {competitor, stream};

  KernelCpuRow row;
  row.user_ns = 300 * kMs;
  row.system_ns = 320 * kMs;
  row.idle_ns = 110 * kMs;
  row.iowait_ns = 10 * kMs;
  row.irq_ns = 0;
  row.softirq_ns = 260 * kMs;
  profile.kernel_ledger = {{row}, 10 * kMs};
  return profile;
}

RaceTimes Times() {
  RaceTimes times;
  times.competitor_pid = kCompetitor;
  times.stream_pid = kStream;
  times.alone_s = 0.25;
  times.real_s = 1.0;
  times.stream_mib_per_s = 50;
  times.stream_mib = 50;
  return times;
}

TEST(ArmMetrics, SharesAreOfTheCpusElapsedTime) {
  Metrics metrics = TimesToMetrics(Times());
  AddLedgerMetrics(RaceProfile(), Times(), "eth0", {}, metrics);
  EXPECT_DOUBLE_EQ(metrics["interrupt_share"], 0.6);
  EXPECT_DOUBLE_EQ(metrics["hardirq_share"], 0.39);
  EXPECT_DOUBLE_EQ(metrics["napi_share"], 0.15);
  EXPECT_DOUBLE_EQ(metrics["kernel_interrupt_share"], 0.26);
  EXPECT_DOUBLE_EQ(metrics["competitor_slowdown"], 4);
  EXPECT_DOUBLE_EQ(metrics["competitor_stolen_s"], 0.428);
  EXPECT_DOUBLE_EQ(metrics["interrupts_per_s"], 5260);
  EXPECT_DOUBLE_EQ(metrics["hardirq_us_per_mib"], 7800);
  EXPECT_DOUBLE_EQ(metrics["nic_us_per_mib"], (380 + 150) * 1000.0 / 50);
}

TEST(ArmMetrics, WhatOneColumnShowsTooMuchHidesNothingOfTheOther) {
  Metrics metrics;
  AddLedgerMetrics(RaceProfile(), Times(), "eth0", {}, metrics);
  EXPECT_DOUBLE_EQ(metrics["hidden_share"], 0.4);
}

TEST(ArmMetrics, KernelWithoutInterruptColumnsGivesNoShareOfItsOwn) {
  Profile profile = RaceProfile();
  profile.kernel_ledger.cpus[0].irq_ns.reset();
  Metrics metrics;
  AddLedgerMetrics(profile, Times(), "eth0", {}, metrics);
  EXPECT_EQ(metrics.count("kernel_interrupt_share"), 0u);
  EXPECT_EQ(metrics.count("hidden_share"), 0u);
  EXPECT_FALSE(SplitHidden(profile, Times()).has_value());
}

TEST(ArmMetrics, UnobservedIsCostTimesWhatHitTheCompetitor) {
  Metrics metrics;
  AddLedgerMetrics(RaceProfile(), Times(), "eth0", {1000, 2000, 3000, 5000}, metrics);
  EXPECT_DOUBLE_EQ(metrics["competitor_unobserved_s"],
                   (4000 * 1000 + 200 * 2000 + 700 * 3000 + 100 * 5000) * 1e-9);
}

TEST(ArmMetrics, UnobservedIsLeftOutWhenAClassThatHitWasNotMeasured) {
  Metrics metrics;
  AddLedgerMetrics(RaceProfile(), Times(), "eth0", {1000, 2000, std::nullopt, 5000}, metrics);
  EXPECT_EQ(metrics.count("competitor_unobserved_s"), 0u);
  Profile profile = RaceProfile();
  profile.tasks[0].hits.softirq = 0;
  AddLedgerMetrics(profile, Times(), "eth0", {1000, 2000, std::nullopt, 5000}, metrics);
  EXPECT_EQ(metrics.count("competitor_unobserved_s"), 1u);
}

TEST(ArmMetrics, PartsOfTheHiddenTimeAddUpToIt) {
  const auto split = SplitHidden(RaceProfile(), Times());
  ASSERT_TRUE(split.has_value());
  EXPECT_DOUBLE_EQ(split->hidden, 0.4);
  EXPECT_DOUBLE_EQ(split->to_other_column, 0.06);
  EXPECT_DOUBLE_EQ(split->to_competitor_user, 0.04);
  EXPECT_DOUBLE_EQ(split->to_competitor_sys, 0.18);
  EXPECT_DOUBLE_EQ(split->to_stream, 0.09);
  EXPECT_DOUBLE_EQ(split->to_idle, 0.02);
  EXPECT_NEAR(split->hidden,
              split->to_other_column + split->to_competitor_user + split->to_competitor_sys +
                  split->to_stream + split->to_idle + split->elsewhere,
              1e-12);
}

TEST(ArmJob, SurvivesItsWayIntoTheGuest) {
  ArmJob job{"rl", "rtl8139", 2, false, 123'456, "send", 8192, "10.0.2.100", 5001, 0};
  const auto read = ParseArmJob(ArmJobToJson(job));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, job);
  EXPECT_FALSE(ParseArmJob("{\"arm\": 1}").ok());
  EXPECT_FALSE(ParseArmJob("").ok());
}

TEST(ArmOutcome, SurvivesItsWayOutOfTheGuest) {
  ArmOutcome outcome{{"eth0", "8139cp", "rtl8139"}, {}};
  outcome.run.round = 3;
  outcome.run.metrics = {{"competitor_real_s", 1.5}};
  outcome.run.profile = RaceProfile();
  const auto read = ParseArmOutcome(ArmOutcomeToJson(outcome));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->nic.driver, "8139cp");
  EXPECT_EQ(read->run.metrics, outcome.run.metrics);
  ASSERT_TRUE(read->run.profile.has_value());
  EXPECT_EQ(read->run.profile->tasks.size(), 2u);
  EXPECT_FALSE(ParseArmOutcome("{}").ok());
}

}  // namespace
}  // namespace irqprof
