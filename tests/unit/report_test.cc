// What a person sees. The golden files are written anew by running this test
// with IRQPROF_UPDATE_GOLDEN=1; read the difference before committing it.
#include "user/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/sample_result.h"
#include "user/report/figures.h"
#include "user/report/printable.h"

namespace irqprof {
namespace {

std::string Golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(IRQPROF_SOURCE_DIR) + "/tests/data/golden/" + name;
  if (std::getenv("IRQPROF_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << actual;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path << " is missing; run with IRQPROF_UPDATE_GOLDEN=1";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The report's words in a row, whatever lines they were wrapped to.
std::string Unwrapped(const std::string& text) {
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

Result Tainted() {
  Result result = SampleRun();
  result.arms[1].runs[2].profile->losses["tasks_full"] = 1234;
  return result;
}

TEST(Report, RunAsText) {
  const std::string text = RenderText(SampleRun(), {});
  EXPECT_EQ(text, Golden("run.txt", text));
}

TEST(Report, TaintedRunAsText) {
  const std::string text = RenderText(Tainted(), {});
  EXPECT_EQ(text, Golden("run_tainted.txt", text));
}

TEST(Report, RecordAsText) {
  const std::string text = RenderText(SampleRecord(), {});
  EXPECT_EQ(text, Golden("record.txt", text));
}

TEST(Report, RunAsJson) {
  const std::string text = RenderJson(SampleRun());
  EXPECT_EQ(text, Golden("run.json", text));
}

// The sample's first arm alone, with this split in every round.
Result WithSplit(double exact, double kernel, const HiddenSplit& split) {
  Result result = SampleRun();
  result.arms.resize(1);
  Arm& arm = result.arms[0];
  for (Run& run : arm.runs) run.hidden_split = split;
  arm.summary["interrupt_share"] = {exact, exact, exact, 3};
  arm.summary["kernel_interrupt_share"] = {kernel, kernel, kernel, 3};
  return result;
}

// Makes the sample's softirq column show more than there was, as `split` says.
void OverfillSoftirqColumn(Result& result) {
  for (Run& run : result.arms[0].runs)
    run.profile->kernel_ledger.cpus[0].softirq_ns = run.profile->elapsed_ns;
}

TEST(Report, FindingSaysWhereTheHiddenTimeWent) {
  const Result result = WithSplit(0.312, 0.170,
                                  {.hidden = 0.142,
                                   .to_competitor_user = 0.061,
                                   .to_competitor_sys = 0.037,
                                   .to_stream = 0.044});
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "rl: exact 31.2 % interrupts, the kernel's columns show 17.0 %; 14.2 % "
                       "hidden: 9.8 % charged to the competitor (6.1 user, 3.7 sys), 4.4 % to the "
                       "stream the kernel charged"));
}

// Hardirqs that a tick kernel books as softirq, and more of its softirq column
// that was no interrupt at all.
TEST(Report, ColumnThatShowsTooMuchIsNamedWithThoseItTookFrom) {
  Result result = WithSplit(0.781, 0.841,
                            {.hidden = 0.049,
                             .to_other_column = 0.109,
                             .to_competitor_sys = -0.014,
                             .to_stream = -0.041,
                             .elsewhere = -0.005});
  OverfillSoftirqColumn(result);
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "the kernel's columns show 84.1 %; 4.9 % hidden: 10.9 % shown as softirq; "
                       "6.0 % of that was no interrupt (1.4 the competitor's, 4.1 the stream's, "
                       "0.5 other) the kernel"));
}

TEST(Report, OverCountWithNothingHiddenIsSaidSo) {
  Result result = WithSplit(0.5, 0.53, {.to_other_column = 0.03, .to_competitor_sys = -0.03});
  OverfillSoftirqColumn(result);
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "show 53.0 %; nothing hidden; 3.0 % shown as softirq; all of that was no "
                       "interrupt (3.0 the competitor's) the kernel"));
}

TEST(Report, IrqColumnThatShowsTooMuchIsNamedToo) {
  Result result = WithSplit(0.5, 0.53, {.to_other_column = 0.03, .to_idle = -0.03});
  for (auto& run : result.arms[0].runs)
    run.profile->kernel_ledger.cpus[0].irq_ns = run.profile->elapsed_ns;
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})), "3.0 % shown as irq; all of that"));
  for (auto& run : result.arms[0].runs) run.profile.reset();
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "3.0 % shown in the other interrupt column; all of that was no interrupt "
                       "(3.0 idle)"));
}

TEST(Report, MoreChargedThanHiddenNamesWhoseTimeThatWas) {
  const Result result = WithSplit(
      0.3, 0.2, {.hidden = 0.1, .to_competitor_user = 0.12, .to_stream = -0.03, .to_idle = 0.01});
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "10.0 % hidden: 12.0 % charged to the competitor (12.0 user, 0.0 sys), 1.0 "
                       "% to idle; 3.0 % of that was no interrupt (3.0 the stream's) the kernel"));
}

