// Boots real guests. This test is its own program in the guest: what it does
// there is told by its job. It needs QEMU and the kernel of scripts/setup.
#include "user/lab/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "user/lab/contract.h"
#include "user/lab/file.h"
#include "user/lab/frame.h"
#include "user/lab/guest.h"
#include "user/lab/modules.h"

namespace irqprof {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// ---- In the guest ----

// Every byte value, and too much for any buffer on the way to hold.
std::string LargeOutput() {
  std::string output;
  for (int i = 0; i < 300'000; ++i) output.push_back(static_cast<char>(i * 7 + i / 256));
  return output;
}

std::string Interrupts() {
  absl::StatusOr<std::string> text = lab::ReadFile("/proc/interrupts");
  return text.ok() ? *text : std::string(text.status().message());
}

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Sends over the wire from a child, beside it a loop of pure user work; tells
// how long that took and what interrupts there were.
std::string Race() {
  constexpr int kBlocks = 1000;
  const int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in sink = {};
  sink.sin_family = AF_INET;
  sink.sin_port = htons(lab::kSinkPort);
  inet_pton(AF_INET, lab::kSinkAddress, &sink.sin_addr);
  if (connect(stream, reinterpret_cast<sockaddr*>(&sink), sizeof(sink)) != 0) {
    return "the sink cannot be reached";
  }
  const pid_t sender = fork();
  if (sender == 0) {
    const std::string block(8192, 'x');
    for (int i = 0; i < kBlocks; ++i) {
      if (write(stream, block.data(), block.size()) < 0) _exit(1);
    }
    _exit(0);
  }
  const int64_t start_ns = NowNs();
  volatile uint64_t x = 1;
  for (int i = 0; i < 5'000'000; ++i) x = x * 6364136223846793005 + 1;
  const int64_t end_ns = NowNs();
  int status = 0;
  waitpid(sender, &status, 0);
  return absl::StrCat("sender ended with ", status, "\n", end_ns - start_ns, " ns\n", Interrupts());
}

void FillMemory() {
  while (true) {
    char* page = static_cast<char*>(malloc(1 << 20));
    if (page == nullptr) _exit(1);
    for (int i = 0; i < 1 << 20; i += 4096) page[i] = 1;
  }
}

void SendHalfAFrame() {
  const std::string frame = lab::EncodeFrame(lab::FrameKind::kResult, "never whole");
  std::ofstream(lab::kChannelDevice) << frame.substr(0, frame.size() - 4) << std::flush;
  reboot(RB_POWER_OFF);
}

int RunAsGuest() {
  absl::StatusOr<Guest> guest = Guest::Enter();
  if (!guest.ok()) {
    fprintf(stderr, "%s\n", std::string(guest.status().message()).c_str());
    return 2;
  }
  const std::string& job = guest->job();
  guest->Progress("doing " + job);
  if (job == "large") guest->Finish(LargeOutput());
  if (job == "fail") guest->Fail(absl::NotFoundError("the guest's own words"));
  if (job == "exit") _exit(7);
  if (job == "crash") __builtin_trap();
  if (job == "panic") std::ofstream("/proc/sysrq-trigger") << "c" << std::flush;
  if (job == "memory") FillMemory();
  if (job == "half") SendHalfAFrame();
  if (job == "off") reboot(RB_POWER_OFF);
  if (job == "silence") pause();
  if (job == "facts") {
    guest->Finish(absl::StrCat(time(nullptr), "\n",
                               *lab::ReadFile("/sys/devices/system/clocksource/clocksource0/"
                                              "current_clocksource"),
                               *lab::ReadFile("/proc/cmdline")));
  }
  const absl::StatusOr<std::string> nic = guest->BringUpNic();
  if (!nic.ok()) guest->Fail(nic.status());
  if (job == "nic") {
    const std::string driver = absl::StrCat("/sys/class/net/", *nic, "/device/driver");
    guest->Finish(std::filesystem::read_symlink(driver).filename());
  }
  guest->Finish(Race());
}

// ---- On the host ----

using Outcome = absl::StatusOr<std::string>;

const Lab& TheLab() {
  static const Lab& lab = *[] {
    const absl::StatusOr<LabKernel> kernel = FindLabKernel();
    absl::StatusOr<Lab> prepared =
        kernel.ok() ? Lab::Prepare(*kernel, "/proc/self/exe", lab::KnownNicModels())
                    : kernel.status();
    if (!prepared.ok()) {
      fprintf(stderr, "%s\n", std::string(prepared.status().message()).c_str());
      _exit(1);  // no lab: every test here has failed
    }
    return new Lab(*std::move(prepared));
  }();
  return lab;
}

std::vector<Outcome> OutcomesOf(const std::vector<GuestSpec>& specs, const Lab& lab = TheLab()) {
  std::vector<Outcome> outcomes(specs.size(), absl::UnknownError("on_done was never called"));
  const absl::Status status =
      lab.RunGuests(specs, 2, {.on_progress = nullptr, .on_done = [&](int index, Outcome outcome) {
                                 outcomes[index] = std::move(outcome);
                               }});
  EXPECT_TRUE(status.ok()) << status;
  return outcomes;
}

std::string Message(const Outcome& outcome) {
  return outcome.ok() ? "no error" : std::string(outcome.status().message());
}

bool HasNoChild() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

TEST(Lab, ALargeOutputComesBackByteForByte) {
  std::vector<std::string> progress;
  Outcome outcome;
  const std::vector<GuestSpec> specs = {{.job = "large"}};
  ASSERT_TRUE(
      TheLab()
          .RunGuests(specs, 1,
                     {.on_progress = [&](int, const std::string& t) { progress.push_back(t); },
                      .on_done = [&](int, Outcome done) { outcome = std::move(done); }})
          .ok());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(*outcome == LargeOutput()) << outcome->size() << " bytes";
  EXPECT_EQ(progress, std::vector<std::string>{"doing large"});
  EXPECT_TRUE(HasNoChild());
}

TEST(Lab, EveryNicComesUpWithItsDriver) {
  std::vector<GuestSpec> specs;
  for (const std::string& nic : lab::KnownNicModels()) {
    specs.push_back({.nic_model = nic, .job = "nic"});
  }
  const std::vector<Outcome> outcomes = OutcomesOf(specs);
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string& nic = specs[i].nic_model;
    ASSERT_TRUE(outcomes[i].ok()) << nic << ": " << outcomes[i].status();
    const std::string expected = nic == "virtio-net-pci" ? "virtio_net" : lab::DriverOfNic(nic);
    EXPECT_EQ(*outcomes[i], expected) << nic;
  }
}

TEST(Lab, TwoBootsOfOneSpecAreEqualToTheNanosecond) {
  for (const char* nic : {"rtl8139", "virtio-net-pci"}) {
    const GuestSpec spec = {.nic_model = nic, .job = "race"};
    const std::vector<Outcome> outcomes = OutcomesOf({spec, spec});
    ASSERT_TRUE(outcomes[0].ok()) << outcomes[0].status();
    ASSERT_TRUE(outcomes[1].ok()) << outcomes[1].status();
    EXPECT_THAT(*outcomes[0], StartsWith("sender ended with 0\n"));
    EXPECT_EQ(*outcomes[0], *outcomes[1]) << nic;
  }
}

TEST(Lab, SeedsMoveTheGuestsDateAndItsClockIsTheTsc) {
  const std::vector<Outcome> outcomes =
      OutcomesOf({{.seed = 2, .kernel_parameters = {"threadirqs"}, .job = "facts"},
                  {.repeatable = false, .cpus = 2, .job = "facts"}});
  ASSERT_TRUE(outcomes[0].ok()) << outcomes[0].status();
  ASSERT_TRUE(outcomes[1].ok()) << outcomes[1].status();
  constexpr int64_t kStartOf2024 = 1704067200;
  const int64_t date_s = std::stoll(*outcomes[0]);
  EXPECT_GE(date_s, kStartOf2024 + 22);
  EXPECT_LT(date_s, kStartOf2024 + 33);  // a boot is 1.5 to 3 s of guest time
  EXPECT_THAT(*outcomes[0], HasSubstr("\ntsc\n"));
  EXPECT_THAT(*outcomes[0], HasSubstr(" threadirqs "));
  EXPECT_THAT(*outcomes[1], HasSubstr("\ntsc\n"));
}

// All failures in one go; each is its own test below.
const Outcome& OutcomeOf(const std::string& job) {
  static const auto& outcomes = *[] {
    auto* by_job = new std::map<std::string, Outcome>;
    const std::vector<std::string> jobs = {"fail",   "exit", "crash", "panic",
                                           "memory", "half", "off"};
    std::vector<GuestSpec> specs;
    for (const std::string& name : jobs) specs.push_back({.memory_mib = 256, .job = name});
    specs.push_back({.job = "silence", .silence_limit = absl::Seconds(15)});
    specs.push_back({.job = "silence", .time_limit = absl::Seconds(1)});
    specs.push_back({.cpus = 0});
    // QEMU refuses this amount before it starts anything.
    specs.push_back({.memory_mib = 1 << 30});
    specs.push_back({.nic_model = "rtl8139", .job = "nic"});
    const std::vector<Outcome> all = OutcomesOf(specs);
    for (size_t i = 0; i < jobs.size(); ++i) (*by_job)[jobs[i]] = all[i];
    (*by_job)["silence"] = all[jobs.size()];
    (*by_job)["too long"] = all[jobs.size() + 1];
    (*by_job)["no CPU"] = all[jobs.size() + 2];
    (*by_job)["no QEMU"] = all[jobs.size() + 3];
    (*by_job)["after all these"] = all[jobs.size() + 4];
    return by_job;
  }();
  return outcomes.at(job);
}

TEST(LabFailure, TheProgramsOwnErrorArrives) {
  EXPECT_EQ(OutcomeOf("fail").status(), absl::NotFoundError("the guest's own words"));
}

TEST(LabFailure, AProgramThatExitsIsTold) {
  EXPECT_THAT(Message(OutcomeOf("exit")),
              StartsWith("the program in the guest ended with status 7"));
}

TEST(LabFailure, AProgramThatCrashesIsToldWithItsSignal) {
  EXPECT_THAT(Message(OutcomeOf("crash")),
              StartsWith("the program in the guest was killed by sig"));
}

TEST(LabFailure, AKernelPanicIsToldWithTheConsole) {
  EXPECT_THAT(Message(OutcomeOf("panic")), StartsWith("the guest's kernel panicked: "));
  EXPECT_THAT(Message(OutcomeOf("panic")), HasSubstr("sysrq"));
}

TEST(LabFailure, OutOfMemorySaysToRaiseIt) {
  EXPECT_THAT(Message(OutcomeOf("memory")), HasSubstr("memory_mib"));
}

TEST(LabFailure, AResultThatIsCutOffIsNotUsed) {
  EXPECT_TRUE(absl::IsDataLoss(OutcomeOf("half").status())) << OutcomeOf("half").status();
}

TEST(LabFailure, AGuestThatSwitchesOffWithoutAResultIsTold) {
  EXPECT_THAT(Message(OutcomeOf("off")), StartsWith("the guest switched itself off without"));
}

TEST(LabFailure, ASilentGuestIsStopped) {
  EXPECT_THAT(Message(OutcomeOf("silence")), StartsWith("the guest was silent for 15s"));
}

TEST(LabFailure, AGuestThatTakesTooLongIsStopped) {
  EXPECT_THAT(Message(OutcomeOf("too long")), StartsWith("the guest was not done after 1s"));
}

TEST(LabFailure, ASpecThatCannotBootIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(OutcomeOf("no CPU").status()));
}

