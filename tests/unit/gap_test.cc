// The gap loop against interrupts of the test's own making (a signal handler
// interrupts a loop like a hardirq does), and the costs from made-up gaps.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include <numeric>

#include "user/collect/clock.h"
#include "user/workload/gap_costs.h"
#include "user/workload/gap_loop.h"

namespace irqprof {
namespace {

// One tick is half a ns and a step takes 20 ticks, 10 ns.
class MadeUpGaps {
 public:
  MadeUpGaps() {
    run_.ns_per_tick = 0.5;
    run_.step_ticks = 20;
  }

  MadeUpGaps& Add(int times, double unobserved_ns, uint32_t hardirqs, uint32_t vectors,
                  uint32_t softirqs, uint32_t switches = 0) {
    Gap gap;
    gap.captured_ns = 1000 * (hardirqs + vectors + softirqs);
    gap.gap_ticks = static_cast<uint64_t>(2 * (unobserved_ns + gap.captured_ns)) + run_.step_ticks;
    gap.hardirqs = hardirqs;
    gap.vectors = vectors;
    gap.softirqs = softirqs;
    gap.switches = switches;
    run_.gaps.insert(run_.gaps.end(), times, gap);
    return *this;
  }

  GapCosts Costs() const { return CostsOfGaps(run_); }

