#include "user/scenario/lab_run.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "user/lab/contract.h"
#include "user/lab/guest.h"
#include "user/lab/lab.h"
#include "user/model/statistics.h"
#include "user/scenario/arm.h"
#include "user/scenario/plan.h"

namespace irqprof {
namespace {

int UsableCpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

// One boot: a planned run, with or without probes.
struct Boot {
  size_t arm;
  int round;
  bool probes;
};

std::vector<Boot> BootsOf(const std::vector<PlannedRun>& plan) {
  std::vector<Boot> boots;
  for (const PlannedRun& run : plan) {
    boots.push_back({run.arm, run.round, true});
    if (run.round == 0) boots.push_back({run.arm, run.round, false});
  }
  return boots;
}

std::string NameOf(const Scenario& scenario, const Boot& boot) {
  return absl::StrCat(scenario.arms[boot.arm].name, " round ", boot.round + 1,
                      boot.probes ? "" : " without probes");
}

GuestSpec SpecOf(const Scenario& scenario, const LabRunOptions& options, const Boot& boot) {
  const ScenarioArm& arm = scenario.arms[boot.arm];
  ArmJob job;
  job.arm = arm.name;
  job.nic_model = arm.nic;
  job.round = boot.round;
  job.probes = boot.probes;
  job.iterations = scenario.competitor.lab_iterations;
  job.direction = scenario.stream.direction;
  job.block_bytes = scenario.stream.block_bytes;
  job.sink_address = lab::kSinkAddress;
  job.sink_port = lab::kSinkPort;

  GuestSpec spec;
  spec.nic_model = arm.nic;
  spec.repeatable = !options.host_clock;
  spec.seed = boot.round;
  spec.cpus = scenario.lab.cpus;
  spec.wire_interval_us = scenario.lab.wire_interval_us;
  if (auto extra = arm.settings.find("kernel_parameters"); extra != arm.settings.end())
    spec.kernel_parameters = absl::StrSplit(extra->second, ' ', absl::SkipEmpty());
  spec.job = ArmJobToJson(job);
  return spec;
}

void AddProbeEffect(const Run& bare, Arm& arm) {
  auto probed = std::find_if(arm.runs.begin(), arm.runs.end(),
                             [&](const Run& run) { return run.round == bare.round; });
  if (probed == arm.runs.end()) return;
  for (const char* name : {"competitor_real_s", "stream_mib_per_s"}) {
    auto with = probed->metrics.find(name);
    auto without = bare.metrics.find(name);
    if (with != probed->metrics.end() && without != bare.metrics.end() && without->second > 0)
      arm.probe_effect[name] = with->second / without->second;
  }
}

class Collected {
 public:
  Collected(const Scenario& scenario, const std::vector<Boot>& boots) : boots_(boots) {
    for (const ScenarioArm& spec : scenario.arms) {
      Arm arm;
      arm.name = spec.name;
      arm.nic.model = spec.nic;
      arm.settings = spec.settings;
      arms_.push_back(std::move(arm));
    }
  }

  void Add(int index, ArmOutcome outcome) {
    const Boot& boot = boots_[index];
    Arm& arm = arms_[boot.arm];
    if (!boot.probes) {
      bare_.emplace_back(boot.arm, std::move(outcome.run));
      return;
    }
    arm.nic = std::move(outcome.nic);
    arm.runs.push_back(std::move(outcome.run));
  }

  std::vector<Arm> Finish() && {
    for (Arm& arm : arms_) {
      std::sort(arm.runs.begin(), arm.runs.end(),
                [](const Run& a, const Run& b) { return a.round < b.round; });
      arm.summary = Summarize(arm.runs);
    }
    for (const auto& [index, run] : bare_) AddProbeEffect(run, arms_[index]);
    std::erase_if(arms_, [](const Arm& arm) { return arm.runs.empty(); });
    return std::move(arms_);
  }

