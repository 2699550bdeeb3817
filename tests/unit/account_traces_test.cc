// Situations in which profilers are known to count wrongly, each with the right
// answer and the mistake it guards against.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/account_replay.h"
#include "tests/support/cpu_event.h"

namespace irqprof {
namespace {

constexpr uint64_t kEth0 = 0x1000, kEhci = 0x2000;  // actions

// Recording begins at 0 on each CPU's clock of its own; 1 stands for that.
AccountReplay Replay(Task running, const std::vector<CpuEvent>& events) {
  AccountReplay replay(1, running);
  for (const CpuEvent& event : events) replay.Feed(event);
  return replay;
}

// Mistake: one slot per task id. Every CPU's idle task is 0.
TEST(Trace, TwoIdleCpusDoNotShareTheirSoftirqs) {
  AccountReplay cpu0(1, {50}), cpu3(1, {51});
  cpu0.Feed(Switch(2, 50, kIdleTask));
  cpu3.Feed(Switch(2, 51, kIdleTask));
  cpu3.Feed(SoftirqEntry(100'000, kTasklet));
  cpu0.Feed(SoftirqEntry(143'000, kNetRx));
  cpu3.Feed(SoftirqExit(163'000, kTasklet));
  cpu3.Feed(SoftirqEntry(166'000, kNetTx));
  cpu3.Feed(SoftirqExit(170'000, kNetTx));
  cpu0.Feed(SoftirqExit(282'000, kNetRx));
  const Sums on0 = cpu0.At(300'000), on3 = cpu3.At(300'000);
  EXPECT_EQ(Get(on0, "softirq 3 own self"), 139'000u);
  EXPECT_EQ(Get(on3, "softirq 6 own self"), 63'000u);
  EXPECT_EQ(Get(on3, "softirq 2 own self"), 4'000u);
  EXPECT_EQ(Get(on0, "self softirq-own"), 139'000u);
  EXPECT_EQ(Get(on3, "self softirq-own"), 67'000u);
  EXPECT_EQ(Get(on0, "idle"), 300'000u - 2 - 139'000);
  EXPECT_EQ(cpu0.Losses() + cpu3.Losses(), 0u);
}

// Mistake: each call of an action counted as an interrupt of that device.
TEST(Trace, ASharedLineKeepsItsActionsAndTheirNotMineCallsApart) {
  AccountReplay replay =
      Replay({700}, {LineEntry(10'000, 16, kEhci), LineExit(12'000, 16, kEhci, false),
                     LineEntry(12'000, 16, kEth0), LineExit(30'000, 16, kEth0, true),
                     LineEntry(50'000, 16, kEhci), LineExit(57'000, 16, kEhci, true),
                     LineEntry(57'000, 16, kEth0), LineExit(58'000, 16, kEth0, false)});
  const Sums sums = replay.At(100'000);
  const std::string eth0 = LineName(16, kEth0), ehci = LineName(16, kEhci);
  EXPECT_EQ(Get(sums, eth0 + " self"), 19'000u);
  EXPECT_EQ(Get(sums, ehci + " self"), 9'000u);
  EXPECT_EQ(Get(sums, eth0 + " count"), 2u);
  EXPECT_EQ(Get(sums, eth0 + " handled"), 1u);
  EXPECT_EQ(Get(sums, ehci + " handled"), 1u);
  EXPECT_EQ(Get(sums, "task 700 hardirq ns"), 28'000u);
}

// Mistake: nested time counted in both contexts (121 us).
TEST(Trace, NestedInterruptsAreTakenOutOfTheSoftirqAroundThem) {
  AccountReplay replay =
      Replay({900}, {SoftirqEntry(100'000, kNetRx), VectorEntry(120'000, VECTOR_local_timer),
                     VectorExit(125'000, VECTOR_local_timer), LineEntry(140'000, 41, kEth0),
                     LineExit(149'000, 41, kEth0), SoftirqExit(200'000, kNetRx),
                     SoftirqEntry(200'000, kTimer), SoftirqExit(207'000, kTimer)});
  const Sums sums = replay.At(400'000);
  EXPECT_EQ(Get(sums, "softirq 3 own self"), 86'000u);
  EXPECT_EQ(Get(sums, "softirq 3 own total"), 100'000u);
  EXPECT_EQ(Get(sums, "softirq 1 own self"), 7'000u);
  EXPECT_EQ(Get(sums, "vector 0 self"), 5'000u);
  EXPECT_EQ(Get(sums, LineName(41, kEth0) + " self"), 9'000u);
  EXPECT_EQ(Get(sums, "self softirq-own") + Get(sums, "self hardirq") + Get(sums, "self vector"),
            107'000u);
}

// Mistake: the 4.9 ms from a lost exit to the next entry charged to the device.
TEST(Trace, AfterALostExitNothingIsChargedAndThreeLossesAreCounted) {
  AccountReplay replay =
      Replay({50}, {Switch(2, 50, {900}), LineEntry(100'000, 40, kEth0),
                    LineEntry(5'000'000, 40, kEth0), LineExit(5'010'000, 40, kEth0),
                    LineExit(6'000'000, 40, kEth0), SoftirqExit(7'000'000, kNetRx)});
  const Sums sums = replay.At(8'000'000);
  EXPECT_EQ(Get(sums, "self hardirq"), 10'000u);
  EXPECT_EQ(Get(sums, "task 900 hardirq ns"), 10'000u);
  EXPECT_EQ(Get(sums, "self softirq-own") + Get(sums, "self softirq-stolen"), 0u);
  EXPECT_EQ(replay.Lost(LOSS_exit_lost), 1u);
  EXPECT_EQ(replay.Lost(LOSS_exit_unmatched), 2u);
  EXPECT_EQ(replay.Losses(), 3u);
}

// Mistakes: 940 us "stolen"; or only the 40 us shown at all.
TEST(Trace, WorkInKsoftirqdIsItsOwnTheSameVectorOnTopOfATaskIsStolen) {
  AccountReplay replay =
      Replay({800}, {Switch(2, 800, {17, Task::kKsoftirqd}), SoftirqEntry(10'000, kNetRx),
                     SoftirqExit(910'000, kNetRx), Switch(920'000, 17, {800}),
                     VectorEntry(949'000, 0), Raising(VectorExit(949'500, 0), 1u << kNetRx),
                     SoftirqEntry(950'000, kNetRx), SoftirqExit(990'000, kNetRx)});
  const Sums sums = replay.At(1'000'000);
  EXPECT_EQ(Get(sums, "task 17 softirq-own ns"), 900'000u);
  EXPECT_EQ(Get(sums, "task 17 softirq-stolen ns"), 0u);
  EXPECT_EQ(Get(sums, "task 800 softirq-stolen ns"), 40'000u);
  EXPECT_EQ(Get(sums, "theft 800 softirq 3 stolen"), 40'000u);
  EXPECT_EQ(Get(sums, "self softirq-own") + Get(sums, "self softirq-stolen"), 940'000u);
}

// Mistake: no softirq time, so "no network load".
TEST(Trace, ThreadedNapiShowsItsPollsWithoutAnySoftirq) {
  AccountReplay replay =
      Replay(kIdleTask, {Switch(2, 0, {2101, Task::kKthread}), Poll(85'000, 0x4000, 64, 64),
                         Poll(130'000, 0x4000, 12, 64), Switch(140'000, 2101, kIdleTask)});
  const Sums sums = replay.At(200'000);
  EXPECT_EQ(Get(sums, "napi 16384 in thread polls"), 2u);
  EXPECT_EQ(Get(sums, "napi 16384 in thread packets"), 76u);
  EXPECT_EQ(Get(sums, "napi 16384 in thread exhausted"), 1u);
  EXPECT_EQ(Get(sums, "task 2101 on_cpu"), 139'998u);
  EXPECT_EQ(Get(sums, "self softirq-own"), 0u);
}

// Mistake: the time since boot charged to the first exit.
TEST(Trace, RecordingThatStartsAndEndsInsideHandlersChargesWhatItSaw) {
  AccountReplay replay(90'000, {900});
  for (const CpuEvent& event : {LineExit(95'000, 40, kEth0), SoftirqExit(100'000, kNetRx),
                                Switch(200'000, 900, {901}), SoftirqEntry(210'000, kNetRx)})
    replay.Feed(event);
  const Sums sums = replay.At(260'000);
  EXPECT_EQ(Get(sums, "softirq 3 own self"), 50'000u);
  EXPECT_EQ(Get(sums, "task 901 softirq-own ns"), 50'000u);
  EXPECT_EQ(Get(sums, "self hardirq"), 0u);
  EXPECT_EQ(replay.account().edge_exits, 2u);
  EXPECT_EQ(Get(sums, "task 900 on_cpu"), 110'000u);
  EXPECT_EQ(Get(sums, "task"), 100'000u + 10'000u);  // 10 us were in the edge contexts
}

// Mistake: a full CPU called 56 % busy.
TEST(Trace, ARobbedTaskIsOnTheCpuAllTheTimeAndLosesWhatInterruptsTook) {
  AccountReplay replay(1, kIdleTask);
  replay.Feed(Switch(2, 0, {3000}));
  for (uint64_t ms = 1; ms < 1000; ms += 10) {
    const uint64_t at = ms * 1'000'000;
    replay.Feed(LineEntry(at, 40, kEth0));
    replay.Feed(Raising(LineExit(at + 100'000, 40, kEth0), 1u << kNetRx));
    replay.Feed(SoftirqEntry(at + 100'000, kNetRx));
    replay.Feed(SoftirqExit(at + 4'400'000, kNetRx));
  }
  const Sums sums = replay.At(1'000'000'002);
  EXPECT_EQ(Get(sums, "task 3000 on_cpu"), 1'000'000'000u);
  EXPECT_EQ(Get(sums, "task 3000 hardirq ns"), 10'000'000u);
  EXPECT_EQ(Get(sums, "task 3000 softirq-stolen ns"), 430'000'000u);
  EXPECT_EQ(Get(sums, "theft 3000 " + LineName(40, kEth0)), 10'000'000u);
  EXPECT_EQ(Get(sums, "task"), 560'000'000u);
  EXPECT_EQ(Get(sums, LineName(40, kEth0) + " handled"), 100u);
}

// Mistake: the bytes behind a name's end taken for part of the key.
TEST(Trace, ALineIsItsNumberAndActionWhateverItsNameLooksLike) {
  AccountReplay replay(1, {900});
  replay.Feed(LineEntry(10'000, 24, kEth0));
  replay.Feed(LineExit(20'000, 24, kEth0));
  for (line_account& line : replay.mutable_account()->lines)
    if (line.used) line.name[NAME_LENGTH - 1] = 0x7f;
  replay.Feed(LineEntry(30'000, 24, kEth0));
  replay.Feed(LineExit(45'000, 24, kEth0));
  const Sums sums = replay.At(100'000);
  EXPECT_EQ(Get(sums, LineName(24, kEth0) + " self"), 25'000u);
  EXPECT_EQ(Get(sums, LineName(24, kEth0) + " count"), 2u);
}

}  // namespace
}  // namespace irqprof
