#include "user/app/record.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "user/app/exit_status.h"
#include "user/app/output.h"
#include "user/app/version.h"
#include "user/collect/collector.h"
#include "user/model/ledger.h"
#include "user/reconcile/reconcile.h"
#include "user/workload/fd.h"

namespace irqprof {
namespace {

// Starts the command; an error if it could not be executed at all.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  Fd reader(ends[0]), writer(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot fork");
  if (pid == 0) {
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
    execvp(arguments[0], arguments.data());
    int error = errno;  // the pipe closes by itself where exec succeeds
    _exit(write(writer.get(), &error, sizeof(error)) == sizeof(error) ? 127 : 126);
  }
  writer.Close();
  int error = 0;
  if (read(reader.get(), &error, sizeof(error)) == sizeof(error)) {
    waitpid(pid, nullptr, 0);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot run ", command[0]));
  }
  return pid;
}

bool HasEnded(pid_t pid) { return pid > 0 && waitpid(pid, nullptr, WNOHANG) == pid; }

// Until the time is over, the command ends or somebody asks to stop.
void WaitForEnd(const RecordOptions& options, pid_t command) {
  const absl::Time deadline =
      options.seconds ? absl::Now() + absl::Seconds(*options.seconds) : absl::InfiniteFuture();
  while (!StopRequested() && absl::Now() < deadline && !HasEnded(command))
    absl::SleepFor(std::min(absl::Milliseconds(50), deadline - absl::Now()));
}

}  // namespace

int RecordCommand(const RecordOptions& options) {
  if (options.seconds && !(*options.seconds > 0 && *options.seconds <= 1e7)) {
    PrintError(absl::InvalidArgumentError("-d takes a number of seconds above 0"));
    return kExitUsage;
  }
  if (absl::Status writable = CheckWritable(options.output); !writable.ok()) {
    PrintError(writable);
    return kExitUsage;
  }
  auto refuse = [](const absl::Status& status, int exit_status) {
    PrintError(status);
    return exit_status;
  };
  CatchSignals();
  HostFacts host = ReadHostFacts();
  auto collector = Collector::Start();
  if (!collector.ok()) return refuse(collector.status(), kExitCannotMeasure);
  if (!host.cpus_online.empty()) host.accounting = MeasureAccountingMode(host.cpus_online.back());
  host.absent_hooks = (*collector)->ledger().absent_hooks();

  auto begin = (*collector)->Take();
  if (!begin.ok()) return refuse(begin.status(), kExitCannotMeasure);
  pid_t command = 0;
  if (!options.command.empty()) {
    auto spawned = Spawn(options.command);
    if (!spawned.ok()) return refuse(spawned.status(), kExitUsage);
    command = *spawned;
  } else if (!options.seconds) {
    PrintProgress("recording; Ctrl-C ends it");
  }
  WaitForEnd(options, command);
  auto end = (*collector)->Take();
  if (!end.ok()) return refuse(end.status(), kExitCannotMeasure);

  Result result;
  result.command = "record";
  result.version = kVersion;
  result.place = "live";
  result.profile = BuildProfile(*begin, *end, host, UserTickNs());
  result.profile->findings = Reconcile(*result.profile, *begin, *end);
  return PrintResult(result, options.format, options.output);
}

}  // namespace irqprof
