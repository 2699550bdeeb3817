#include "user/scenario/scenario.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace irqprof {
namespace {

namespace fs = std::filesystem;

constexpr char kGood[] =
    "title = \"T\"\n"                                    // 1
    "question = \"Q?\"\n"                                // 2
    "rounds = 4\n"                                       // 3
    "metrics = [\"competitor_real_s\",\n"                // 4
    "           \"stream_mib_per_s\"]\n"                 // 5
    "[competitor]\n"                                     // 6
    "lab_iterations = 5_000\n"                           // 7
    "live_alone_s = 2\n"                                 // 8
    "[stream]\n"                                         // 9
    "direction = \"receive\"\n"                          // 10
    "[lab]\n"                                            // 11
    "cpus = 2\n"                                         // 12
    "[[arm]]\n"                                          // 13
    "name = \"rl\"\n"                                    // 14
    "nic = \"rtl8139\"\n"                                // 15
    "settings = {kernel_parameters = \"threadirqs\"}\n"  // 16
    "[[arm]]\n"                                          // 17
    "name = \"de\"\n"                                    // 18
    "nic = \"tulip\"\n"                                  // 19
    "default = false\n";                                 // 20

// The good file with one piece of it replaced.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string Error(const std::string& text) {
  return std::string(ParseScenario(text, "s.toml").status().message());
}

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