 private:
  GapRun run_;
};

TEST(GapCosts, PureGapsGiveEachClassItsCost) {
  const GapCosts costs = MadeUpGaps()
                             .Add(20, 700, 1, 0, 0)
                             .Add(30, 400, 0, 1, 0)
                             .Add(40, 400 + 2 * 150, 0, 1, 2)
                             .Costs();
  EXPECT_DOUBLE_EQ(costs.hardirq.k_ns.value(), 700);
  EXPECT_DOUBLE_EQ(costs.vector.k_ns.value(), 400);
  EXPECT_DOUBLE_EQ(costs.softirq.k_ns.value(), 150);
  EXPECT_EQ(costs.hardirq.sample_count, 20);
  EXPECT_EQ(costs.vector.sample_count, 30);
  EXPECT_EQ(costs.softirq.sample_count, 40);
  EXPECT_FALSE(costs.hardirq.fitted);
}

TEST(GapCosts, FewerThanTenGapsAreNoMeasurement) {
  const GapCosts nine = MadeUpGaps().Add(9, 400, 0, 1, 0).Costs();
  EXPECT_FALSE(nine.vector.k_ns.has_value());
  EXPECT_EQ(nine.vector.sample_count, 9);
  EXPECT_TRUE(MadeUpGaps().Add(10, 400, 0, 1, 0).Costs().vector.k_ns.has_value());
  EXPECT_FALSE(MadeUpGaps().Costs().hardirq.k_ns.has_value());
}

TEST(GapCosts, GapsWithATaskSwitchAreLeftOut) {
  const GapCosts costs = MadeUpGaps().Add(20, 400, 0, 1, 0).Add(50, 90'000, 0, 1, 0, 2).Costs();
  EXPECT_DOUBLE_EQ(costs.vector.k_ns.value(), 400);
  EXPECT_EQ(costs.switched_count, 50);
}

TEST(GapCosts, HostTakingTheCpuInAFewGapsDoesNotMoveTheCost) {
  const GapCosts costs = MadeUpGaps().Add(97, 400, 0, 1, 0).Add(3, 5'000'000, 0, 1, 0).Costs();
  EXPECT_DOUBLE_EQ(costs.vector.k_ns.value(), 400);
  EXPECT_DOUBLE_EQ(costs.vector.median_ns, 400);
  EXPECT_GT(costs.vector.mean_ns, 100'000);
}

TEST(GapCosts, DearInterruptsCountBecauseTheCostIsMultiplied) {
  const GapCosts costs = MadeUpGaps().Add(60, 400, 0, 1, 0).Add(40, 1400, 0, 1, 0).Costs();
  EXPECT_DOUBLE_EQ(costs.vector.median_ns, 400);
  EXPECT_NEAR(costs.vector.k_ns.value(), 800, 20);
}

TEST(GapCosts, CapturedLongerThanTheGapIsNoNegativeCost) {
  EXPECT_EQ(MadeUpGaps().Add(20, -40, 0, 1, 0).Costs().vector.k_ns.value(), 0);
}

TEST(GapCosts, HardirqThatNeverComesAloneIsFitted) {
  const GapCosts costs = MadeUpGaps()
                             .Add(50, 400, 0, 1, 0)
                             .Add(50, 400 + 150, 0, 1, 1)
                             .Add(50, 700 + 150, 1, 0, 1)
                             .Add(20, 700 + 400 + 150, 1, 1, 1)
                             .Costs();
  EXPECT_NEAR(costs.hardirq.k_ns.value(), 700, 1e-6);
  EXPECT_TRUE(costs.hardirq.fitted);
  EXPECT_FALSE(costs.softirq.fitted);
  EXPECT_DOUBLE_EQ(costs.softirq.k_ns.value(), 150);
}

TEST(GapCosts, WithoutAnyPureGapAllThreeAreFitted) {
  const GapCosts costs = MadeUpGaps()
                             .Add(30, 2 * 700 + 400, 2, 1, 0)
                             .Add(30, 700 + 2 * 400 + 150, 1, 2, 1)
                             .Add(30, 700 + 400 + 3 * 150, 1, 1, 3)
                             .Costs();
  EXPECT_NEAR(costs.hardirq.k_ns.value(), 700, 1e-6);
  EXPECT_NEAR(costs.vector.k_ns.value(), 400, 1e-6);
  EXPECT_NEAR(costs.softirq.k_ns.value(), 150, 1e-6);
  EXPECT_TRUE(costs.softirq.fitted);
}

TEST(GapCosts, HardirqThatAlwaysBringsTheSameSoftirqsCostsWhatAVectorDoes) {
  const GapCosts costs = MadeUpGaps().Add(50, 1000, 1, 0, 3).Add(50, 400, 0, 1, 0).Costs();
  EXPECT_DOUBLE_EQ(costs.hardirq.k_ns.value(), 400);
  EXPECT_NEAR(costs.softirq.k_ns.value(), 200, 1e-6);
  EXPECT_TRUE(costs.hardirq.fitted);
}

TEST(GapCosts, ClassesThatOnlyComeTogetherStayUnmeasured) {
  const GapCosts costs = MadeUpGaps().Add(50, 850, 1, 0, 1).Costs();
  EXPECT_FALSE(costs.hardirq.k_ns.has_value());
  EXPECT_FALSE(costs.softirq.k_ns.has_value());
}

TEST(GapCosts, FitIsNeverNegative) {
  // the second kind costs less for one softirq more
  const GapCosts costs =
      MadeUpGaps().Add(30, 900, 2, 1, 0).Add(30, 600, 2, 1, 3).Add(30, 800, 1, 1, 1).Costs();
  EXPECT_EQ(costs.softirq.k_ns.value(), 0);
  EXPECT_GE(costs.hardirq.k_ns.value(), 0);
  EXPECT_GE(costs.vector.k_ns.value(), 0);
}

GapRun LoopOf(int64_t elapsed_ns, uint64_t gap_ns) {
  GapRun run;
  run.elapsed_ns = elapsed_ns;
  run.gaps = {Gap{gap_ns, 0, 1, 0, 1, 2}};
  return run;
}

// The loop had 600 us of 1 ms; the ledger gives it 700 us, of which ten
// interrupts and twenty softirqs explain 20.
TEST(SwitchCost, IsWhatTheLedgerGaveTheLoopBeyondWhatItHadAndItsInterruptsCost) {
  GapCosts costs;
  costs.hardirq.k_ns = 1000;
  costs.softirq.k_ns = 500;
  const LoopLedger ledger{700'000, 16, 10, 0, 20};
  EXPECT_DOUBLE_EQ(SwitchCost(LoopOf(1'000'000, 400'000), costs, ledger).value(), 5000);
}

TEST(SwitchCost, NeedsTenSwitchesAndTheCostOfWhatHitTheLoop) {
  GapCosts costs;
  costs.hardirq.k_ns = 1000;
  const GapRun run = LoopOf(1'000'000, 400'000);
  EXPECT_FALSE(SwitchCost(run, costs, {700'000, 9, 10, 0, 0}).has_value());
  EXPECT_TRUE(SwitchCost(run, costs, {700'000, 10, 10, 0, 0}).has_value());
  EXPECT_FALSE(SwitchCost(run, costs, {700'000, 10, 10, 0, 1}).has_value());
  EXPECT_EQ(SwitchCost(run, costs, {600'000, 10, 10, 0, 0}).value(), 0) << "never negative";
}

// What the signal handler, in the place of a BPF program, writes.
volatile uint64_t g_switches;
volatile uint64_t g_hardirqs;
volatile uint64_t g_vectors;
volatile uint64_t g_softirqs;
volatile uint64_t g_captured_ns;

void ActAsHardirq(int) {
  constexpr int64_t kSpinNs = 50'000;
  const int64_t begin_ns = MonotonicNs();
  int64_t end_ns;
  do {
    end_ns = MonotonicNs();
  } while (end_ns - begin_ns < kSpinNs);
  g_hardirqs = g_hardirqs + 1;
  g_captured_ns = g_captured_ns + static_cast<uint64_t>(end_ns - begin_ns);
}

class GapLoop : public ::testing::Test {
 protected:
  GapLoop() {
    counters_.switches = &g_switches;
    counters_.hardirq_count = &g_hardirqs;
    counters_.vector_count = &g_vectors;
    counters_.softirq_count = &g_softirqs;
    counters_.captured_ns[0] = &g_captured_ns;
    counters_.n_captured = 1;
    sched_getaffinity(0, sizeof(allowed_), &allowed_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed_)) ++cpu;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~GapLoop() override { sched_setaffinity(0, sizeof(allowed_), &allowed_); }

  GapCounters counters_;
  cpu_set_t allowed_;
};

TEST_F(GapLoop, FindsEachInterruptAndHowMuchOfItWasCaptured) {
  struct sigaction action = {};
  action.sa_handler = ActAsHardirq;
  struct sigaction old_action;
  sigaction(SIGALRM, &action, &old_action);
  const itimerval each_ms = {{0, 1000}, {0, 1000}};
  const uint64_t hardirqs_before = g_hardirqs;
  setitimer(ITIMER_REAL, &each_ms, nullptr);
  const auto run = CollectGaps(counters_, 200'000'000);
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &old_action, nullptr);
  const uint64_t hardirqs = g_hardirqs - hardirqs_before;

  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_GE(run->elapsed_ns, 190'000'000);
  ASSERT_GE(run->gaps.size(), 1u);
  uint64_t found = 0;
  for (const Gap& gap : run->gaps) {
    found += gap.hardirqs;
    EXPECT_GE(gap.captured_ns, 50'000u * gap.hardirqs);
    // the two clocks differ by what NTP slews at most
    EXPECT_GE(static_cast<double>(gap.gap_ticks) * run->ns_per_tick * 1.001,
              static_cast<double>(gap.captured_ns));
  }
  EXPECT_GT(found, 0u);
  EXPECT_LE(found, hardirqs);
}

TEST_F(GapLoop, GapsThatNoCounterExplainsAreNotRecorded) {
  const auto run = CollectGaps(counters_, 20'000'000);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(run->gaps.empty());
  EXPECT_GT(run->step_ticks, 0u);
  EXPECT_GT(run->ns_per_tick, 0);
}

TEST_F(GapLoop, StopFlagEndsItAtTheNextGap) {
  const std::atomic<bool> stop = true;
  const int64_t an_hour_ns = int64_t{3600} * 1'000'000'000;
  const auto run = CollectGaps(counters_, an_hour_ns, &stop);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_LT(run->elapsed_ns, an_hour_ns);
}

}  // namespace
}  // namespace irqprof
