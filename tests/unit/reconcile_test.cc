#include "user/reconcile/reconcile.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace irqprof {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTickNs = 10 * kMs;

KernelReading Reading(std::optional<uint64_t> irq, std::optional<uint64_t> softirq) {
  KernelReading reading;
  ProcStatCpu row;
  row.ticks[ProcStatCpu::kIrq] = irq;
  row.ticks[ProcStatCpu::kSoftirq] = softirq;
  reading.stat.cpus = {row};
  return reading;
}

struct Case {
  Profile profile;
  Snapshot earlier, later;

  Finding Of(const std::string& rule) const {
    for (const Finding& finding : Reconcile(profile, earlier, later))
      if (finding.rule == rule) return finding;
    ADD_FAILURE() << "no finding of " << rule;
    return {};
  }
};

// 305 ms hardirqs, 5 ms vectors, 50 ms softirqs on cpu0 in one second.
Case OneCpu(std::optional<uint64_t> irq_gain, std::optional<uint64_t> softirq_gain) {
  Case made;
  made.profile.elapsed_ns = 1000 * kMs;
  made.profile.kernel_ledger.tick_ns = kTickNs;
  CpuRow cpu;
  cpu.self.hardirq_ns = 305 * kMs;
  cpu.self.vector_ns = 5 * kMs;
  cpu.self.softirq_ns = 50 * kMs;
  made.profile.cpus = {cpu};
  auto at = [](uint64_t base, std::optional<uint64_t> gain) {
    return gain ? std::optional<uint64_t>(base + *gain) : std::nullopt;
  };
  auto base = [](std::optional<uint64_t> gain) {
    return gain ? std::optional<uint64_t>(7) : std::nullopt;
  };
  made.earlier.kernel_before = made.earlier.kernel_after =
      Reading(base(irq_gain), base(softirq_gain));
  made.later.kernel_before = made.later.kernel_after =
      Reading(at(7, irq_gain), at(7, softirq_gain));
  return made;
}

TEST(Reconcile, IrqColumnThatStaysZeroIsNotAccountedByThisKernel) {
  const Finding finding = OneCpu(0, 5).Of("hidden-hardirq");
  EXPECT_EQ(finding.verdict, "misattributed");
  EXPECT_EQ(finding.exact_ns, 310 * kMs);
  EXPECT_EQ(finding.kernel_ns, 0);
  EXPECT_NE(finding.text.find("not accounted by this kernel"), std::string::npos) << finding.text;
}

TEST(Reconcile, OneTickApartAgreesAndTwoDoNot) {
  EXPECT_EQ(OneCpu(31, 5).Of("hidden-hardirq").verdict, "agrees");
  EXPECT_EQ(OneCpu(30, 5).Of("hidden-hardirq").verdict, "agrees");
  EXPECT_EQ(OneCpu(33, 5).Of("hidden-hardirq").verdict, "misattributed");
  EXPECT_EQ(OneCpu(31, 6).Of("hidden-softirq").verdict, "agrees");
  EXPECT_EQ(OneCpu(31, 7).Of("hidden-softirq").verdict, "misattributed");
}

TEST(Reconcile, BoundGrowsWithWhatTheColumnGainedWhileTheSnapshotWasTaken) {
  Case made = OneCpu(31, 5);
  made.later.kernel_after = Reading(7 + 34, 12);
  const Finding finding = made.Of("hidden-hardirq");
  EXPECT_EQ(finding.bound_ns, 4 * kTickNs);
}

TEST(Reconcile, MissingColumnIsNotComparableAndNotZero) {
  const Finding finding = OneCpu(std::nullopt, 5).Of("hidden-hardirq");
  EXPECT_EQ(finding.verdict, "not-comparable");
}

TEST(Reconcile, TaskChargedForWhatRanOnTopOfItIsNamed) {
  Case made = OneCpu(0, 5);
  TaskRow task;
  task.pid = 9;
  task.comm = "victim";
  task.on_cpu_ns = 900 * kMs;
  task.own_ns = 600 * kMs;
  task.stolen.softirq_ns = 290 * kMs;
  task.kernel.utime_ns = 700 * kMs;
  task.kernel.stime_ns = 200 * kMs;
  made.profile.tasks = {task};
  Finding finding = made.Of("task-charge");
  EXPECT_EQ(finding.verdict, "misattributed");
  EXPECT_NE(finding.text.find("300.0 ms too much; 290.0 ms of interrupts"), std::string::npos)
      << finding.text;
  made.profile.tasks[0].kernel.utime_ns = 419 * kMs;
  EXPECT_EQ(made.Of("task-charge").verdict, "agrees");
  made.profile.tasks[0].kernel.utime_ns = 430 * kMs;
  EXPECT_EQ(made.Of("task-charge").verdict, "misattributed");
  made.profile.tasks[0].kernel.slack_ns = 15 * kMs;
  EXPECT_EQ(made.Of("task-charge").verdict, "agrees");
}

Case TaskWithRuntime(uint64_t runtime_gain_ns, uint64_t while_snapshot_ns) {
  Case made = OneCpu(0, 5);
  TaskRow task;
  task.pid = 9;
  task.on_cpu_ns = 5 * kMs;
  task.stolen.softirq_ns = 2 * kMs;
  task.switches = 9;
  made.profile.tasks = {task};
  const uint64_t start_ns = 77;
  made.earlier.kernel_before.tasks = made.earlier.kernel_after.tasks = {{9, 0, 0, start_ns}};
  made.later.kernel_before.tasks = {{9, 0, 0, start_ns + runtime_gain_ns}};
  made.later.kernel_after.tasks = {{9, 0, 0, start_ns + runtime_gain_ns + while_snapshot_ns}};
  return made;
}

// 10 switches at 2 us, and 500 ppm of 5 ms: 22.5 us.
TEST(Reconcile, RunTimeThatHoldsWhatWasStolenAgreesToTheMicrosecond) {
  const Finding finding = TaskWithRuntime(5 * kMs - 22'000, 0).Of("task-runtime");
  EXPECT_EQ(finding.verdict, "agrees");
  EXPECT_EQ(finding.bound_ns, 22'500);
  EXPECT_NE(finding.text.find("what was stolen is in it"), std::string::npos) << finding.text;
  EXPECT_EQ(TaskWithRuntime(5 * kMs - 23'000, 0).Of("task-runtime").verdict, "misattributed");
  EXPECT_EQ(TaskWithRuntime(3 * kMs, 0).Of("task-runtime").verdict, "misattributed");
  EXPECT_EQ(TaskWithRuntime(5 * kMs - 23'000, 1'000).Of("task-runtime").verdict, "agrees");
}

TEST(Reconcile, TaskThatWasGoneAtOneOfTheReadsHasNoRunTimeToCompare) {
  Case made = TaskWithRuntime(5 * kMs, 0);
  made.later.kernel_after.tasks.clear();
  for (const Finding& finding : Reconcile(made.profile, made.earlier, made.later))
    EXPECT_NE(finding.rule, "task-runtime");
}

TEST(Reconcile, TaskWithUnderOnePercentOfTheTimeIsNotJudged) {
  Case made = OneCpu(0, 5);
  TaskRow task;
  task.on_cpu_ns = 9 * kMs;
  made.profile.tasks = {task};
  for (const Finding& finding : Reconcile(made.profile, made.earlier, made.later))
    EXPECT_NE(finding.rule, "task-charge");
}

}  // namespace
}  // namespace irqprof
