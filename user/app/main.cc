// irqprof: the command line.
#include <CLI/CLI.hpp>
#include <cstring>

#include "user/app/commands.h"
#include "user/app/exit_status.h"
#include "user/app/output.h"
#include "user/app/record.h"
#include "user/app/version.h"
#include "user/scenario/lab_run.h"

namespace irqprof {
namespace {

constexpr char kExitStatuses[] =
    "Exit status: 0 fine; 1 a check failed; 2 usage; 3 cannot measure here;\n"
    "4 measured, but tainted by losses; 130 interrupted.";

void AddFormat(CLI::App* command, std::string& format) {
  command->add_option("--format", format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void AddRun(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "run a scenario and show where the time went");
  run->add_option("scenario", options.scenario, "a name from `irqprof list`, or a .toml file")
      ->required();
  // the lab is where scenarios run unless told otherwise
  auto* lab =
      run->add_flag("--lab", options.lab, "in a virtual machine (the default; needs no root)");
  run->add_flag("--live", options.live, "on this host (needs root)")->excludes(lab);
  run->add_option("--arms", options.arms, "only these arms, as A,B")->delimiter(',');
  run->add_option("--rounds", options.rounds, "how often each arm runs")
      ->check(CLI::Range(1, 1000));
  run->add_option("--seed", options.order_seed, "of the order of arms; a random one otherwise");
  run->add_option("--clock", options.clock,
                  "the lab's clock: instructions (repeatable) or host (real time)")
      ->check(CLI::IsMember({"instructions", "host"}))
      ->capture_default_str();
  run->add_option("--kernel", options.kernel, "a kernel image for the lab (bzImage or vmlinux)");
  run->add_option("--modules", options.modules, "that kernel's lib/modules/VERSION directory");
  run->add_option("-o,--output", options.output, "write the result here, as JSON");
  AddFormat(run, options.format);
}

void AddRecord(CLI::App& app, RecordOptions& options) {
  CLI::App* record = app.add_subcommand("record", "profile this host (needs root)");
  record->add_option("-d,--duration", options.seconds, "for so many seconds");
  record->add_option("command", options.command, "after --: while this command runs");
  record->add_option("-o,--output", options.output, "write the result here, as JSON");
  AddFormat(record, options.format);
}

int Main(int argc, char** argv) {
  // pid 1 of a lab guest is this same program
  if (argc > 1 && std::strcmp(argv[1], "guest") == 0) RunAsGuest();

  OpenStandardStreams();
  CLI::App app{"irqprof: where interrupt time goes, and whom the kernel charges for it"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer(kExitStatuses);
  RunOptions run;
  AddRun(app, run);
  RecordOptions record;
  AddRecord(app, record);
  app.add_subcommand("list", "the scenarios, one line each");
  CLI::App* report = app.add_subcommand("report", "show a saved result again");
  std::string file, format = "text";
  report->add_option("file", file, "a result written with -o")->required();
  AddFormat(report, format);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fprintf(stderr, "irqprof: %s; see irqprof --help\n", error.what());
    return kExitUsage;
  }
  if (app.got_subcommand("run")) return RunCommand(run);
  if (app.got_subcommand("record")) return RecordCommand(record);
  if (app.got_subcommand("list")) return ListCommand();
  return ReportCommand(file, format);
}

}  // namespace
}  // namespace irqprof

int main(int argc, char** argv) { return irqprof::Main(argc, argv); }
