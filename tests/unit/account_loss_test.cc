// The accounting when events are missing or tables are full: nothing is charged
// on suspicion, each cause has its own counter, and time still closes.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/account_replay.h"
#include "tests/support/cpu_event.h"

namespace irqprof {
namespace {

constexpr uint64_t kBegan = 1000;
constexpr Task kUserTask{100};

AccountReplay Replay(const std::vector<CpuEvent>& events, Task running = kUserTask) {
  AccountReplay replay(kBegan, running);
  for (const CpuEvent& event : events) replay.Feed(event);
  return replay;
}

uint64_t Explained(const Sums& sums) {
  uint64_t sum = Get(sums, "idle") + Get(sums, "task");
  for (const auto& [name, value] : sums)
    if (name.starts_with("self ")) sum += value;
  return sum;
}

TEST(AccountLoss, AnExitWithoutItsEntryChargesNothing) {
  AccountReplay replay = Replay(
      {LineEntry(2000, 40, 1), LineExit(2010, 40, 1), LineExit(9000, 40, 1), VectorExit(9100, 0)});
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 2u);
  EXPECT_EQ(replay.Losses(), 2u);
  const Sums sums = replay.At(10'000);
  EXPECT_EQ(Get(sums, "self hardirq"), 10u);
  EXPECT_EQ(Get(sums, "count hardirq"), 1u);
  EXPECT_EQ(Get(sums, "count vector"), 0u);
  EXPECT_EQ(Explained(sums), 9000u);
}

TEST(AccountLoss, AnEntryWhoseExitIsLostIsReplacedByTheNextEntry) {
  AccountReplay replay =
      Replay({LineEntry(2000, 40, 1), LineEntry(5'000'000, 40, 1), LineExit(5'000'010, 40, 1)});
  EXPECT_EQ(replay.Lost(LOSS_exit_lost), 1u);
  EXPECT_EQ(replay.Losses(), 1u);
  const Sums sums = replay.At(6'000'000);
  EXPECT_EQ(Get(sums, "self hardirq"), 10u);
  EXPECT_EQ(Get(sums, "task 100 hardirq ns"), 10u);
  EXPECT_EQ(Explained(sums), 6'000'000 - kBegan);
}

TEST(AccountLoss, TheExitOfAnotherContextDoesNotEndTheOpenOne) {
  const uint64_t slot_of_vector_2 = 2;  // irq 2, action 0: slot 2 of the lines
  const std::vector<std::vector<CpuEvent>> cases = {
      {LineEntry(2000, 40, 64), LineExit(2005, 40, 128), LineExit(2010, 40, 64)},
      {LineEntry(2000, 40, 64), LineExit(2005, 41, 64), LineExit(2010, 40, 64)},
      {LineEntry(2000, 40, 64), VectorExit(2005, 0), LineExit(2010, 40, 64)},
      {VectorEntry(2000, 2), LineExit(2005, slot_of_vector_2, 0), VectorExit(2010, 2)},
      {VectorEntry(2000, 2), VectorExit(2005, 3), VectorExit(2010, 2)},
      {SoftirqEntry(2000, kNetRx), SoftirqExit(2005, kTimer), SoftirqExit(2010, kNetRx)}};
  for (const std::vector<CpuEvent>& events : cases) {
    AccountReplay replay = Replay(events);
    EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 1u) << ToText(events);
    EXPECT_EQ(replay.Losses(), 1u);
    const Sums sums = replay.At(3000);
    EXPECT_EQ(Get(sums, "task"), 1990u) << ToText(events);
    EXPECT_EQ(Explained(sums), 2000u) << ToText(events);
  }
}

TEST(AccountLoss, WhatWasOpenWhenRecordingBeganIsNobodysTimeAndNoLoss) {
  AccountReplay replay =
      Replay({LineExit(1100, 40, 1), LineEntry(1200, 40, 1), LineExit(1230, 40, 1),
              SoftirqExit(1500, kNetRx), SoftirqEntry(1600, kTimer), SoftirqExit(1607, kTimer)});
  EXPECT_EQ(replay.account().edge_exits, 2u);
  EXPECT_EQ(replay.Losses(), 0u);
  const Sums sums = replay.At(2000);
  EXPECT_EQ(Get(sums, "self hardirq"), 30u);
  EXPECT_EQ(Get(sums, "count hardirq"), 1u);
  EXPECT_EQ(Get(sums, "self softirq-own"), 7u);
  EXPECT_EQ(Get(sums, "task"), 500u - 7u);
  EXPECT_EQ(Explained(sums), 1000u - (100u + 370u));
  EXPECT_EQ(replay.LevelSum(2000), 1000u);
}

// No context outlives a switch, so this one was not open from the beginning.
TEST(AccountLoss, AFirstExitAfterASwitchIsALossAndTakesNoTime) {
  AccountReplay replay = Replay({LineEntry(1100, 40, 1), LineExit(1600, 40, 1),
                                 Switch(1700, 100, {200}), SoftirqExit(1800, kNetRx)});
  EXPECT_EQ(replay.account().edge_exits, 0u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 1u);
  EXPECT_EQ(replay.Losses(), 1u);
  EXPECT_EQ(Get(replay.At(2000), "task 200 on_cpu"), 300u);
  EXPECT_EQ(Explained(replay.At(2000)), 1000u);
}

// Softirqs do not run on top of a line's handler, so that one began after them.
TEST(AccountLoss, AFirstExitOfALineAfterASoftirqIsALossAndTakesNoTime) {
  AccountReplay replay =
      Replay({SoftirqEntry(1100, kTimer), SoftirqExit(1200, kTimer), LineExit(1500, 40, 1)});
  EXPECT_EQ(replay.account().edge_exits, 0u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 1u);
  EXPECT_EQ(replay.Losses(), 1u);
  EXPECT_EQ(Explained(replay.At(2000)), 1000u);
}

TEST(AccountLoss, AClockThatStepsBackGivesNoTimeInsteadOfCenturies) {
  AccountReplay replay(kBegan, kUserTask);
  replay.Feed(LineEntry(2000, 40, 1));
  FakeClock::Get().now_ns = 1995;
  replay.Feed(LineExit(1995, 40, 1));
  replay.Feed(Switch(1998, 100, kIdleTask));
  FakeClock::Get().now_ns = 1997;
  replay.Feed(Switch(1997, 0, kUserTask));
  EXPECT_EQ(replay.Lost(LOSS_clock_backwards), 2u);
  const Sums sums = replay.At(2100);
  EXPECT_EQ(Get(sums, "self hardirq"), 0u);
  EXPECT_EQ(Get(sums, LineName(40, 1) + " max"), 0u);
  EXPECT_EQ(Get(sums, "idle"), 0u);
  EXPECT_EQ(Get(sums, "task 100 on_cpu"), 998u + 103u);
}

// 63 lines have a slot of their own; action 0 puts line n into slot n.
TEST(AccountLoss, LinesBeyondTheTableShareTheRestAndAreCounted) {
  AccountReplay replay(kBegan, kUserTask);
  uint64_t now_ns = kBegan;
  for (uint32_t irq = 0; irq < LINES + 6; ++irq) {
    replay.Feed(LineEntry(now_ns += 100, irq, 0));
    replay.Feed(LineExit(now_ns += 10, irq, 0));
  }
  EXPECT_EQ(replay.Lost(LOSS_lines_full), 7u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 0u);
  const Sums sums = replay.At(now_ns);
  EXPECT_EQ(Get(sums, LineName(62, 0) + " self"), 10u);
  EXPECT_EQ(Get(sums, "hardirq rest self"), 70u);
  EXPECT_EQ(Get(sums, "hardirq rest count"), 7u);
  EXPECT_EQ(Get(sums, "self hardirq"), 700u);
  EXPECT_EQ(Explained(sums), now_ns - kBegan);
}

TEST(AccountLoss, NapisBeyondTheTableShareTheRestAndAreCounted) {
  AccountReplay replay(kBegan, kUserTask);
  replay.Feed(SoftirqEntry(2000, kNetRx));
  for (uint64_t napi = 0; napi < NAPIS + 2; ++napi)
    replay.Feed(Poll(2010 + 10 * napi, (napi + NAPIS) * 64, 5, 64));
  EXPECT_EQ(replay.Lost(LOSS_napis_full), 3u);
  EXPECT_EQ(replay.account().napis[NAPIS - 1].work[NAPI_IN_SOFTIRQ].polls, 3u);
  EXPECT_EQ(replay.account().napis[NAPIS - 1].work[NAPI_IN_SOFTIRQ].self_ns, 30u);
}

TEST(AccountLoss, MoreSourcesThanAStintRemembersAreCountedAndOnlyTheirTheftIsMissing) {
  AccountReplay replay(kBegan, kUserTask);
  uint64_t now_ns = kBegan;
  auto hit_by_lines = [&](uint32_t lines) {
    for (uint32_t irq = 0; irq < lines; ++irq)
      for (int twice = 0; twice < 2; ++twice) {
        replay.Feed(LineEntry(now_ns += 100, irq, 64));
        replay.Feed(LineExit(now_ns += 10, irq, 64));
      }
  };
  hit_by_lines(TOUCHED_MAX + 8);
  replay.Feed(Switch(now_ns, 100, {200}));
  EXPECT_EQ(replay.Lost(LOSS_sources_full), 8u);
  Sums sums = replay.At(now_ns);
  EXPECT_EQ(Get(sums, "task 100 hardirq ns"), 20u * (TOUCHED_MAX + 8));
  // a task tells a few lines apart, and has the others in one sum
  EXPECT_EQ(Get(sums, "theft 100 " + LineName(TASK_LINES - 2, 64)), 20u);
  EXPECT_EQ(Get(sums, "theft 100 " + LineName(TASK_LINES - 1, 64)), 0u);
  EXPECT_EQ(Get(sums, "theft 100 hardirq rest"), 20u * (TOUCHED_MAX - (TASK_LINES - 1)));

  hit_by_lines(TOUCHED_MAX);
  replay.Feed(Switch(now_ns, 200, kUserTask));
  EXPECT_EQ(replay.Lost(LOSS_sources_full), 8u);
  EXPECT_EQ(Get(replay.At(now_ns), "theft 200 hardirq rest"),
            20u * (TOUCHED_MAX - (TASK_LINES - 1)));
}

// Task 666 came at 2000, ran for 600 by the kernel's own figure, and was not
// seen to leave; the interrupts since hit whoever came next.
TEST(AccountLoss, ATaskThatLeavesUnseenGivesUpTheRestOfItsInterval) {
  AccountReplay replay =
      Replay({Switch(2000, 100, {666}), VectorEntry(3000, 0), VectorExit(3010, 0)});
  cpu_account& account = *replay.mutable_account();
  account_left_unseen(&account, 600);
  account.running.key.pid = 200;
  replay.Feed(Switch(5000, 200, {300}));
  EXPECT_EQ(account.hidden_switches, 1u);
  EXPECT_EQ(replay.Losses(), 0u);
  const Sums sums = replay.At(7000);
  EXPECT_EQ(Get(sums, "task 100 on_cpu"), 1000u);
  EXPECT_EQ(Get(sums, "task 200 on_cpu"), 2400u);
  EXPECT_EQ(Get(sums, "task 200 vector ns"), 10u);
  EXPECT_EQ(Get(sums, "task 300 on_cpu"), 2000u);
  EXPECT_EQ(Explained(sums), 6000u);
  EXPECT_EQ(replay.LevelSum(7000), 6000u);
}

// Its exit comes in another task's time, or in its own after others ran.
TEST(AccountLoss, ASoftirqThatIsSwitchedOutIsCountedAndLeavesItsTimeToTheTasks) {
  AccountReplay replay = Replay({SoftirqEntry(2000, kNetRx), Switch(2500, 100, {200}),
                                 Switch(2600, 200, {100}), SoftirqExit(2700, kNetRx)});
  EXPECT_EQ(replay.Lost(LOSS_softirq_switched), 1u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 1u);
  const Sums sums = replay.At(3000);
  EXPECT_EQ(Get(sums, "task 100 on_cpu"), 1900u);
  EXPECT_EQ(Get(sums, "task 200 on_cpu"), 100u);
  EXPECT_EQ(Get(sums, "task"), 2000u);
  EXPECT_EQ(replay.LevelSum(3000), 2000u);
}

// Were the two taken for one pair, the second task would lose more than it had.
TEST(AccountLoss, AnEntryAndAnExitOnTwoSidesOfASwitchAreNoPair) {
  AccountReplay replay =
      Replay({LineEntry(2000, 40, 1), Switch(2500, 100, {200}), LineExit(2600, 40, 1)});
  EXPECT_EQ(replay.Lost(LOSS_exit_lost), 1u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 1u);
  EXPECT_EQ(replay.Losses(), 2u);
  const Sums sums = replay.At(3000);
  EXPECT_EQ(Get(sums, "self hardirq"), 0u);
  EXPECT_EQ(Get(sums, "task 200 hardirq ns"), 0u);
  EXPECT_EQ(Explained(sums), 2000u);
}

TEST(AccountHistogram, SlotIHoldsTwoToTheIUpToTheNextPowerOfTwo) {
  EXPECT_EQ(account_hist_slot(0), 0u);
  EXPECT_EQ(account_hist_slot(1), 0u);
  EXPECT_EQ(account_hist_slot(2), 1u);
  EXPECT_EQ(account_hist_slot(3), 1u);
  EXPECT_EQ(account_hist_slot(4), 2u);
  for (uint32_t slot = 1; slot < HIST_SLOTS; ++slot) {
    const uint64_t first = uint64_t{1} << slot;
    EXPECT_EQ(account_hist_slot(first - 1), slot - 1) << slot;
    EXPECT_EQ(account_hist_slot(first), slot);
    EXPECT_EQ(account_hist_slot(first + first / 2), slot);
  }
}

TEST(AccountHistogram, TheLastSlotHoldsEverythingLonger) {
  EXPECT_EQ(account_hist_slot((uint64_t{1} << 32) - 1), HIST_SLOTS - 1u);
  EXPECT_EQ(account_hist_slot(uint64_t{1} << 32), HIST_SLOTS - 1u);
  EXPECT_EQ(account_hist_slot(~uint64_t{0}), HIST_SLOTS - 1u);
}

TEST(AccountReading, AnOpenContextReadTwiceAndThenClosedCountsOnce) {
  AccountReplay replay = Replay({SoftirqEntry(2000, kNetRx), LineEntry(2100, 40, 1)});
  const std::string line = LineName(40, 1) + " self";
  const Sums first = replay.At(2110), second = replay.At(2150);
  replay.Feed(LineExit(2160, 40, 1));
  replay.Feed(SoftirqExit(2400, kNetRx));
  const Sums last = replay.At(3000);
  EXPECT_EQ(Get(first, line), 10u);
  EXPECT_EQ(Get(second, line) - Get(first, line), 40u);
  EXPECT_EQ(Get(last, line) - Get(second, line), 10u);
  EXPECT_EQ(Get(first, "self softirq-own"), 100u);
  EXPECT_EQ(Get(second, "self softirq-own"), 100u);
  EXPECT_EQ(Get(last, "self softirq-own"), 340u);
  EXPECT_EQ(Get(last, LineName(40, 1) + " count"), 1u);
}

}  // namespace
}  // namespace irqprof