TEST(LabFailure, QemusRefusalIsQuoted) {
  EXPECT_THAT(Message(OutcomeOf("no QEMU")), StartsWith("QEMU ended with status 1"));
  EXPECT_THAT(Message(OutcomeOf("no QEMU")), HasSubstr("qemu-system-x86_64: "));
}

TEST(LabFailure, TheOthersGoOn) {
  const Outcome& outcome = OutcomeOf("after all these");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(*outcome, "8139cp");
}

TEST(Lab, StopEndsAllGuestsAndLeavesNoProcess) {
  std::atomic<bool> stop = false;
  int done = 0;
  const std::vector<GuestSpec> specs(4, {.job = "silence"});
  const absl::Status status = TheLab().RunGuests(specs, 2,
                                                 {.on_progress = [&](int, auto&) { stop = true; },
                                                  .on_done = [&](int, Outcome) { ++done; },
                                                  .stop = &stop});
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(done, 0);
  EXPECT_TRUE(HasNoChild());
}

// The only child of a process that runs one guest is its QEMU.
pid_t ChildOf(pid_t parent) {
  const absl::StatusOr<std::string> children =
      lab::ReadFile(absl::StrCat("/proc/", parent, "/task/", parent, "/children"));
  return children.ok() && !children->empty() ? std::stoi(*children) : -1;
}

