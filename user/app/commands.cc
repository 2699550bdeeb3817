#include "user/app/commands.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "user/app/exit_status.h"
#include "user/app/output.h"
#include "user/app/version.h"
#include "user/model/result_json.h"
#include "user/scenario/lab_run.h"
#include "user/scenario/plan.h"
#include "user/scenario/scenario.h"

namespace irqprof {
namespace {

namespace fs = std::filesystem;

// Beside the build tree, or where an installation puts shared data.
std::string ScenarioDirectory() {
  if (const char* named = getenv("IRQPROF_SCENARIOS")) return named;
  std::error_code ignored;
  fs::path bin = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  fs::path installed = bin.parent_path() / "share" / "irqprof" / "scenarios";
  return fs::exists(installed, ignored) ? installed : bin.parent_path() / "scenarios";
}

// Far more than thousands of rounds take; a mistaken file ends here.
constexpr uintmax_t kMostResultBytes = 256 << 20;

int Usage(const absl::Status& status) {
  PrintError(status);
  return kExitUsage;
}

int CannotMeasure(const absl::Status& status) {
  PrintError(status);
  return absl::IsCancelled(status) ? kExitInterrupted : kExitCannotMeasure;
}

absl::Status CheckLive(const Scenario& scenario) {
  if (geteuid() != 0)
    return absl::PermissionDeniedError(
        "--live attaches BPF programs to this host: run it as root, or drop --live to use the lab");
  return absl::FailedPreconditionError(
      absl::StrCat("every arm of ", scenario.name,
                   " needs a NIC model that only the lab has: run it without --live"));
}

absl::StatusOr<LabKernel> KernelOf(const RunOptions& options) {
  if (options.kernel.empty() && options.modules.empty()) return FindLabKernel();
  if (options.kernel.empty())
    return absl::InvalidArgumentError("--modules goes with --kernel: name the kernel image too");
  return LabKernel{options.kernel, options.modules};
}

}  // namespace

int RunCommand(const RunOptions& options) {
  auto scenario = LoadScenario(options.scenario, ScenarioDirectory());
  if (!scenario.ok()) return Usage(scenario.status());
  LabRunOptions run;
  run.arms = options.arms;
  run.rounds = options.rounds.value_or(scenario->rounds);
  run.order_seed = options.order_seed ? *options.order_seed : std::random_device{}();
  run.host_clock = options.clock == "host";
  if (auto plan = PlanRun(*scenario, run.arms, run.rounds, run.order_seed); !plan.ok())
    return Usage(plan.status());
  if (absl::Status writable = CheckWritable(options.output); !writable.ok()) return Usage(writable);
  if (options.live) return CannotMeasure(CheckLive(*scenario));

  auto kernel = KernelOf(options);
  if (!kernel.ok())
    return absl::IsInvalidArgument(kernel.status()) ? Usage(kernel.status())
                                                    : CannotMeasure(kernel.status());
  run.kernel = *kernel;
  CatchSignals();
  auto result = RunInLab(*scenario, run, PrintProgress, &StopRequested());
  if (!result.ok()) return CannotMeasure(result.status());
  result->version = kVersion;
  return PrintResult(*result, options.format, options.output);
}

int ListCommand() {
  auto scenarios = ListScenarios(ScenarioDirectory());
  if (!scenarios.ok()) return Usage(scenarios.status());
  int status = kExitFine;
  for (const ListedScenario& listed : *scenarios) {
    if (listed.scenario.ok()) {
      printf("%-18s %s\n", listed.name.c_str(), listed.scenario->title.c_str());
    } else {
      PrintError(listed.scenario.status());
      status = kExitUsage;
    }
  }
  if (fflush(stdout) != 0)
    return CannotMeasure(absl::ErrnoToStatus(errno, "cannot write to standard output"));
  return status;
}

int ReportCommand(const std::string& file, const std::string& format) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  std::error_code error;
  const uintmax_t size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  if (size == 0 || size > kMostResultBytes || !(text << stream.rdbuf()))
    return Usage(absl::NotFoundError(
        absl::StrCat("cannot read ", file, ": name a result that run or record wrote with -o")));
  auto result = ParseResult(text.str(), file);
  if (!result.ok()) return Usage(result.status());
  return PrintResult(*result, format, "");
}

}  // namespace irqprof