class Directory {
 public:
  Directory() {
    std::string pattern = testing::TempDir() + "/scenariosXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Directory() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Scenario, SaysAllThatTheFileSays) {
  const auto scenario = ParseScenario(kGood, "dir/my-race.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  EXPECT_EQ(scenario->name, "my-race");
  EXPECT_EQ(scenario->question, "Q?");
  EXPECT_EQ(scenario->rounds, 4);
  EXPECT_EQ(scenario->metrics, (std::vector<std::string>{"competitor_real_s", "stream_mib_per_s"}));
  EXPECT_EQ(scenario->competitor.lab_iterations, 5000);
  EXPECT_EQ(scenario->competitor.live_alone_s, 2.0);
  EXPECT_EQ(scenario->stream.direction, "receive");
  EXPECT_EQ(scenario->stream.block_bytes, 8192);
  EXPECT_EQ(scenario->lab.cpus, 2);
  EXPECT_EQ(scenario->lab.wire_interval_us, 997);
  ASSERT_EQ(scenario->arms.size(), 2u);
  EXPECT_EQ(scenario->arms[0].settings.at("kernel_parameters"), "threadirqs");
  EXPECT_TRUE(scenario->arms[0].by_default);
  EXPECT_FALSE(scenario->arms[1].by_default);
  EXPECT_EQ(scenario->arms[1].title, "de");
}

TEST(Scenario, UnknownKeyIsRefusedWithItsLine) {
  EXPECT_EQ(Error(With("rounds", "round")),
            "s.toml:3: unknown key \"round\"; expected one of title, question, rounds, metrics, "
            "reference, competitor, stream, lab, arm");
  EXPECT_EQ(Error(With("live_alone_s", "alone_s")),
            "s.toml:8: unknown key \"alone_s\" in [competitor]; expected one of lab_iterations, "
            "live_alone_s");
  EXPECT_EQ(Error(With("default", "defalt")),
            "s.toml:20: unknown key \"defalt\" in [[arm]]; expected one of name, nic, title, "
            "default, settings");
  EXPECT_EQ(Error(With("kernel_parameters", "mtu")),
            "s.toml:16: unknown key \"mtu\" in settings; expected kernel_parameters");
}

TEST(Scenario, WrongTypeIsRefusedWithItsLine) {
  EXPECT_EQ(Error(With("\"T\"", "7")), "s.toml:1: \"title\" must be a string, not a whole number");
  EXPECT_EQ(Error(With("= 4", "= \"4\"")),
            "s.toml:3: \"rounds\" must be a whole number from 1 to 1000, not a string");
  EXPECT_EQ(Error(With("= 4", "= 4.5")),
            "s.toml:3: \"rounds\" must be a whole number from 1 to 1000, not a number with a "
            "fraction");
  EXPECT_EQ(Error(With("false", "\"no\"")),
            "s.toml:20: \"default\" in [[arm]] must be true or false, not a string");
  EXPECT_EQ(Error(With("\"stream_mib_per_s\"", "9")),
            "s.toml:5: \"metrics\" must be an array of strings; this one is a whole number");
  EXPECT_EQ(Error("stream = 3\n" + With("[stream]\ndirection = \"receive\"\n", "")),
            "s.toml:1: \"stream\" must be a table, not a whole number");
}

TEST(Scenario, ImpossibleValueIsRefusedWithItsLine) {
  EXPECT_EQ(Error(With("= 4", "= 0")),
            "s.toml:3: \"rounds\" must be a whole number from 1 to 1000, not 0");
  EXPECT_EQ(Error(With("cpus = 2", "wire_interval_us = -997")),
            "s.toml:12: \"wire_interval_us\" in [lab] must be a whole number from 0 to 1000000, "
            "not -997");
  EXPECT_EQ(Error(With("5_000", "0")),
            "s.toml:7: \"lab_iterations\" in [competitor] must be a whole number from 1 to "
            "1000000000000, not 0");
  EXPECT_EQ(Error(With("live_alone_s = 2", "live_alone_s = nan")),
            "s.toml:8: \"live_alone_s\" in [competitor] must be a number from 0.01 to 3600, not "
            "nan");
  EXPECT_EQ(Error(With("\"receive\"", "\"both\"")),
            "s.toml:10: \"direction\" in [stream] must be \"send\" or \"receive\", not \"both\"");
  EXPECT_EQ(Error(With("\"tulip\"", "\"ne2000\"")),
            "s.toml:19: unknown NIC model \"ne2000\"; expected one of e1000, i82558b, ne2k_pci, "
            "rtl8139, tulip, virtio-net-pci");
  EXPECT_EQ(Error(With("\"de\"", "\"de,rl\"")),
            "s.toml:18: the name of an arm must be 1 to 32 letters, digits, dots, dashes or "
            "underscores");
  EXPECT_EQ(Error(With("\"de\"", "\"rl\"")), "s.toml:17: there is an arm \"rl\" already");
  EXPECT_EQ(Error(With("\"receive\"", "\"\\u001b[2J\\n\"")),
            "s.toml:10: \"direction\" in [stream] must be \"send\" or \"receive\", not "
            "\"\\x1b[2J\\x0a\"");
  EXPECT_EQ(Error(With("\"Q?\"", "\"\"")), "s.toml:2: \"question\" must not be empty");
}

TEST(Scenario, UnknownMetricIsRefusedNamingThoseThereAre) {
  const std::string error = Error(With("stream_mib_per_s", "stream_mb_per_s"));
  EXPECT_EQ(error.rfind("s.toml:5: unknown metric \"stream_mb_per_s\"; there are: "
                        "competitor_real_s, ",
                        0),
            0u)
      << error;
  EXPECT_EQ(Error(With("stream_mib_per_s", "competitor_real_s")),
            "s.toml:5: metric \"competitor_real_s\" is named twice");
}

TEST(Scenario, MissingArmsAndKeysAreRefused) {
  const std::string text = kGood;
  EXPECT_EQ(Error(text.substr(0, text.find("[[arm]]"))), "s.toml:1: the file must have \"arm\"");
  EXPECT_EQ(Error("arm = []\n" + text.substr(0, text.find("[[arm]]"))),
            "s.toml:1: expected tables under [[arm]], at least one, not none");
  EXPECT_EQ(Error(With("nic = \"tulip\"\n", "")), "s.toml:17: [[arm]] must have \"nic\"");
  EXPECT_EQ(Error(""), "s.toml:1: the file must have \"title\"");
  EXPECT_EQ(Error(With("settings = {kernel_parameters = \"threadirqs\"}", "default = false")),
            "s.toml:13: no arm runs by default; leave out one \"default\"");
}

TEST(Scenario, TextThatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_EQ(Error(With("rounds = 4", "rounds = = 4")).rfind("s.toml:3: not valid TOML: ", 0), 0u);
  EXPECT_EQ(Error("title = \"a\"\ntitle = \"b\"\n").rfind("s.toml:2: not valid TOML: ", 0), 0u);
  EXPECT_EQ(Error("a = " + std::string(100'000, '[')).rfind("s.toml:1: not valid TOML: ", 0), 0u);
}

TEST(Scenario, DamagedBytesNeverCrashAndErrorsStayOneLine) {
  std::mt19937_64 random(7);
  int refused = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text = kGood;
    text[random() % text.size()] = static_cast<char>(random());
    const std::string error = Error(text);
    refused += !error.empty();
    ASSERT_EQ(error.find('\n'), std::string::npos) << error;
    ASSERT_TRUE(error.empty() || error.rfind("s.toml:", 0) == 0) << error;
  }
  EXPECT_GT(refused, 1000);
}

TEST(Scenario, UnknownNameSaysWhichExist) {
  const Directory directory;
  Write(directory.path() / "b-race.toml", kGood);
  Write(directory.path() / "a-race.toml", kGood);
  Write(directory.path() / "reference/rows.toml", "");
  const std::string where = directory.path();
  EXPECT_EQ(LoadScenario("c-race", where).status().message(),
            "no scenario \"c-race\" in " + where + "; there are: a-race, b-race");
  const auto by_name = LoadScenario("b-race", where);
  ASSERT_TRUE(by_name.ok()) << by_name.status();
  EXPECT_EQ(by_name->name, "b-race");
  EXPECT_TRUE(LoadScenario(where + "/a-race.toml", "/nowhere").ok());
  EXPECT_EQ(LoadScenario("x/none.toml", where).status().message(),
            "x/none.toml is no file that can be read");
  EXPECT_FALSE(LoadScenario("a-race", where + "/none").ok());
}

TEST(Scenario, ABrokenFileDoesNotHideTheOthersInTheList) {
  const Directory directory;
  Write(directory.path() / "good.toml", kGood);
  Write(directory.path() / "bad.toml", "rounds = 0");
  const auto listed = ListScenarios(directory.path());
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[0].name, "bad");
  EXPECT_FALSE((*listed)[0].scenario.ok());
  ASSERT_TRUE((*listed)[1].scenario.ok());
  EXPECT_EQ((*listed)[1].scenario->title, "T");
}

TEST(Scenario, ShippedScenariosAndTheirReferencesLoad) {
  const auto listed = ListScenarios(std::string(IRQPROF_SOURCE_DIR) + "/scenarios");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_FALSE(listed->empty());
  for (const ListedScenario& each : *listed) {
    ASSERT_TRUE(each.scenario.ok()) << each.scenario.status();
    const auto reference = LoadReference(*each.scenario);
    EXPECT_TRUE(reference.ok()) << reference.status();
  }
}

TEST(Reference, TheRaceOf1999IsComplete) {
  const auto scenario = LoadScenario("rl-vs-de", std::string(IRQPROF_SOURCE_DIR) + "/scenarios");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const auto rows = LoadReference(*scenario);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 11u);
  double linux_stream = 0;
  for (const Reference& row : *rows) {
    EXPECT_NE(row.source.find("chat@FreeBSD.org"), std::string::npos);
    EXPECT_NE(row.arm, "fxp");
    if (row.system == "Linux") linux_stream += row.metrics.at("stream_mib_per_s");
  }
  EXPECT_NEAR(linux_stream, 8.44 + 6.50 + 7.81 + 9.21 + 9.14 + 9.64, 1e-9);
  EXPECT_EQ((*rows)[1].metrics, (Metrics{{"stream_mib_per_s", 2.21}}));
}

TEST(Reference, UnknownArmOrMetricIsRefusedWithItsLine) {
  const auto scenario = ParseScenario(kGood, "s.toml");
  ASSERT_TRUE(scenario.ok());
  const auto error = [&](const std::string& row) {
    return std::string(
        ParseReference("source = \"S\"\n[[row]]\n" + row, "r.toml", *scenario).status().message());
  };
  EXPECT_EQ(error("system = \"L\"\narm = \"rl\"\nmetrics = {competitor_real_s = 1}\n"), "");
  EXPECT_EQ(error("system = \"L\"\narm = \"fxp\"\nmetrics = {competitor_real_s = 1}\n"),
            "r.toml:4: unknown arm \"fxp\"; scenario s has: rl, de");
  EXPECT_EQ(error("system = \"L\"\narm = \"rl\"\nmetrics = {competitor_real_s = -1}\n"),
            "r.toml:5: \"competitor_real_s\" in metrics must be a number from 0 to 1e+09, not -1");
  EXPECT_EQ(error("system = \"L\"\narm = \"rl\"\nmetrics = {real = 1}\n")
                .rfind("r.toml:5: unknown key \"real\" in metrics; expected one of ", 0),
            0u);
  EXPECT_EQ(error("system = \"L\"\narm = \"rl\"\nmetrics = {}\n"),
            "r.toml:5: \"metrics\" in [[row]] must have at least one metric");
  EXPECT_EQ(error("arm = \"rl\"\n"), "r.toml:2: [[row]] must have \"system\"");
}

}  // namespace
}  // namespace irqprof