TEST(Report, NoPartOfTheHiddenTimeIsPrintedBelowZero) {
  const double shares[] = {-0.04, 0, 0.03};
  for (const double other : {0.0, 0.02, 0.2})
    for (const double competitor : shares)
      for (const double stream : shares)
        for (const double idle : shares)
          for (const double elsewhere : shares) {
            const double hidden = other + competitor + stream + idle + elsewhere;
            if (hidden < 0) continue;
            const std::string text = Unwrapped(RenderText(
                WithSplit(0.5, 0.5, {hidden, other, 0, competitor, stream, idle, elsewhere}), {}));
            const size_t from = text.find("exact 50.0 %");
            const size_t to = text.find("the kernel charged", from);
            ASSERT_NE(to, std::string::npos) << text;
            const std::string finding = text.substr(from, to - from);
            EXPECT_FALSE(Contains(finding, " -")) << finding;
          }
}

// In each round the parts add up; of rounds that differ the printed ones do too.
TEST(Report, MediansOfThePartsStillAddUp) {
  Result result = WithSplit(0.5, 0.3, {});
  const double competitors[] = {0.05, 0.10, 0.15};
  const double streams[] = {0.15, 0.02, 0.05};
  for (int i = 0; i < 3; ++i)
    result.arms[0].runs[i].hidden_split =
        HiddenSplit{.hidden = 0.2,
                    .to_competitor_user = competitors[i],
                    .to_stream = streams[i],
                    .elsewhere = 0.2 - competitors[i] - streams[i]};
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "20.0 % hidden: 10.0 % charged to the competitor (10.0 user, 0.0 sys), 5.0 "
                       "% to the stream, 5.0 % elsewhere the kernel"));
}

TEST(Report, ChargeStandsAgainstTheCompetitorsOwnWork) {
  Result result = WithSplit(0.5, 0.3, {});
  result.arms[0].summary["competitor_user_s"].median = 1.02;
  result.arms[0].summary["competitor_sys_s"].median = 3.8;
  result.arms[0].summary["competitor_own_s"].median = 1.03;
  result.arms[0].summary["competitor_unobserved_s"].median = 0.03;
  const std::string text = Unwrapped(RenderText(result, {}));
  EXPECT_TRUE(Contains(text,
                       "the kernel charged the competitor 4.820 s (1.020 user, 3.800 sys) for "
                       "1.000 s of own work proof: own 1.030 s less unobserved 0.030 s is 1.000 s; "
                       "the same work alone 0.901 s (+11.0 %)"));
}

TEST(Report, UnobservedSaysWhichArmIsNotCalibrated) {
  Result result = SampleRun();
  result.arms[0].summary.erase("competitor_unobserved_s");
  std::string text = Unwrapped(RenderText(result, {}));
  EXPECT_TRUE(Contains(text,
                       "outside every hook: rl not calibrated, de 0.322 s; calibrated in the "
                       "same guest; part of own, not in the partition"));
  EXPECT_TRUE(Contains(text, "proof: own 0.923 s; the same work alone"));
  result.arms[1].summary.erase("competitor_unobserved_s");
  text = Unwrapped(RenderText(result, {}));
  EXPECT_TRUE(Contains(text, "outside every hook: not calibrated"));
}

TEST(Report, WhatTheKernelKeepsFromViewIsSaid) {
  Result run = SampleRun();
  Result record = SampleRecord();
  EXPECT_TRUE(Contains(Unwrapped(RenderText(run, {})),
                       "Unseen this kernel does not offer irq_vectors/thermal_apic_entry The"));
  EXPECT_FALSE(Contains(RenderText(record, {}), "Unseen"));
  run.arms[0].runs[0].profile->hidden_switches = 1200;
  run.arms[1].runs[2].profile->hidden_switches = 34;
  record.profile->hidden_switches = 1;
  EXPECT_TRUE(Contains(Unwrapped(RenderText(run, {})), "thermal_apic_entry; 1,234 switches from"));
  EXPECT_TRUE(Contains(Unwrapped(RenderText(record, {})), "Unseen 1 switch from a task"));
}

TEST(Report, KernelThatHidesItsColumnsIsSaidSo) {
  Result result = SampleRun();
  for (auto& run : result.arms[0].runs) run.hidden_split.reset();
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})), "where it went is not known"));
}

TEST(Report, TaintedResultIsNeverCalledExact) {
  const std::string text = RenderText(Tainted(), {});
  EXPECT_TRUE(Contains(text, "TAINTED"));
  EXPECT_TRUE(Contains(text, "tasks_full 1,234"));
  EXPECT_FALSE(Contains(text, "exact"));
  EXPECT_FALSE(Contains(text, "Exact"));
}

