// The main job as a user runs it: the program itself, in the lab.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "user/model/metrics.h"
#include "user/model/result_json.h"

namespace irqprof {
namespace {

namespace fs = std::filesystem;

// A scratch directory with the outputs of one run of the program.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "irqprof-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ / name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  pid_t Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), IRQPROF_PROGRAM);
    const pid_t child = fork();
    if (child != 0) return child;
    dup2(open(Path("out").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(Path("err").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  static int Wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int Run(const std::vector<std::string>& arguments) { return Wait(Start(arguments)); }

  // Runs it, expects that exit status, and returns what it said on stderr: one
  // sentence on one line.
  std::string Refusal(const std::vector<std::string>& arguments, int status) {
    EXPECT_EQ(Run(arguments), status);
    EXPECT_EQ(Read("out"), "");
    return Read("err");
  }

  fs::path directory_;
};

// The children of `parent` that are still alive, by name.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    if (!isdigit(entry.path().filename().string()[0])) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const size_t close = text.rfind(')');
    if (close == std::string::npos) continue;
    char state;
    int ppid;
    if (sscanf(text.c_str() + close + 1, " %c %d", &state, &ppid) == 2 && ppid == parent)
      children.push_back(std::stoi(entry.path().filename()));
  }
  return children;
}

// Waits until the program has a guest running; its QEMUs' pids.
std::vector<pid_t> WaitForGuests(pid_t program) {
  for (int i = 0; i < 3000; ++i) {
    std::vector<pid_t> children = ChildrenOf(program);
    if (!children.empty()) return children;
    usleep(10'000);
  }
  return {};
}

bool GoneWithin5s(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    if (kill(pid, 0) != 0) return true;
    usleep(10'000);
  }
  return false;
}

TEST_F(Program, RacesBothCardsAndProvesItsAttribution) {
  ASSERT_EQ(Run({"run", "rl-vs-de", "--lab", "--rounds", "1", "--arms", "rl,de,fxp", "--seed", "7",
                 "-o", Path("r.json")}),
            0)
      << Read("err");
  auto result = ParseResult(Read("r.json"), "r.json");
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->arms.size(), 3u);
  double most_hidden = 0;
  for (const Arm& arm : result->arms) {
    SCOPED_TRACE(arm.name);
    ASSERT_EQ(arm.runs.size(), 1u);
    Metrics metrics = arm.runs[0].metrics;
    for (const MetricInfo& metric : KnownMetrics()) {
      ASSERT_TRUE(metrics.count(std::string(metric.name))) << metric.name;
      EXPECT_TRUE(std::isfinite(metrics[std::string(metric.name)])) << metric.name;
    }
    // The work is fixed: what of the CPU was its own cannot depend on the card.
    const double own_s = metrics["competitor_own_s"] - metrics["competitor_unobserved_s"];
    EXPECT_NEAR(own_s / metrics["competitor_alone_s"], 1, 0.03);
    // And the kernel charged it for far more.
    EXPECT_GT(metrics["competitor_user_s"] + metrics["competitor_sys_s"],
              1.5 * metrics["competitor_alone_s"]);
    EXPECT_GT(metrics["stream_mib_per_s"], 1);
    EXPECT_GT(metrics["interrupts_per_s"], 100);
    EXPECT_GT(metrics["napi_share"], 0.01);
    EXPECT_LE(metrics["hidden_share"], metrics["interrupt_share"]);
    EXPECT_EQ(arm.probe_effect.count("competitor_real_s"), 1u);
    most_hidden = std::max(most_hidden, metrics["hidden_share"]);

    ASSERT_TRUE(arm.runs[0].profile.has_value());
    const Profile& profile = *arm.runs[0].profile;
    EXPECT_FALSE(profile.Tainted());
    EXPECT_EQ(profile.host.accounting, "tick");
    for (const CpuRow& cpu : profile.cpus) {
      EXPECT_EQ(cpu.self.Sum() + cpu.unattributed_ns, cpu.elapsed_ns);
      EXPECT_LT(std::abs(cpu.unattributed_ns) * 1000, cpu.elapsed_ns);
    }
    for (const TaskRow& task : profile.tasks)
      EXPECT_EQ(task.on_cpu_ns, task.own_ns + task.stolen.Sum()) << task.comm;
    EXPECT_FALSE(profile.findings.empty());
    EXPECT_EQ(arm.nic.driver.empty(), false);
  }
  EXPECT_GT(most_hidden, 0);
  const std::string text = Read("out");
  for (const char* part : {"8139cp", "tulip", "e100", "hidden", "FreeBSD", "Probe effect"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST_F(Program, SameSeedTwiceIsTheSameToTheNanosecond) {
  const std::vector<std::string> command = {"run", "rl-vs-de", "--arms", "rl", "--rounds",
                                            "1",   "--seed",   "1",      "-o"};
  auto metrics = [&](const std::string& name) -> Metrics {
    std::vector<std::string> arguments = command;
    arguments.push_back(Path(name));
    EXPECT_EQ(Run(arguments), 0) << Read("err");
    auto result = ParseResult(Read(name), name);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->arms.at(0).runs.at(0).metrics : Metrics{};
  };
  const Metrics first = metrics("a.json");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, metrics("b.json"));
}

TEST_F(Program, KilledOutrightItLeavesNoGuestBehind) {
  const pid_t program = Start({"run", "rl-vs-de", "--rounds", "1"});
  const std::vector<pid_t> guests = WaitForGuests(program);
  ASSERT_FALSE(guests.empty());
  kill(program, SIGKILL);
  EXPECT_EQ(Wait(program), 128 + SIGKILL);
  for (pid_t guest : guests) EXPECT_TRUE(GoneWithin5s(guest)) << guest;
}

TEST_F(Program, InterruptedItStopsItsGuestsAndSaysSo) {
  const pid_t program = Start({"run", "rl-vs-de", "--rounds", "1", "-o", Path("r.json")});
  const std::vector<pid_t> guests = WaitForGuests(program);
  ASSERT_FALSE(guests.empty());
  kill(program, SIGINT);
  EXPECT_EQ(Wait(program), 130);
  for (pid_t guest : guests) EXPECT_TRUE(GoneWithin5s(guest)) << guest;
  EXPECT_NE(Read("err").find("stopped"), std::string::npos);
  EXPECT_FALSE(fs::exists(Path("r.json")));
}

TEST_F(Program, RefusesWhatMakesNoSenseInOneSentence) {
  EXPECT_NE(Refusal({"run", "no-such"}, 2).find("rl-vs-de"), std::string::npos);
  EXPECT_NE(Refusal({"run", "rl-vs-de", "--arms", "xl"}, 2).find("rl"), std::string::npos);
  EXPECT_NE(Refusal({"run", "rl-vs-de", "--rounds", "0"}, 2).find("rounds"), std::string::npos);
  EXPECT_NE(Refusal({"run", "rl-vs-de", "--kernel", "/nonexistent"}, 3).find("/nonexistent"),
            std::string::npos);
  EXPECT_NE(Refusal({"run", "rl-vs-de", "-o", "/nonexistent/r.json"}, 2).find("/nonexistent"),
            std::string::npos);
  EXPECT_NE(Refusal({"report", Path("missing.json")}, 2).find("missing.json"), std::string::npos);
}

TEST_F(Program, ClosedStandardOutputIsToldAndTakesNothingElsesPlace) {
  Result result;
  result.command = "record";
  result.place = "live";
  result.profile.emplace();
  std::ofstream(Path("r.json")) << ResultToJson(result);
  const std::string command =
      std::string(IRQPROF_PROGRAM) + " report " + Path("r.json") + " >&- 2>" + Path("err");
  const int status = system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_NE(Read("err").find("standard output"), std::string::npos) << Read("err");
}

TEST_F(Program, SaysWhatIsMissingWhereThereIsNoQemu) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const std::string sentence = Refusal({"run", "rl-vs-de"}, 3);
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(sentence.find("qemu"), std::string::npos) << sentence;
}

TEST_F(Program, RefusesAKernelThatIsNone) {
  std::ofstream(Path("vmlinuz")) << "not a kernel";
  const std::string sentence = Refusal({"run", "rl-vs-de", "--kernel", Path("vmlinuz")}, 3);
  EXPECT_NE(sentence.find("vmlinuz"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace irqprof
