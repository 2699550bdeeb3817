// Whether a softirq was stolen (run on top of a task by an interrupt's exit) or
// the task's own: with the preempt count known, and guessed without it.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/account_replay.h"
#include "tests/support/cpu_event.h"

namespace irqprof {
namespace {

constexpr uint64_t kBegan = 1000;
constexpr uint32_t kRx = 1u << kNetRx, kTm = 1u << kTimer;

struct Places {
  uint64_t stolen = 0;  // numbers of softirqs
  uint64_t own = 0;
  bool operator==(const Places&) const = default;
};

void PrintTo(const Places& places, std::ostream* out) {
  *out << places.stolen << " stolen, " << places.own << " own";
}

Places PlacesOf(const std::vector<CpuEvent>& events, bool counted, Task running = {100}) {
  AccountReplay replay(kBegan, running, counted);
  for (const CpuEvent& event : events) replay.Feed(event);
  EXPECT_EQ(replay.Losses(), 0u);
  const Sums sums = replay.At(events.back().time_ns);
  return {Get(sums, "count softirq-stolen"), Get(sums, "count softirq-own")};
}

Places Counted(const std::vector<CpuEvent>& events, Task running = {100}) {
  return PlacesOf(events, true, running);
}
Places Guessed(const std::vector<CpuEvent>& events, Task running = {100}) {
  return PlacesOf(events, false, running);
}

TEST(SoftirqPlace, ABatchAfterAnInterruptIsStolen) {
  EXPECT_EQ(Counted({LineEntry(2000, 40, 1), Raising(LineExit(2010, 40, 1), kRx | kTm),
                     SoftirqEntry(2020, kTimer), SoftirqExit(2030, kTimer),
                     SoftirqEntry(2030, kNetRx), SoftirqExit(2050, kNetRx)}),
            (Places{2, 0}));
  EXPECT_EQ(Counted({VectorEntry(2000, 0), Raising(VectorExit(2010, 0), kTm),
                     SoftirqEntry(2020, kTimer), SoftirqExit(2030, kTimer)}),
            (Places{1, 0}));
}

TEST(SoftirqPlace, ABatchWithoutAnInterruptIsOwn) {
  EXPECT_EQ(Counted({SoftirqEntry(2020, kNetRx), SoftirqExit(2030, kNetRx)}), (Places{0, 1}));
}

TEST(SoftirqPlace, AfterAnInterruptThatRaisedNothingItIsOwn) {
  EXPECT_EQ(Counted({LineEntry(2000, 40, 1), LineExit(2010, 40, 1), SoftirqEntry(2011, kNetRx),
                     SoftirqExit(2030, kNetRx)}),
            (Places{0, 1}));
}

TEST(SoftirqPlace, WhatAnInterruptRaisesWhileSoftirqsAreDisabledIsOwn) {
  const std::vector<CpuEvent> disabled = {LineEntry(3000, 40, 1),
                                          Raising(LineExit(3010, 40, 1), kRx, kSoftirqsDisabled),
                                          SoftirqEntry(3020, kNetRx), SoftirqExit(3030, kNetRx)};
  EXPECT_EQ(Counted(disabled), (Places{0, 1}));

  std::vector<CpuEvent> after_a_stolen_batch = {
      LineEntry(2000, 40, 1), Raising(LineExit(2010, 40, 1), kRx), SoftirqEntry(2020, kNetRx),
      SoftirqExit(2030, kNetRx)};
  after_a_stolen_batch.insert(after_a_stolen_batch.end(), disabled.begin(), disabled.end());
  EXPECT_EQ(Counted(after_a_stolen_batch), (Places{1, 1}));
}

TEST(SoftirqPlace, ABatchThatStartsOverStaysWhereItBegan) {
  const CpuEvent exit = LineExit(2010, 40, 1);
  const std::vector<CpuEvent> turns = {SoftirqEntry(2020, kNetRx),
                                       SoftirqExit(2030, kNetRx, kTm),
                                       SoftirqEntry(2030, kTimer),
                                       LineEntry(2031, 40, 1),
                                       Raising(LineExit(2032, 40, 1), kRx, kServingSoftirq),
                                       SoftirqExit(2040, kTimer, kRx),
                                       SoftirqEntry(2040, kNetRx),
                                       SoftirqExit(2050, kNetRx)};
  EXPECT_EQ(Counted(turns), (Places{0, 3}));

  std::vector<CpuEvent> at_irq_exit = {LineEntry(2000, 40, 1), Raising(exit, kRx)};
  at_irq_exit.insert(at_irq_exit.end(), turns.begin(), turns.end());
  EXPECT_EQ(Counted(at_irq_exit), (Places{3, 0}));
}

TEST(SoftirqPlace, AnInterruptAtTheVeryEndOfAStolenBatchProlongsIt) {
  EXPECT_EQ(Counted({LineEntry(2000, 40, 1), Raising(LineExit(2010, 40, 1), kRx),
                     SoftirqEntry(2020, kNetRx), SoftirqExit(2030, kNetRx), LineEntry(2031, 40, 1),
                     Raising(LineExit(2032, 40, 1), kTm, kServingSoftirq),
                     SoftirqEntry(2033, kTimer), SoftirqExit(2040, kTimer)}),
            (Places{2, 0}));
}

TEST(SoftirqPlace, InKsoftirqdEverySoftirqIsItsOwn) {
  const std::vector<CpuEvent> events = {SoftirqRaise(2005, kNetRx), LineEntry(2005, 40, 1),
                                        Raising(LineExit(2010, 40, 1), kRx),
                                        SoftirqEntry(2020, kNetRx), SoftirqExit(2030, kNetRx)};
  EXPECT_EQ(Counted(events, {17, Task::kKsoftirqd}), (Places{0, 1}));
  EXPECT_EQ(Guessed(events, {17, Task::kKsoftirqd}), (Places{0, 1}));
  EXPECT_EQ(Counted(events, {18, Task::kKthread}), (Places{1, 0}));
}

TEST(SoftirqPlace, ASwitchForgetsWhatAnInterruptLeftToKsoftirqd) {
  const std::vector<CpuEvent> events = {
      LineEntry(2000, 40, 1),   SoftirqRaise(2005, kNetRx), Raising(LineExit(2010, 40, 1), kRx),
      Switch(2015, 100, {200}), SoftirqEntry(2020, kNetRx), SoftirqExit(2030, kNetRx)};
  EXPECT_EQ(Counted(events), (Places{0, 1}));
}

std::vector<CpuEvent> SoftirqAfterGap(uint64_t gap_ns) {
  return {LineEntry(2000, 40, 1), SoftirqRaise(2005, kNetRx), LineExit(2010, 40, 1),
          SoftirqEntry(2010 + gap_ns, kNetRx), SoftirqExit(20'000, kNetRx)};
}

TEST(GuessedSoftirqPlace, ARaisedSoftirqSoonAfterAnInterruptIsStolenALaterOneOwn) {
  EXPECT_EQ(Guessed(SoftirqAfterGap(0)), (Places{1, 0}));
  EXPECT_EQ(Guessed(SoftirqAfterGap(ACCOUNT_EXIT_GAP_NS)), (Places{1, 0}));
  EXPECT_EQ(Guessed(SoftirqAfterGap(ACCOUNT_EXIT_GAP_NS + 1)), (Places{0, 1}));
}

TEST(GuessedSoftirqPlace, WhatWasNotRaisedAtTheInterruptsEndIsOwn) {
  EXPECT_EQ(Guessed({LineEntry(2000, 40, 1), LineExit(2010, 40, 1), SoftirqRaise(2011, kNetRx),
                     SoftirqEntry(2012, kNetRx), SoftirqExit(2030, kNetRx)}),
            (Places{0, 1}));
  EXPECT_EQ(
      Guessed({SoftirqRaise(2011, kNetRx), SoftirqEntry(2012, kNetRx), SoftirqExit(2030, kNetRx)}),
      (Places{0, 1}));
}

TEST(GuessedSoftirqPlace, TheGapCountsOnlyForTheFirstOfABatch) {
  EXPECT_EQ(Guessed({LineEntry(2000, 40, 1), SoftirqRaise(2005, kTimer), SoftirqRaise(2006, kNetRx),
                     LineExit(2010, 40, 1), SoftirqEntry(2020, kTimer),
                     SoftirqRaise(2030, kTasklet), SoftirqExit(50'000, kTimer),
                     SoftirqEntry(50'001, kNetRx), SoftirqExit(99'000, kNetRx),
                     SoftirqEntry(99'001, kTasklet), SoftirqExit(99'002, kTasklet)}),
            (Places{3, 0}));
}

TEST(GuessedSoftirqPlace, AnInterruptInsideAnOwnSoftirqDoesNotMakeItStolen) {
  EXPECT_EQ(Guessed({SoftirqRaise(1999, kTimer), SoftirqEntry(2000, kTimer), LineEntry(2010, 40, 1),
                     SoftirqRaise(2011, kNetRx), LineExit(2012, 40, 1), SoftirqExit(2020, kTimer),
                     SoftirqEntry(2021, kNetRx), SoftirqExit(2030, kNetRx)}),
            (Places{0, 2}));
}

}  // namespace
}  // namespace irqprof
