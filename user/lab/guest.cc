#include "user/lab/guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "user/lab/contract.h"
#include "user/lab/frame.h"

namespace irqprof {
namespace {

using lab::ErrnoStatus;
using lab::Fd;
using lab::ReadFile;

constexpr char kClockSource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// The first line of a small file of /sys; empty if it cannot be read.
std::string ReadWord(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

// Looks again every 10 ms of guest time; with the repeatable clock an idle wait
// takes no time on the host. False if it did not come true within the limit.
bool WaitUntil(const std::function<bool()>& is_so, int limit_s) {
  constexpr timespec kNap = {0, 10'000'000};
  for (int naps = limit_s * 100; !is_so(); --naps) {
    if (naps == 0) return false;
    nanosleep(&kNap, nullptr);
  }
  return true;
}

struct Mount {
  const char* type;
  const char* where;
  bool required;  // else: where the kernel has it
};

absl::Status MountAll(std::initializer_list<Mount> mounts) {
  for (const Mount& m : mounts) {
    mkdir(m.where, 0755);  // those of /sys are there already
    if (mount(m.type, m.where, m.type, 0, nullptr) != 0 && m.required) {
      return ErrnoStatus(absl::StrCat("mount ", m.type, " at ", m.where, " in the guest"));
    }
  }
  return absl::OkStatus();
}

absl::Status LoadModule(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.open() && (syscall(SYS_finit_module, fd.get(), "", 0) == 0 || errno == EEXIST)) {
    return absl::OkStatus();
  }
  const std::string hint =
      errno == ENOEXEC ? " (the modules directory belongs to another kernel)" : "";
  return ErrnoStatus(absl::StrCat("load the module ", path, " in the guest", hint));
}

// The kernel starts on "tsc-early" and moves to "tsc" about a second of guest
// time later: not in the middle of a measurement.
absl::Status WaitForTsc() {
  if (WaitUntil([] { return ReadWord(kClockSource) == "tsc"; }, /*limit_s=*/10)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the guest's clock is ", ReadWord(kClockSource),
                   ", not the TSC, and too slow to read for measuring; use another kernel"));
}

void SetEnvironment() {
  setenv("PATH", "/usr/bin:/bin:/usr/sbin:/sbin", 1);
  setenv("HOME", "/tmp", 1);
  constexpr rlimit kUnlimited = {RLIM_INFINITY, RLIM_INFINITY};
  constexpr rlimit kManyFiles = {65536, 65536};
  constexpr rlimit kNone = {0, 0};
  setrlimit(RLIMIT_MEMLOCK, &kUnlimited);  // BPF maps of kernels before 5.11
  setrlimit(RLIMIT_NOFILE, &kManyFiles);
  setrlimit(RLIMIT_CORE, &kNone);
}

// One ioctl of a network interface; all of them are by name on any socket.
absl::Status Configure(unsigned long request, ifreq& interface, const char* what) {
  const Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (any.open() && ioctl(any.get(), request, &interface) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat(what, " of ", interface.ifr_name, " in the guest"));
}

ifreq Interface(const std::string& name) {
  ifreq interface = {};
  name.copy(interface.ifr_name, IFNAMSIZ - 1);
  return interface;
}

absl::Status SwitchOnLink(const std::string& name) {
  ifreq interface = Interface(name);
  absl::Status got = Configure(SIOCGIFFLAGS, interface, "read the flags");
  if (!got.ok()) return got;
  interface.ifr_flags |= IFF_UP;
  return Configure(SIOCSIFFLAGS, interface, "switch on the link");
}

absl::Status SetAddress(const std::string& name, unsigned long request, const char* address) {
  ifreq interface = Interface(name);
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  inet_pton(AF_INET, address, &ipv4.sin_addr);
  memcpy(&interface.ifr_addr, &ipv4, sizeof(ipv4));
  return Configure(request, interface, "set the address");
}

// A virtio NIC's device appears a little after its driver is loaded.
absl::StatusOr<std::string> FindNic() {
  std::string name;
  const auto is_there = [&name] {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net", ignored)) {
      if (ReadWord(entry.path() / "address") == lab::kNicMac) name = entry.path().filename();
    }
    return !name.empty();
  };
  if (WaitUntil(is_there, /*limit_s=*/5)) return name;
  return absl::NotFoundError("the guest's kernel found no NIC: it has no driver for it; name its modules with --modules");
}

