// The accounting (bpf/account.h) against the oracle, number by number: on every
// short stream a CPU can produce, on long random ones, and with interrupts in
// the middle of the accounting itself.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/account_replay.h"
#include "tests/support/cpu_event.h"
#include "tests/support/event_oracle.h"
#include "tests/support/tiny_kernel.h"

namespace irqprof {
namespace {

constexpr uint64_t kBegan = 1'000'000;

// Feeds both accounts and compares them at moments of the test's choice.
class Both {
 public:
  explicit Both(bool counted = true)
      : oracle_(kBegan, TinyKernel::FirstTask()),
        replay_(kBegan, TinyKernel::FirstTask(), counted) {}

  void Feed(const CpuEvent& event) {
    oracle_.Feed(event);
    replay_.Feed(event);
  }

  // Empty: equal, closed and without loss.
  std::string Compare(uint64_t now_ns) const {
    std::string text = Differences(oracle_.At(now_ns), replay_.At(now_ns));
    if (replay_.LevelSum(now_ns) != now_ns - kBegan) text += "  levels do not sum to elapsed\n";
    if (replay_.Losses() != 0) text += "  a loss was counted\n";
    return text;
  }

  EventOracle& oracle() { return oracle_; }
  AccountReplay& replay() { return replay_; }

 private:
  EventOracle oracle_;
  AccountReplay replay_;
};

// Calls `check` with every kernel that is `depth` moves old. Each step takes
// twice as long as the one before: no two sets of steps have the same sum, so
// that time in the wrong place cannot be balanced by other time.
template <typename Check>
void ForEveryStream(const TinyKernel& kernel, uint32_t step, uint32_t depth, const Check& check) {
  if (step == depth) return check(kernel);
  for (TinyKernel::Move move : kernel.Moves()) {
    TinyKernel next = kernel;
    next.Do(move, uint64_t{4} << step, step);
    ForEveryStream(next, step + 1, depth, check);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Account, EveryStreamOfUpToSevenStepsIsCountedAsTheOracleCounts) {
  int streams = 0;
  for (uint32_t depth = 0; depth <= 7; ++depth)
    ForEveryStream(TinyKernel(kBegan), 0, depth, [&](const TinyKernel& kernel) {
      ++streams;
      Both both;
      for (const CpuEvent& event : kernel.events()) both.Feed(event);
      // the open contexts go on for a while
      EXPECT_EQ(both.Compare(kernel.now_ns() + 1), "") << ToText(kernel.events());
    });
  EXPECT_GT(streams, 30'000);
}

class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : kernel_(kBegan), random_(seed) {}

  // The events of the next step: none or some.
  std::vector<CpuEvent> Step() {
    const size_t known = kernel_.events().size();
    kernel_.Do(ChooseMove(), StepTime(), random_());
    return {kernel_.events().begin() + known, kernel_.events().end()};
  }

  uint64_t now_ns() const { return kernel_.now_ns(); }
  std::mt19937& random() { return random_; }

 private:
  // Raising is rare, or softirqs would beget softirqs for ever.
  TinyKernel::Move ChooseMove() {
    const std::vector<TinyKernel::Move> moves = kernel_.Moves();
    while (true) {
      const TinyKernel::Move move = moves[random_() % moves.size()];
      const bool raises = move == TinyKernel::kRaise || move == TinyKernel::kEndInterruptRaising;
      if (!raises || random_() % 4 == 0) return move;
    }
  }

  uint64_t StepTime() {
    const uint32_t kind = random_() % 100;
    if (kind < 5) return 0;
    if (kind < 6) return (uint64_t{random_()} << 32 | random_()) >> (24 + random_() % 30);
    return 1 + random_() % (kind < 50 ? 100 : 100'000);
  }

  TinyKernel kernel_;
  std::mt19937 random_;
};

constexpr int kSteps = 300'000;

class RandomStream : public ::testing::TestWithParam<uint32_t> {};

uint64_t SumOf(const Sums& sums, const std::string& prefix, const std::string& suffix) {
  uint64_t sum = 0;
  for (const auto& [name, value] : sums)
    if (name.starts_with(prefix) && name.ends_with(suffix)) sum += value;
  return sum;
}

// What must hold for any account, whatever the oracle says.
void ExpectClosed(const Sums& sums, uint64_t elapsed_ns) {
  EXPECT_EQ(Get(sums, "idle") + Get(sums, "task") + SumOf(sums, "self ", ""), elapsed_ns);
  for (const std::string kind : {"hardirq", "vector"})
    EXPECT_EQ(SumOf(sums, kind + " ", " self"), Get(sums, "self " + kind));
  for (const std::string place : {"stolen", "own"})
    EXPECT_EQ(SumOf(sums, "softirq ", place + " self"), Get(sums, "self softirq-" + place));
  for (const std::string pid : {"17", "100", "200", "300", "2101"}) {
    const std::string task = "task " + pid + " ", theft = "theft " + pid + " ";
    EXPECT_EQ(SumOf(sums, theft + "hardirq ", ""), Get(sums, task + "hardirq ns"));
    EXPECT_EQ(SumOf(sums, theft + "vector ", ""), Get(sums, task + "vector ns"));
    EXPECT_EQ(SumOf(sums, theft + "softirq ", ""), Get(sums, task + "softirq-stolen ns"));
    EXPECT_LE(SumOf(sums, task, " ns"), Get(sums, task + "on_cpu"));
    EXPECT_GT(Get(sums, task + "on_cpu"), 0u);
  }
}

TEST_P(RandomStream, IsCountedAsTheOracleCountsAndCloses) {
  RandomKernel kernel(GetParam());
  Both both;
  int events = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (const CpuEvent& event : kernel.Step()) {
      both.Feed(event);
      ++events;
    }
    if (step % (kSteps / 20) == 0) {
      ASSERT_EQ(both.Compare(kernel.now_ns()), "") << "seed " << GetParam() << " step " << step;
    }
  }
  ASSERT_EQ(both.Compare(kernel.now_ns() + 1000), "") << "seed " << GetParam();
  EXPECT_GT(events, 100'000);
  ExpectClosed(both.replay().At(kernel.now_ns()), kernel.now_ns() - kBegan);
}

// Own and stolen softirqs as one: without the preempt count the place is a guess.
Sums WithoutPlaces(const Sums& sums) {
  Sums merged;
  for (const auto& [name, value] : sums) {
    if (name.starts_with("theft ") && name.find("softirq") != std::string::npos) continue;
    std::string plain = name;
    for (const std::string place : {" stolen", " own", "-stolen", "-own"})
      if (size_t at = plain.find(place); at != std::string::npos) plain.erase(at, place.size());
    merged[plain] =
        plain.ends_with(" max") ? std::max(merged[plain], value) : merged[plain] + value;
  }
  return merged;
}

TEST_P(RandomStream, DiffersOnlyInSoftirqPlacesWhenTheyAreGuessed) {
  RandomKernel kernel(GetParam());
  Both both(/*counted=*/false);
  for (int step = 0; step < kSteps; ++step)
    for (const CpuEvent& event : kernel.Step()) both.Feed(event);
  const Sums expected = WithoutPlaces(both.oracle().At(kernel.now_ns()));
  EXPECT_EQ(Differences(expected, WithoutPlaces(both.replay().At(kernel.now_ns()))), "")
      << "seed " << GetParam();
  EXPECT_EQ(both.replay().Losses(), 0u);
}

TEST_P(RandomStream, ReadAtAnyMomentIsExactAndNeverStepsBack) {
  RandomKernel kernel(GetParam());
  Both both;
  Sums last;
  for (int step = 0; step < 1500; ++step) {
    const uint64_t before_ns = kernel.now_ns();
    const std::vector<CpuEvent> events = kernel.Step();
    // somewhere between two events; an NMI is known only at its end
    const bool nmi = !events.empty() && events[0].kind == CpuEvent::kNmi;
    const uint64_t span_ns = nmi ? 0 : kernel.now_ns() - before_ns;
    const uint64_t read_ns = before_ns + kernel.random()() % (span_ns + 1);
    ASSERT_EQ(both.Compare(read_ns), "") << "seed " << GetParam() << " step " << step;
    const Sums sums = both.replay().At(read_ns);
    for (const auto& [name, value] : last) ASSERT_GE(Get(sums, name), value) << name;
    last = sums;
    for (const CpuEvent& event : events) both.Feed(event);
  }
}

// Events are dropped as the kernel drops them under recursion or overload. What
// is counted for whom is then wrong, but no time is counted twice or vanishes.
TEST_P(RandomStream, WithHolesIsCountedAsLossyAndStillCloses) {
  RandomKernel kernel(GetParam());
  AccountReplay replay(kBegan, TinyKernel::FirstTask());
  for (int step = 0; step < kSteps; ++step) {
    for (const CpuEvent& event : kernel.Step())
      if (kernel.random()() % 100 != 0) replay.Feed(event);
    if (step % 30 == 0) {
      ASSERT_EQ(replay.LevelSum(kernel.now_ns()), kernel.now_ns() - kBegan)
          << "seed " << GetParam() << " step " << step;
    }
  }
  EXPECT_GT(replay.Lost(LOSS_exit_unmatched), 0u);
  EXPECT_GT(replay.Lost(LOSS_exit_lost), 0u);
}

INSTANTIATE_TEST_SUITE_P(Account, RandomStream, ::testing::Values(1, 2, 3, 1999));

// Runs a whole interrupt inside a program of a lower level: at each of its first
// `times` clock reads, and shifts the rest of the stream by the time it took.
class InterruptedPrograms {
 public:
  enum When { kBeforeRead, kAfterRead };

  InterruptedPrograms(When when, int times) : times_(times) {
    auto hook = [this] { Interrupt(); };
    FakeClock& clock = FakeClock::Get();
    (when == kBeforeRead ? clock.before_read : clock.after_read) = hook;
  }

  void Feed(CpuEvent event) {
    event.time_ns += shift_ns_;
    left_ = times_;
    const uint64_t before_ns = FakeClock::Get().now_ns = event.time_ns;
    both_.replay().Feed(event);
    shift_ns_ += FakeClock::Get().now_ns - before_ns;
    // the program counts from the clock value it got last
    if (event.kind != CpuEvent::kNmi && event.kind != CpuEvent::kSoftirqRaise)
      event.time_ns = FakeClock::Get().last_read_ns;
    both_.oracle().Feed(event);
  }

  uint64_t now_ns() const { return FakeClock::Get().now_ns; }
  int interrupts() const { return interrupts_; }
  Both& both() { return both_; }

 private:
  void Interrupt() {
    FakeClock& clock = FakeClock::Get();
    if (left_ == 0 || clock.reader >= LEVEL_HARDIRQ) return;
    --left_;
    ++interrupts_;
    clock.now_ns += 3;
    FeedNested(LineEntry(clock.now_ns, 44, 0x9000));
    clock.now_ns += 100 + interrupts_ % 7;
    FeedNested(Nmi(clock.now_ns, 50));
    clock.now_ns += 10;
    FeedNested(Raising(LineExit(clock.now_ns, 44, 0x9000), 0, kServingSoftirq));
    clock.now_ns += 2;
  }

  void FeedNested(const CpuEvent& event) {
    both_.replay().Feed(event);
    both_.oracle().Feed(event);
  }

  Both both_;
  int times_;
  int left_ = 0;
  int interrupts_ = 0;
  uint64_t shift_ns_ = 0;
};

TEST(InterruptedAccount, InterruptsBeforeAndAfterTheClockReadAreCountedOnce) {
  for (auto when : {InterruptedPrograms::kBeforeRead, InterruptedPrograms::kAfterRead})
    for (int times : {1, 2, 3}) {
      RandomKernel kernel(7);
      InterruptedPrograms programs(when, times);
      for (int step = 0; step < 50'000; ++step)
        for (const CpuEvent& event : kernel.Step()) programs.Feed(event);
      EXPECT_GT(programs.interrupts(), 5000);
      EXPECT_EQ(programs.both().Compare(programs.now_ns()), "") << "times " << times;
    }
}

TEST(InterruptedAccount, WithoutAQuietMomentTheLossIsCountedAndTheSumStillCloses) {
  RandomKernel kernel(8);
  InterruptedPrograms programs(InterruptedPrograms::kAfterRead, 1000);
  for (int step = 0; step < 20'000; ++step)
    for (const CpuEvent& event : kernel.Step()) programs.Feed(event);
  AccountReplay& replay = programs.both().replay();
  EXPECT_GT(replay.Lost(LOSS_stamp_unstable), 1000u);
  EXPECT_EQ(replay.LevelSum(programs.now_ns()), programs.now_ns() - kBegan);
}

// An NMI can hit the switch program after it took its stamp, and is then the
// next task's: not lost between the two.
TEST(InterruptedAccount, AnNmiInsideTheSwitchProgramIsOneOfTheTasksLoss) {
  AccountReplay replay(kBegan, {100});
  replay.Feed(Nmi(kBegan + 500, 10));
  FakeClock::Get().now_ns = kBegan + 1000;
  account_stint first, second;
  account_switch_out(replay.mutable_account(), &first);
  account_nmi(replay.mutable_account(), 30);
  replay.mutable_account()->running.key.pid = 200;
  account_switch_in(replay.mutable_account());
  FakeClock::Get().now_ns = kBegan + 2000;
  account_switch_out(replay.mutable_account(), &second);
  EXPECT_EQ(first.totals.ns[TOTAL_NMI], 10u);
  EXPECT_EQ(second.totals.ns[TOTAL_NMI], 30u);
  EXPECT_EQ(second.totals.hits[TOTAL_NMI], 1u);
}

}  // namespace
}  // namespace irqprof
