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

TEST(Report, FindingSaysWhereTheHiddenTimeWent) {
  Result result = SampleRun();
  result.arms.resize(1);
  for (auto& run : result.arms[0].runs)
    run.hidden_split = HiddenSplit{0.142, 0.061, 0.037, 0.044, 0, 0.0001};
  result.arms[0].summary["interrupt_share"] = {0.312, 0.312, 0.312, 3};
  result.arms[0].summary["kernel_interrupt_share"] = {0.170, 0.170, 0.170, 3};
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "rl: exact 31.2 % interrupts, the kernel's columns show 17.0 %; 14.2 % "
                       "hidden: 9.8 % charged to the competitor (6.1 user, 3.7 sys), 4.4 % to the "
                       "stream proof: the same work"));
}

TEST(Report, KernelThatShowsTooMuchIsSaidToOverCount) {
  Result result = SampleRun();
  for (auto& run : result.arms[0].runs)
    run.hidden_split = HiddenSplit{-0.021, -0.03, 0, 0, 0.009, 0};
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})),
                       "over-counted by 2.1 %: 0.9 % to idle; over-counted: 3.0 % taken from the "
                       "competitor"));
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

TEST(Report, SixRoundsAreCalledA95PercentInterval) {
  Result result = SampleRun();
  EXPECT_TRUE(Contains(Unwrapped(RenderText(result, {})), "with 75 % confidence"));
  for (Arm& arm : result.arms)
    for (auto& [metric, interval] : arm.summary) interval.n = 6;
  EXPECT_TRUE(Contains(RenderText(result, {}), "below each its 95 % interval"));
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