TEST(Lab, QemuDiesWithAParentThatIsKilled) {
  absl::StatusOr<lab::Pipe> booted = lab::MakePipe();
  ASSERT_TRUE(booted.ok());
  TheLab();
  const pid_t parent = fork();
  if (parent == 0) {
    const std::vector<GuestSpec> specs = {{.job = "silence"}};
    (void)TheLab().RunGuests(specs, 1, {.on_progress = [&](int, auto&) {
                               if (write(booted->write.get(), "x", 1) < 0) _exit(1);
                             }});
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(booted->read.get(), &byte, 1), 1);
  const pid_t qemu = ChildOf(parent);
  ASSERT_GT(qemu, 0);
  const lab::Fd watch(static_cast<int>(syscall(SYS_pidfd_open, qemu, 0)));
  ASSERT_TRUE(watch.open());
  kill(parent, SIGKILL);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  pollfd end = {watch.get(), POLLIN, 0};
  constexpr int kGivenUpAfterMs = 30'000;
  EXPECT_EQ(poll(&end, 1, kGivenUpAfterMs), 1) << "QEMU outlived the program";
}

TEST(Lab, AKernelThatCannotBeUnpackedHereUnpacksItself) {
  char name[] = "/tmp/irqprof-test-XXXXXX";
  const std::filesystem::path only_qemu = mkdtemp(name);
  std::filesystem::create_symlink(lab::FindProgram("qemu-system-x86_64"),
                                  only_qemu / "qemu-system-x86_64");
  const std::string path = getenv("PATH");
  setenv("PATH", only_qemu.c_str(), 1);
  const absl::StatusOr<Lab> lab = Lab::Prepare(*FindLabKernel(), "/proc/self/exe", {});
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(lab.ok()) << lab.status();
  const std::vector<Outcome> outcomes = OutcomesOf({{.job = "facts"}}, *lab);
  std::filesystem::remove_all(only_qemu);
  ASSERT_TRUE(outcomes[0].ok()) << outcomes[0].status();
}

TEST(Lab, WithoutQemuItSaysWhatToInstall) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const absl::StatusOr<Lab> lab = Lab::Prepare(*FindLabKernel(), "/proc/self/exe", {});
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(lab.ok());
  EXPECT_THAT(lab.status().ToString(), HasSubstr("qemu-system-x86_64"));
}

TEST(Lab, TheGuestsCommandIsRefusedOnAHost) {
  const absl::StatusOr<Guest> guest = Guest::Enter();
  ASSERT_FALSE(guest.ok());
  EXPECT_THAT(guest.status().ToString(), HasSubstr("irqprof run"));
}

}  // namespace
}  // namespace irqprof

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == irqprof::lab::kGuestArgument) {
    return irqprof::RunAsGuest();
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