TEST(Report, NoRowIsWiderThanAskedAndNoneReachesAHundredColumns) {
  Result result = SampleRun();
  result.arms[0].name = std::string(300, 'x');
  result.arms[0].runs[0].profile->tasks[0].stolen_by[0].name = std::string(300, 'y');
  result.arms[0].settings["kernel_parameters"] = std::string(300, 'z');
  for (const int width : {0, 60, 80, 99, 100, 5000}) {
    const size_t most = std::clamp(width, 60, 99);
    for (const Result& each : {result, SampleRecord(), Tainted()})
      for (const std::string& line : Lines(RenderText(each, {false, width})))
        EXPECT_LE(DisplayColumns(line), most) << line;
  }
}

TEST(Report, ColourChangesNothingButColour) {
  std::string text = RenderText(SampleRun(), {true, 99});
  EXPECT_TRUE(Contains(text, "\033[1m"));
  for (size_t at; (at = text.find('\033')) != std::string::npos;)
    text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, RenderText(SampleRun(), {}));
}

TEST(Report, NamesFromTheKernelCannotDriveTheTerminal) {
  for (const char c : RenderText(SampleRecord(), {}))
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
}

void SetRounds(Result& result, int n) {
  for (Arm& arm : result.arms)
    for (auto& [metric, interval] : arm.summary) interval.n = n;
}

TEST(Report, IntervalIsNamedByItsMethod) {
  Result result = SampleRun();
  EXPECT_TRUE(Contains(
      RenderText(result, {}),
      "\nMedians; below each the 95 % interval (Student's t over 3 rounds, taken as normally "
      "spread).\n"));
  SetRounds(result, 7);
  EXPECT_TRUE(
      Contains(RenderText(result, {}),
               "\nMedians; below each the 95 % interval (order statistics over 7 rounds).\n"));
}

TEST(Report, MetricsOfDifferentRoundsNameEachMethod) {
  Result result = SampleRun();
  SetRounds(result, 7);
  result.arms[0].summary["competitor_own_s"].n = 4;
  result.arms[1].summary["competitor_own_s"].n = 2;
  result.arms[1].summary["hidden_share"].n = 1;
  EXPECT_TRUE(
      Contains(Unwrapped(RenderText(result, {})),
               "(Student's t over 2 to 4 rounds, taken as normally spread; order statistics "
               "over 7 rounds). One round carries no interval."));
}

TEST(Report, OneRoundCarriesNoInterval) {
  Result result = SampleRun();
  for (Arm& arm : result.arms) arm.runs.resize(1);
  SetRounds(result, 1);
  const std::string text = RenderText(result, {});
  EXPECT_TRUE(Contains(text, "\nOne round: it carries no interval.\n"));
  EXPECT_FALSE(Contains(text, "95 %"));
  EXPECT_FALSE(Contains(text, ".."));
}

TEST(Report, ProbeEffectSaysWhatTheStreamLeftTheCompetitor) {
  // 0.901 s of work in 2.337 s is 38.6 % of the CPU, in 1.034 times less 39.9 %
  EXPECT_TRUE(Contains(Unwrapped(RenderText(SampleRun(), {})),
                       "Real follows what the stream leaves the competitor of the CPU: rl 38.6 / "
                       "39.9 %, de 17.3 / 17.9 %."));
}

TEST(Report, EmptyResultsDoNotCrashIt) {
  Result run;
  run.command = "run";
  run.arms.resize(1);
  EXPECT_TRUE(Contains(RenderText(run, {}), "interrupt time was not measured"));
  Result record;
  record.profile.emplace();
  EXPECT_TRUE(Contains(RenderText(record, {}), "none"));
}

TEST(Printable, EscapesWhatIsNoTextAndCutsToColumns) {
  EXPECT_EQ(Printable("eth0", 10), "eth0");
  EXPECT_EQ(Printable("a\033[2Jb", 20), "a\\x1b[2Jb");
  EXPECT_EQ(Printable("\xff\xc3", 20), "\\xff\\xc3");
  EXPECT_EQ(Printable("\xe2\x80\xae", 20), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(Printable("\xc0\x80", 20), "\\xc0\\x80");           // overlong NUL
  EXPECT_EQ(Printable("\xc3\xa9t\xc3\xa9", 20), "\xc3\xa9t\xc3\xa9");
  EXPECT_EQ(Printable("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(Printable("abcdefghi", 8), "abcde...");
  EXPECT_EQ(Printable("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5), "\xe6\xbc\xa2...");
  EXPECT_EQ(Printable("abc", 2), "..");
}

TEST(Figures, AreRoundedOnceAndNeverMinusZero) {
  EXPECT_EQ(Fixed(-0.0001, 1), "0.0");
  EXPECT_EQ(Fixed(-1.26, 1), "-1.3");
  EXPECT_EQ(Grouped(229829), "229,829");
  EXPECT_EQ(Grouped(-1000), "-1,000");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(SignedPercent(1.25), "+125.0 %");
  EXPECT_EQ(SignedPercent(-0.001), "-0.1 %");
  EXPECT_EQ(SignedPercent(0.00001), "0.0 %");
}

}  // namespace
}  // namespace irqprof