 private:
  const std::vector<Boot>& boots_;
  std::vector<Arm> arms_;
  std::vector<std::pair<size_t, Run>> bare_;
};

// A scenario says which metrics it is about; one that could not be had is named.
void NameMissingMetrics(const Scenario& scenario, const std::vector<Arm>& arms,
                        const std::function<void(const std::string&)>& progress) {
  for (const Arm& arm : arms)
    for (const std::string& metric : scenario.metrics)
      if (arm.summary.count(metric) == 0)
        progress(absl::StrCat(arm.name, ": ", metric, " was not measured"));
}

}  // namespace

absl::StatusOr<Result> RunInLab(const Scenario& scenario, const LabRunOptions& options,
                                const std::function<void(const std::string&)>& progress,
                                std::atomic<bool>* stop) {
  const auto began = std::chrono::steady_clock::now();
  auto plan = PlanRun(scenario, options.arms, options.rounds, options.order_seed);
  if (!plan.ok()) return plan.status();
  auto reference = LoadReference(scenario);
  if (!reference.ok()) return reference.status();
  const std::vector<Boot> boots = BootsOf(*plan);

  std::set<std::string> nics;
  std::vector<GuestSpec> specs;
  for (const Boot& boot : boots) {
    nics.insert(scenario.arms[boot.arm].nic);
    specs.push_back(SpecOf(scenario, options, boot));
  }
  auto lab = Lab::Prepare(options.kernel, "/proc/self/exe", {nics.begin(), nics.end()});
  if (!lab.ok()) return lab.status();

  Collected collected(scenario, boots);
  absl::Status first_failure;
  size_t done = 0;
  Lab::Watcher watcher;
  watcher.stop = stop;
  watcher.on_progress = [&](int index, const std::string& text) {
    progress(absl::StrCat(NameOf(scenario, boots[index]), ": ", text));
  };
  watcher.on_done = [&](int index, absl::StatusOr<std::string> output) {
    absl::StatusOr<ArmOutcome> outcome =
        output.ok() ? ParseArmOutcome(*output) : absl::StatusOr<ArmOutcome>(output.status());
    if (!outcome.ok()) {
      first_failure.Update(absl::Status(
          outcome.status().code(),
          absl::StrCat(NameOf(scenario, boots[index]), ": ", outcome.status().message())));
      *stop = true;  // the others can no longer make a whole result
      return;
    }
    collected.Add(index, std::move(*outcome));
    progress(absl::StrFormat("%s: done (%d of %d)", NameOf(scenario, boots[index]), ++done,
                             boots.size()));
  };
  int parallel = options.host_clock ? 1 : UsableCpus();
  absl::Status ran = lab->RunGuests(specs, parallel, watcher);
  if (!first_failure.ok()) return first_failure;
  if (!ran.ok()) return ran;

  Result result;
  result.command = "run";
  result.scenario = scenario.name;
  result.place = "lab";
  result.arms = std::move(collected).Finish();
  NameMissingMetrics(scenario, result.arms, progress);
  result.reference = std::move(*reference);
  result.provenance.question = scenario.question;
  result.provenance.order_seed = options.order_seed;
  result.provenance.rounds = options.rounds;
  result.provenance.clock = options.host_clock ? "host" : "instructions";
  result.provenance.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

void RunAsGuest() {
  auto guest = Guest::Enter();
  if (!guest.ok()) {
    fprintf(stderr, "irqprof: %s\n", std::string(guest.status().message()).c_str());
    exit(2);
  }
  auto job = ParseArmJob(guest->job());
  if (!job.ok()) guest->Fail(job.status());
  auto netdev = guest->BringUpNic();
  if (!netdev.ok()) guest->Fail(netdev.status());
  auto outcome = RunArm(
      *job, *netdev, [&](const std::string& stage) { guest->Progress(stage); }, nullptr);
  if (!outcome.ok()) guest->Fail(outcome.status());
  guest->Finish(ArmOutcomeToJson(*outcome));
}

}  // namespace irqprof
