// The ledger on this very kernel. Needs root and BTF; fails without them.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "user/collect/clock.h"
#include "user/collect/collector.h"
#include "user/model/ledger.h"
#include "user/reconcile/reconcile.h"
#include "user/workload/competitor.h"
#include "user/workload/sink.h"
#include "user/workload/stream.h"

namespace irqprof {
namespace {

int LastOnlineCpu() { return ReadHostFacts().cpus_online.back(); }

// What every profile must satisfy, whatever happened meanwhile.
void ExpectClosed(const Profile& profile) {
  ASSERT_FALSE(profile.cpus.empty());
  for (const auto& [cause, count] : profile.losses) EXPECT_EQ(count, 0) << cause;
  for (const CpuRow& cpu : profile.cpus) {
    EXPECT_EQ(cpu.self.Sum() + cpu.unattributed_ns, cpu.elapsed_ns) << "cpu" << cpu.cpu;
    EXPECT_GE(cpu.unattributed_ns, 0) << "cpu" << cpu.cpu;
    EXPECT_LT(cpu.unattributed_ns * 1000, cpu.elapsed_ns) << "cpu" << cpu.cpu;
    SelfTime of_contexts;
    for (const ContextRow& row : profile.contexts) {
      if (row.cpu != cpu.cpu) continue;
      EXPECT_LE(row.self_ns, row.total_ns) << row.name;
      if (row.kind == "hardirq") of_contexts.hardirq_ns += row.self_ns;
      if (row.kind == "vector") of_contexts.vector_ns += row.self_ns;
      if (row.kind == "softirq") of_contexts.softirq_ns += row.self_ns;
    }
    EXPECT_EQ(of_contexts.hardirq_ns, cpu.self.hardirq_ns);
    EXPECT_EQ(of_contexts.vector_ns, cpu.self.vector_ns);
    EXPECT_EQ(of_contexts.softirq_ns, cpu.self.softirq_ns);
  }
  for (const TaskRow& task : profile.tasks) {
    EXPECT_EQ(task.on_cpu_ns, task.own_ns + task.stolen.Sum()) << task.comm;
    EXPECT_LE(task.own_softirq_ns, task.own_ns) << task.comm;
    int64_t by_source_ns = 0;
    for (const TheftRow& theft : task.stolen_by) by_source_ns += theft.ns;
    EXPECT_EQ(by_source_ns, task.stolen.Sum() - task.stolen.nmi_ns) << task.comm;
  }
}

const TaskRow* FindTask(const Profile& profile, int pid) {
  for (const TaskRow& task : profile.tasks)
    if (task.pid == pid) return &task;
  return nullptr;
}

std::unique_ptr<Collector> StartCollector() {
  auto collector = Collector::Start();
  EXPECT_TRUE(collector.ok()) << collector.status();
  return collector.ok() ? std::move(*collector) : nullptr;
}

struct Watched {
  Profile profile;
  CompetitorTimes times;
};

// The competitor between two snapshots, while whatever the caller started runs.
// `inside` is called just within them, at both ends.
Watched WatchCompetitor(
    const Collector& collector, double alone_s, int cpu,
    const std::function<void()>& inside = [] {}) {
  Snapshot begin, end;
  auto take = [&](Snapshot& into, pid_t pid) -> absl::Status {
    auto taken = collector.Take({pid});
    if (taken.ok()) into = std::move(*taken);
    return taken.status();
  };
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [&](pid_t pid) {
    absl::Status status = take(begin, pid);
    inside();
    return status;
  };
  callbacks.after_exit = [&](pid_t pid) {
    inside();
    return take(end, pid);
  };
  auto times = RunCompetitor(SizeWork(alone_s), cpu, callbacks);
  EXPECT_TRUE(times.ok()) << times.status();
  Watched watched;
  watched.profile = BuildProfile(begin, end, ReadHostFacts(), UserTickNs());
  watched.profile.findings = Reconcile(watched.profile, begin, end);
  if (times.ok()) watched.times = *times;
  return watched;
}

TEST(LiveLedger, ClosesOnEveryCpuWhileTheHostIsIdle) {
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  auto begin = collector->Take();
  ASSERT_TRUE(begin.ok()) << begin.status();
  usleep(300'000);
  auto end = collector->Take();
  ASSERT_TRUE(end.ok()) << end.status();
  Profile profile = BuildProfile(*begin, *end, ReadHostFacts(), UserTickNs());
  EXPECT_EQ(profile.cpus.size(), ReadHostFacts().cpus_online.size());
  EXPECT_GE(profile.elapsed_ns, 300'000'000);
  ExpectClosed(profile);
}

TEST(LiveLedger, SuccessiveIntervalsAddUpToTheWhole) {
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  std::vector<Snapshot> snapshots;
  for (int i = 0; i < 6; ++i) {
    auto taken = collector->Take();
    ASSERT_TRUE(taken.ok()) << taken.status();
    snapshots.push_back(std::move(*taken));
    SpinWork(3'000'000);
  }
  const HostFacts host = ReadHostFacts();
  const Profile whole = BuildProfile(snapshots.front(), snapshots.back(), host, UserTickNs());
  SelfTime sum;
  for (size_t i = 1; i < snapshots.size(); ++i) {
    const Profile part = BuildProfile(snapshots[i - 1], snapshots[i], host, UserTickNs());
    sum.task_ns += part.cpus[0].self.task_ns;
    sum.idle_ns += part.cpus[0].self.idle_ns;
    sum.vector_ns += part.cpus[0].self.vector_ns;
  }
  EXPECT_EQ(sum.task_ns, whole.cpus[0].self.task_ns);
  EXPECT_EQ(sum.idle_ns, whole.cpus[0].self.idle_ns);
  EXPECT_EQ(sum.vector_ns, whole.cpus[0].self.vector_ns);
}

TEST(LiveLedger, KnownHardirqLoadIsFoundAndStolenFromTheTaskUnderIt) {
  const int cpu = LastOnlineCpu();
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  auto injector = BpfInjector::Start(cpu, 100'000, 333'333);
  ASSERT_TRUE(injector.ok()) << injector.status();
  std::vector<int64_t> injected_ns;
  const Watched watched = WatchCompetitor(
      *collector, 0.5, cpu, [&] { injected_ns.push_back((*injector)->injected_ns()); });
  ExpectClosed(watched.profile);

  // Every injected ns is inside the timer's vector on that CPU.
  ASSERT_EQ(injected_ns.size(), 2u);
  const int64_t within_ns = injected_ns[1] - injected_ns[0];
  ASSERT_GT(within_ns, 100'000'000);
  int64_t vector_ns = 0;
  for (const CpuRow& row : watched.profile.cpus)
    if (row.cpu == cpu) vector_ns = row.self.vector_ns;
  EXPECT_GT(vector_ns, within_ns);

  // And hits whoever is there: a third of what the victim was on the CPU for.
  const TaskRow* victim = FindTask(watched.profile, watched.times.pid);
  ASSERT_NE(victim, nullptr);
  EXPECT_GT(victim->stolen.vector_ns, victim->on_cpu_ns / 5);
  EXPECT_LT(victim->stolen.vector_ns, victim->on_cpu_ns / 2);
  ASSERT_FALSE(victim->stolen_by.empty());
  EXPECT_EQ(victim->stolen_by.front().name, "local_timer");

  // The kernel charges the victim what was stolen from it, and shows no irq
  // time, unless it accounts interrupts exactly.
  if (MeasureAccountingMode(cpu) != "tick") return;
  auto finding = std::find_if(
      watched.profile.findings.begin(), watched.profile.findings.end(), [&](const Finding& f) {
        return f.rule == "hidden-hardirq" && f.subject == "cpu" + std::to_string(cpu);
      });
  ASSERT_NE(finding, watched.profile.findings.end());
  EXPECT_EQ(finding->verdict, "misattributed") << finding->text;
  // (a hypervisor that takes the CPU away replaces ticks by steal)
  int64_t steal_ns = 0;
  for (const KernelCpuRow& row : watched.profile.kernel_ledger.cpus)
    if (row.cpu == cpu) steal_ns = row.steal_ns.value_or(0);
  EXPECT_GT(victim->kernel.utime_ns + victim->kernel.stime_ns + steal_ns,
            victim->own_ns + victim->stolen.vector_ns / 2);
}

TEST(LiveLedger, LoopbackStreamClosesAndShowsItsNetworkSoftirqs) {
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  auto sink = Sink::Start(SinkSpec{});
  ASSERT_TRUE(sink.ok()) << sink.status();
  StreamSpec spec;
  spec.address = "127.0.0.1";
  spec.port = sink->port();
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  ASSERT_TRUE(stream->WaitUntilFlowing().ok());
  const Watched watched = WatchCompetitor(*collector, 0.5, -1);
  const pid_t sender_pid = stream->pid();
  ASSERT_TRUE(stream->Stop().ok());
  ExpectClosed(watched.profile);
  int64_t net_rx_count = 0;
  for (const ContextRow& row : watched.profile.contexts)
    if (row.name == "NET_RX") net_rx_count += row.count;
  EXPECT_GT(net_rx_count, 1000);
  int64_t backlog_polls = 0;
  for (const NapiRow& row : watched.profile.napi)
    if (row.netdev == "backlog") backlog_polls += row.polls;
  EXPECT_GT(backlog_polls, 1000);
  // Loopback's softirqs run in the sender's own system call: work, not theft.
  const TaskRow* sender = FindTask(watched.profile, sender_pid);
  ASSERT_NE(sender, nullptr);
  EXPECT_GT(sender->own_softirq_ns, sender->stolen.softirq_ns);
}

TEST(LiveLedger, TimeOnACpuIsTheKernelsRunTime) {
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  const Watched watched = WatchCompetitor(*collector, 0.3, LastOnlineCpu());
  const TaskRow* task = FindTask(watched.profile, watched.times.pid);
  ASSERT_NE(task, nullptr);
  int64_t steal_ns = 0;
  for (const KernelCpuRow& row : watched.profile.kernel_ledger.cpus)
    steal_ns += row.steal_ns.value_or(0);
  bool compared = false;
  for (const Finding& finding : watched.profile.findings) {
    if (finding.rule != "task-runtime") continue;
    compared = true;
    // a hypervisor's steal may be taken out of run time; it is in ours
    EXPECT_LE(std::abs(finding.exact_ns - finding.kernel_ns),
              finding.bound_ns + steal_ns + 2 * UserTickNs())
        << finding.text;
  }
  EXPECT_TRUE(compared);
}

TEST(LiveLedger, TasksOnACpuAddUpToItsTime) {
  auto collector = StartCollector();
  ASSERT_NE(collector, nullptr);
  const Watched watched = WatchCompetitor(*collector, 0.4, LastOnlineCpu());
  int64_t on_cpu_ns = 0, elapsed_ns = 0, idle_ns = 0, on_idle_ns = 0;
  for (const CpuRow& cpu : watched.profile.cpus) {
    elapsed_ns += cpu.elapsed_ns;
    idle_ns += cpu.self.idle_ns;
    on_idle_ns += cpu.self.Interrupts();
  }
  for (const TaskRow& task : watched.profile.tasks) {
    on_cpu_ns += task.on_cpu_ns;
    on_idle_ns -= task.stolen.Sum() + task.own_softirq_ns;
  }
  // what interrupts took from no task they took from idle; the snapshots' edges
  // move by the time it takes to read the tasks
  EXPECT_NEAR(on_cpu_ns + idle_ns + on_idle_ns, elapsed_ns, elapsed_ns * 1e-3 + 2e6);
}

TEST(LiveLedger, WithoutPrivilegeOneSentenceSaysWhatToDo) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    auto collector = Collector::Start();
    const std::string message(collector.status().message());
    _exit(!collector.ok() && absl::IsPermissionDenied(collector.status()) &&
                  message.find("run as root") != std::string::npos
              ? 0
              : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(LiveHost, AccountingModeIsMeasuredNotGuessed) {
  const std::string mode = MeasureAccountingMode(LastOnlineCpu());
  EXPECT_TRUE(mode == "tick" || mode == "irqtime" || mode == "vtime") << mode;
}

}  // namespace
}  // namespace irqprof
