#include "user/workload/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "user/collect/clock.h"

namespace irqprof {
namespace {

// How often a waiting parent looks at its stop flag: rare enough not to show in
// a measurement on the same CPU.
constexpr int kStopPollMs = 250;

struct Pipe {
  Fd read;
  Fd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return absl::ErrnoToStatus(errno, "Cannot make a pipe to a workload process");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

void TakeDefaultSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2})
    sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGPIPE, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(const char* name, pid_t parent, int gate_fd, int report_fd,
                           Child::Body body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
  TakeDefaultSignals();
  prctl(PR_SET_NAME, name);
  char token;
  ssize_t got;
  do {
    got = read(gate_fd, &token, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(1);
  _exit(body(report_fd));
}

int64_t Ns(const timeval& time) {
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_usec * int64_t{1'000};
}

}  // namespace

std::string ChildEnd::Describe() const {
  if (exit_code >= 0) return absl::StrFormat("exited with status %d", exit_code);
  return absl::StrFormat("was killed by signal %d (%s)", signal, strsignal(signal));
}

absl::StatusOr<Child> Child::Fork(const std::string& name, int cpu, Body body) {
  absl::StatusOr<Pipe> gate = MakePipe();
  if (!gate.ok()) return gate.status();
  absl::StatusOr<Pipe> reports = MakePipe();
  if (!reports.ok()) return reports.status();

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, absl::StrFormat("Cannot fork the %s", name));
  if (pid == 0) {
    // or the gate would never see the parent's end closed
    gate->write.Close();
    reports->read.Close();
    RunChild(name.c_str(), parent, gate->read.get(), reports->write.get(), body);
  }
  Child child(name, pid, std::move(gate->write), std::move(reports->read));
  if (cpu >= 0)
    if (absl::Status pinned = child.Pin(cpu); !pinned.ok()) return pinned;
  return child;
}

Child::Child(std::string name, pid_t pid, Fd gate, Fd reports)
    : name_(std::move(name)), pid_(pid), gate_(std::move(gate)), reports_(std::move(reports)) {}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, 0)),
      gate_(std::move(other.gate_)),
      reports_(std::move(other.reports_)) {}

// What was held before is killed with `other`.
Child& Child::operator=(Child&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(pid_, other.pid_);
  std::swap(gate_, other.gate_);
  std::swap(reports_, other.reports_);
  return *this;
}

Child::~Child() {
  if (pid_ == 0) return;
  Kill();
  Reap();
}

absl::Status Child::Pin(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
  if (sched_setaffinity(pid_, sizeof(cpus), &cpus) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrFormat("Cannot pin the %s to CPU %d, which is offline, absent or not allowed "
                             "for this process; choose another CPU",
                             name_, cpu));
}

void Child::Go() {
  const char token = 1;
  // a child that died already is found out by Await
  while (write(gate_.get(), &token, 1) < 0 && errno == EINTR) {
  }
}

Child::Heard Child::AwaitBytes(void* record, size_t bytes, absl::Duration limit,
                               const std::atomic<bool>* stop) {
  const int64_t end_ns = limit == absl::InfiniteDuration()
                             ? INT64_MAX
                             : MonotonicNs() + absl::ToInt64Nanoseconds(limit);
  for (;;) {
    if (stop != nullptr && stop->load()) return Heard::kStopped;
    const int64_t left_ms = (end_ns - MonotonicNs()) / 1'000'000;
    if (left_ms < 0) return Heard::kTimedOut;
    pollfd reports = {.fd = reports_.get(), .events = POLLIN, .revents = 0};
    const int ready =
        poll(&reports, 1, static_cast<int>(std::min<int64_t>(left_ms + 1, kStopPollMs)));
    if (ready <= 0) continue;  // time passed or a signal came
    const ssize_t got = read(reports_.get(), record, bytes);
    if (got < 0 && errno == EINTR) continue;
    return got == static_cast<ssize_t>(bytes) ? Heard::kRecord : Heard::kEnded;
  }
}

void Child::Kill() {
  if (pid_ != 0) kill(pid_, SIGKILL);
}

void Child::WaitUntilDead() {
  siginfo_t info;
  while (waitid(P_PID, pid_, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

ChildEnd Child::Reap() {
  int status = 0;
  rusage usage = {};
  pid_t reaped;
  do {
    reaped = wait4(pid_, &status, 0, &usage);
  } while (reaped < 0 && errno == EINTR);
  pid_ = 0;
  ChildEnd end;
  if (reaped < 0) return end;  // a SIGCHLD handler of the caller's took it
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.user_ns = Ns(usage.ru_utime);
  end.sys_ns = Ns(usage.ru_stime);
  return end;
}

}  // namespace irqprof
