#include "user/scenario/arm.h"

#include <sched.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "user/collect/clock.h"
#include "user/collect/collector.h"
#include "user/model/ledger.h"
#include "user/reconcile/reconcile.h"
#include "user/scenario/arm_metrics.h"
#include "user/workload/competitor.h"
#include "user/workload/gap_costs.h"
#include "user/workload/gap_loop.h"
#include "user/workload/stream.h"

namespace irqprof {
namespace {

// Long enough for thousands of interrupts of a busy NIC.
constexpr int64_t kGapLoopNs = 250'000'000;
// Timer interrupts that do nothing, so that some come with no softirq behind
// them: some three hundred.
constexpr int64_t kVectorLoopNs = 60'000'000;
constexpr uint64_t kVectorPeriodNs = 200'000;

GapCounters CountersOf(const volatile cpu_account& account) {
  GapCounters counters;
  auto word = [](const volatile auto& field) {
    return reinterpret_cast<const volatile uint64_t*>(&field);
  };
  counters.switches = word(account.levels[LEVEL_TASK].events);
  counters.hardirq_count = word(account.totals.hits[TOTAL_HARDIRQ]);
  counters.vector_count = word(account.totals.hits[TOTAL_VECTOR]);
  counters.softirq_count = word(account.totals.hits[TOTAL_SOFTIRQ_STOLEN]);
  counters.captured_ns[0] = word(account.levels[LEVEL_NMI].net_ns);
  counters.captured_ns[1] = word(account.levels[LEVEL_HARDIRQ].net_ns);
  counters.captured_ns[2] = word(account.levels[LEVEL_SOFTIRQ].net_ns);
  counters.n_captured = 3;
  return counters;
}

// Gaps beside the stream, and what the ledger says of the loop over their time.
struct LoopBesideStream {
  GapRun gaps;
  LoopLedger ledger;
};

// The moments between the snapshots and the loop are taken as the loop's own:
// they are short unless an interrupt falls into them, and then it is all done
// once more.
absl::StatusOr<LoopBesideStream> LoopBeside(const Collector& collector, const GapCounters& counters,
                                            int cpu, const std::atomic<bool>* stop) {
  constexpr int64_t kShortNs = 60'000;
  LoopBesideStream best;
  int64_t best_outside_ns = INT64_MAX;
  for (int attempt = 0; attempt < 4 && best_outside_ns > kShortNs; ++attempt) {
    Snapshot begin, end;
    auto take_begin = [&] {
      for (int i = 0; i < 100; ++i) {
        begin = collector.TakeSelf(cpu);
        if (MonotonicNs() - static_cast<int64_t>(begin.cpus.front().at_ns) < kShortNs / 2) break;
      }
    };
    auto gaps =
        CollectGaps(counters, kGapLoopNs, stop, take_begin, [&] { end = collector.TakeSelf(cpu); });
    if (!gaps.ok()) return gaps.status();
    const Profile profile = BuildProfile(begin, end, {}, UserTickNs());
    const int64_t outside_ns = profile.elapsed_ns - gaps->elapsed_ns;
    if (profile.tasks.empty() || outside_ns >= best_outside_ns) continue;
    const TaskRow& self = profile.tasks.front();
    best_outside_ns = outside_ns;
    best = {std::move(*gaps),
            {self.own_ns - outside_ns, self.switches, self.hits.hardirq, self.hits.vector,
             self.hits.softirq}};
  }
  return best;
}

// What interrupts and preemptions cost a user-mode loop on `cpu` outside every
// hook: beside the stream, and beside timer interrupts at a known rate.
absl::StatusOr<UnobservedCosts> MeasureUnobserved(const Collector& collector, int cpu,
                                                  const std::atomic<bool>* stop) {
  cpu_set_t before, one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
      sched_setaffinity(0, sizeof(one), &one) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot run on CPU ", cpu));
  auto restore = absl::MakeCleanup([&] { sched_setaffinity(0, sizeof(before), &before); });
  const GapCounters counters = CountersOf(*collector.ledger().Account(cpu));
  auto beside_stream = LoopBeside(collector, counters, cpu, stop);
  if (!beside_stream.ok()) return beside_stream.status();
  auto injector = BpfInjector::Start(cpu, 0, kVectorPeriodNs);
  if (!injector.ok()) return injector.status();
  auto beside_timer = CollectGaps(counters, kVectorLoopNs, stop);
  if (!beside_timer.ok()) return beside_timer.status();
  GapRun both = beside_stream->gaps;
  both.gaps.insert(both.gaps.end(), beside_timer->gaps.begin(), beside_timer->gaps.end());
  const GapCosts costs = CostsOfGaps(both);
  return UnobservedCosts{costs.hardirq.k_ns, costs.vector.k_ns, costs.softirq.k_ns,
                         SwitchCost(beside_stream->gaps, costs, beside_stream->ledger)};
}

// The two sides of the measured window.
struct Window {
  std::optional<Snapshot> begin, end;
  StreamMark stream_begin, stream_end;
};

absl::StatusOr<CompetitorTimes> Race(const ArmJob& job, const Collector* collector,
                                     const Stream& stream, Window& window,
                                     const std::atomic<bool>* stop) {
  CompetitorCallbacks callbacks;
  auto look = [&](pid_t pid, std::optional<Snapshot>& snapshot) -> absl::Status {
    if (collector == nullptr) return absl::OkStatus();
    auto taken = collector->Take({pid, stream.pid()});
    if (!taken.ok()) return taken.status();
    snapshot = std::move(*taken);
    return absl::OkStatus();
  };
  callbacks.before_gate = [&](pid_t pid) {
    absl::Status status = look(pid, window.begin);
    window.stream_begin = stream.Mark();
    return status;
  };
  callbacks.after_exit = [&](pid_t pid) {
    window.stream_end = stream.Mark();
    return look(pid, window.end);
  };
  return RunCompetitor(job.iterations, job.cpu, callbacks, stop);
}

std::string DriverOf(const std::string& netdev, const Snapshot& snapshot) {
  for (const NicFact& nic : snapshot.nics)
    if (nic.netdev == netdev) return nic.driver;
  return "";
}

}  // namespace

absl::StatusOr<ArmOutcome> RunArm(const ArmJob& job, const std::string& netdev,
                                  const std::function<void(const std::string&)>& progress,
                                  const std::atomic<bool>* stop) {
  HostFacts host = ReadHostFacts();
  std::unique_ptr<Collector> collector;
  if (job.probes) {
    host.accounting = MeasureAccountingMode(job.cpu);
    auto started = Collector::Start();
    if (!started.ok()) return started.status();
    collector = std::move(*started);
    host.absent_hooks = collector->ledger().absent_hooks();
  }

  progress("alone");
  auto alone = RunCompetitor(job.iterations, job.cpu, {}, stop);
  if (!alone.ok()) return alone.status();

  StreamSpec spec;
  spec.address = job.sink_address;
  spec.port = job.sink_port;
  spec.direction = job.direction == "send" ? Direction::kSend : Direction::kReceive;
  spec.block_bytes = job.block_bytes;
  spec.cpu = job.cpu;
  auto stream = Stream::Start(spec);
  if (!stream.ok()) return stream.status();
  if (absl::Status flowing = stream->WaitUntilFlowing(stop); !flowing.ok()) return flowing;

  UnobservedCosts costs;
  if (collector != nullptr) {
    progress("cost per interrupt");
    auto measured = MeasureUnobserved(*collector, job.cpu, stop);
    if (!measured.ok()) return measured.status();
    costs = *measured;
  }

  progress("race");
  Window window;
  auto raced = Race(job, collector.get(), *stream, window, stop);
  if (!raced.ok()) return raced.status();
  auto streamed = stream->Stop();
  if (!streamed.ok()) return streamed.status();

  RaceTimes times;
  times.competitor_pid = raced->pid;
  times.stream_pid = streamed->pid;
  times.alone_s = alone->real_ns * 1e-9;
  times.real_s = raced->real_ns * 1e-9;
  times.user_s = raced->user_ns * 1e-9;
  times.sys_s = raced->sys_ns * 1e-9;
  times.stream_mib_per_s = MibPerS(window.stream_begin, window.stream_end);
  times.stream_mib = (window.stream_end.bytes - window.stream_begin.bytes) / 1048576.0;

  ArmOutcome outcome;
  outcome.nic = {netdev, "", job.nic_model};
  outcome.run.round = job.round;
  outcome.run.metrics = TimesToMetrics(times);
  if (collector != nullptr) {
    Profile profile = BuildProfile(*window.begin, *window.end, host, UserTickNs());
    profile.findings = Reconcile(profile, *window.begin, *window.end);
    AddLedgerMetrics(profile, times, netdev, costs, outcome.run.metrics);
    outcome.run.hidden_split = SplitHidden(profile, times);
    outcome.nic.driver = DriverOf(netdev, *window.end);
    outcome.run.profile = std::move(profile);
  }
  return outcome;
}

}  // namespace irqprof