[[noreturn]] void SwitchOff() {
  reboot(RB_POWER_OFF);
  // Without ACPI it stays on; the host ends it, it has the last frame.
  while (true) pause();
}

Fd OpenChannel() {
  Fd channel(open(lab::kChannelDevice, O_WRONLY | O_NOCTTY | O_CLOEXEC));
  termios settings;
  if (channel.open() && tcgetattr(channel.get(), &settings) == 0) {
    cfmakeraw(&settings);  // no "\n" to "\r\n" in the middle of a frame
    settings.c_cflag |= CLOCAL;
    tcsetattr(channel.get(), TCSANOW, &settings);
  }
  return channel;
}

// If it fails the host sees a frame that is cut, and says so.
void Send(const Fd& channel, lab::FrameKind kind, const std::string& payload) {
  const std::string frame = lab::EncodeFrame(kind, payload);
  for (size_t sent = 0; sent < frame.size();) {
    const ssize_t put = write(channel.get(), frame.data() + sent, frame.size() - sent);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      perror("irqprof: cannot write to the result channel");
      break;
    }
    sent += put;
  }
  tcdrain(channel.get());
}

}  // namespace

absl::StatusOr<Guest> Guest::Enter() {
  absl::StatusOr<std::string> job = ReadFile(lab::kJobPath);
  if (getpid() != 1 || !job.ok()) {
    return absl::FailedPreconditionError(
        "this command is for the program inside the lab's virtual machine; "
        "use \"irqprof run SCENARIO --lab\"");
  }
  const absl::Status mounted = MountAll({{"devtmpfs", "/dev", true}});
  Guest guest(*std::move(job), OpenChannel());
  if (!guest.channel_.open()) {
    perror("irqprof: the guest has no result channel");  // on the console, which the host shows
    SwitchOff();
  }
  const absl::Status ready = mounted.ok() ? guest.SetUp() : mounted;
  if (!ready.ok()) guest.Fail(ready);
  return guest;
}

absl::Status Guest::SetUp() const {
  absl::Status done = MountAll({{"proc", "/proc", true},
                                {"sysfs", "/sys", true},
                                {"tmpfs", "/tmp", true},
                                {"tracefs", "/sys/kernel/tracing", false},
                                {"cgroup2", "/sys/fs/cgroup", false},
                                {"bpf", "/sys/fs/bpf", false}});
  if (!done.ok()) return done;
  SetEnvironment();
  absl::StatusOr<std::string> modules = ReadFile(lab::kModuleListPath);
  if (!modules.ok()) return modules.status();
  for (const auto path : absl::StrSplit(*modules, '\n', absl::SkipEmpty())) {
    if (done = LoadModule(std::string(path)); !done.ok()) return done;
  }
  if (done = SwitchOnLink("lo"); !done.ok()) return done;
  return WaitForTsc();
}

absl::StatusOr<std::string> Guest::BringUpNic() const {
  absl::StatusOr<std::string> name = FindNic();
  if (!name.ok()) return name;
  absl::Status done = SetAddress(*name, SIOCSIFADDR, lab::kNicAddress);
  if (done.ok()) done = SetAddress(*name, SIOCSIFNETMASK, lab::kNicNetmask);
  if (done.ok()) done = SwitchOnLink(*name);
  if (!done.ok()) return done;
  const std::string carrier = absl::StrCat("/sys/class/net/", *name, "/carrier");
  if (WaitUntil([&carrier] { return ReadWord(carrier) == "1"; }, /*limit_s=*/15)) return name;
  return absl::UnavailableError(absl::StrCat("the guest's NIC ", *name, " has no carrier"));
}

void Guest::Progress(const std::string& text) const {
  Send(channel_, lab::FrameKind::kProgress, text);
}

void Guest::Finish(const std::string& output) const {
  Send(channel_, lab::FrameKind::kResult, output);
  SwitchOff();
}

void Guest::Fail(const absl::Status& status) const {
  Send(channel_, lab::FrameKind::kFailure, lab::EncodeStatus(status));
  SwitchOff();
}

}  // namespace irqprof
