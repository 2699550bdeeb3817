#include "tests/support/sample_result.h"

#include <cmath>

#include "user/model/statistics.h"

namespace irqprof {
namespace {

int64_t Ns(double seconds) { return std::llround(seconds * 1e9); }

// One arm's typical round; the rounds of an arm differ by a factor near 1.
struct Figures {
  double real_s, user_s, sys_s, own_s, unobserved_s, stream_mib_per_s;
  double hardirq, vector, softirq, napi, kernel;  // shares
  int64_t interrupts;
  HiddenSplit split;
};

constexpr double kAloneS = 0.901;

Profile LabProfile(const Figures& figures, const std::string& netdev, const std::string& driver) {
  const double elapsed_s = figures.real_s * 1.02;
  const double stolen_s = figures.real_s * 0.99 - figures.own_s;
  Profile profile;
  profile.host = {"6.1.0-57-amd64", "x86_64", "tick", 250, {0}, {"irq_vectors/thermal_apic_entry"}};
  profile.elapsed_ns = Ns(elapsed_s);
  CpuRow cpu;
  cpu.elapsed_ns = profile.elapsed_ns;
  cpu.self.softirq_ns = Ns(elapsed_s * figures.softirq);
  cpu.self.hardirq_ns = Ns(elapsed_s * figures.hardirq);
  cpu.self.vector_ns = Ns(elapsed_s * figures.vector);
  cpu.unattributed_ns = 4000;
  cpu.self.task_ns = cpu.elapsed_ns - cpu.unattributed_ns - cpu.self.Sum();
  profile.cpus = {cpu};
  ContextRow line;
  line.kind = "hardirq";
  line.name = netdev;
  line.irq = 11;
  line.netdev = netdev;
  line.driver = driver;
  line.count = figures.interrupts;
  line.self_ns = line.total_ns = cpu.self.hardirq_ns;
  line.max_ns = 31'000;
  line.hist_ns = {{16'384, figures.interrupts - 12}, {32'768, 12}};
  ContextRow net_rx;
  net_rx.kind = "softirq";
  net_rx.name = "NET_RX";
  net_rx.count = figures.interrupts - 40;
  net_rx.self_ns = cpu.self.softirq_ns;
  net_rx.total_ns = cpu.self.softirq_ns + 5'000'000;
  net_rx.max_ns = 410'000;
  profile.contexts = {line, net_rx};
  profile.napi = {{0, netdev, driver, figures.interrupts - 40, 61'234, 17,
                   Ns(elapsed_s * figures.napi), "softirq"},
                  {0, "backlog", "", 212, 301, 0, std::nullopt, "softirq"}};
  TaskRow task;
  task.pid = task.tgid = 71;
  task.comm = "competitor";
  task.cgroup = "/";
  task.own_ns = Ns(figures.own_s);
  const int64_t stolen_ns = Ns(stolen_s);
  task.stolen.hardirq_ns = stolen_ns * 6 / 10;
  task.stolen.vector_ns = stolen_ns / 100;
  task.stolen.softirq_ns = stolen_ns - task.stolen.hardirq_ns - task.stolen.vector_ns;
  task.on_cpu_ns = task.own_ns + stolen_ns;
  task.hits = {figures.interrupts - 300, 580, figures.interrupts - 340};
  task.switches = 93;
  task.stolen_by = {{"hardirq", netdev, task.stolen.hardirq_ns},
                    {"softirq", "NET_RX", task.stolen.softirq_ns - 900'000},
                    {"vector", "local_timer", task.stolen.vector_ns},
                    {"softirq", "TIMER", 900'000}};
  task.kernel.utime_ns = Ns(figures.user_s);
  task.kernel.stime_ns = Ns(figures.sys_s);
  task.kernel.runtime_ns = task.on_cpu_ns;
  task.kernel.columns =
      TaskRow::Kernel::Columns{Ns(figures.user_s), Ns(figures.sys_s) - 80'000'000, 80'000'000, 0};
  profile.tasks = {task};
  KernelCpuRow kernel;
  kernel.user_ns = Ns(figures.user_s);
  kernel.system_ns = Ns(figures.sys_s);
  kernel.irq_ns = 0;
  kernel.softirq_ns = Ns(elapsed_s * figures.kernel);
  profile.kernel_ledger = {{kernel}, 10'000'000};
  profile.findings = {{"hidden-hardirq", "cpu0", cpu.self.hardirq_ns, 0, 10'000'000,
                       "misattributed",
                       "cpu0 spent time in hardirqs; the kernel's irq column shows none"}};
  profile.losses = {{"exit_unmatched", 0}, {"tasks_full", 0}};
  profile.self_cost = {4 * figures.interrupts, Ns(elapsed_s * 0.004)};
  return profile;
}

Run LabRun(int round, Figures figures, double factor, const Arm::Nic& nic) {
  figures.real_s *= factor;
  figures.sys_s *= factor;
  figures.stream_mib_per_s /= factor;
  const double share = figures.hardirq + figures.vector + figures.softirq;
  Run run;
  run.round = round;
  run.metrics = {
      {"competitor_real_s", figures.real_s},
      {"competitor_user_s", figures.user_s},
      {"competitor_sys_s", figures.sys_s},
      {"competitor_own_s", figures.own_s},
      {"competitor_stolen_s", figures.real_s * 0.99 - figures.own_s},
      {"competitor_unobserved_s", figures.unobserved_s},
      {"competitor_alone_s", kAloneS},
      {"competitor_slowdown", figures.real_s / kAloneS},
      {"stream_mib_per_s", figures.stream_mib_per_s},
      {"interrupts_per_s", static_cast<double>(figures.interrupts) / figures.real_s},
      {"interrupt_share", share},
      {"kernel_interrupt_share", figures.kernel},
      {"hidden_share", figures.split.hidden},
  };
  run.hidden_split = figures.split;
  run.profile = LabProfile(figures, nic.netdev, nic.driver);
  return run;
}

Arm LabArm(const std::string& name, const Arm::Nic& nic, const Figures& figures) {
  Arm arm;
  arm.name = name;
  arm.nic = nic;
  const double factors[] = {1.0004, 1.0, 0.9998};
  for (int round = 0; round < 3; ++round)
    arm.runs.push_back(LabRun(round, figures, factors[round], nic));
  arm.summary = Summarize(arm.runs);
  arm.probe_effect = {
      {"competitor_real_s", 1.034}, {"competitor_sys_s", 1.061}, {"stream_mib_per_s", 0.988}};
  return arm;
}

const char kSource[] = "\"100Mbit ethernet card comparision\", chat@FreeBSD.org, February 1999";

Metrics Race(double real_s, double user_s, double sys_s, double stream_mib_per_s) {
  return {{"competitor_real_s", real_s},
          {"competitor_user_s", user_s},
          {"competitor_sys_s", sys_s},
          {"stream_mib_per_s", stream_mib_per_s}};
}

TaskRow HostTask(int pid, const std::string& comm, double own_s, double hardirq_s) {
  TaskRow task;
  task.pid = task.tgid = pid;
  task.comm = comm;
  task.cgroup = "/user.slice";
  task.own_ns = Ns(own_s);
  task.stolen.hardirq_ns = Ns(hardirq_s);
  task.on_cpu_ns = task.own_ns + task.stolen.Sum();
  task.hits.hardirq = 1000;
  if (hardirq_s > 0) task.stolen_by = {{"hardirq", "eth0-rx-0", task.stolen.hardirq_ns}};
  task.kernel.utime_ns = task.on_cpu_ns;
  task.kernel.runtime_ns = task.on_cpu_ns;
  return task;
}

CpuRow HostCpu(int cpu, double task_s, double softirq_s, double hardirq_s) {
  CpuRow row;
  row.cpu = cpu;
  row.elapsed_ns = Ns(10.0);
  row.self.task_ns = Ns(task_s);
  row.self.softirq_ns = Ns(softirq_s);
  row.self.hardirq_ns = Ns(hardirq_s);
  row.self.vector_ns = Ns(0.02);
  row.unattributed_ns = 120'000;
  row.self.idle_ns = row.elapsed_ns - row.unattributed_ns - row.self.Sum();
  return row;
}

ContextRow HostLine(int cpu, const std::string& name, int irq, double self_s) {
  ContextRow row;
  row.cpu = cpu;
  row.kind = "hardirq";
  row.name = name;
  row.irq = irq;
  row.count = 31'000;
  row.self_ns = row.total_ns = Ns(self_s);
  row.max_ns = 91'000;
  return row;
}

}  // namespace

Result SampleRun() {
  Result result;
  result.command = "run";
  result.version = "0.1.0";
  result.scenario = "rl-vs-de";
  result.place = "lab";
  result.provenance = {
      "Where does the interrupt handler's CPU time go, and whom does the kernel charge for it?",
      20240101, 3, "instructions", 71.4};
  const Figures rl = {2.337,
                      0.892,
                      1.135,
                      0.923,
                      0.021,
                      61.4,
                      0.352,
                      0.004,
                      0.249,
                      0.214,
                      0.171,
                      14'943,
                      {.hidden = 0.434,
                       .to_other_column = 0,
                       .to_competitor_user = 0.021,
                       .to_competitor_sys = 0.332,
                       .to_stream = 0.081,
                       .to_idle = 0,
                       .elsewhere = 0}};
  const Figures de = {5.205,
                      0.939,
                      2.714,
                      1.226,
                      0.322,
                      59.3,
                      0.548,
                      0.004,
                      0.171,
                      0.138,
                      0.184,
                      229'694,
                      {.hidden = 0.552,           // hardirqs and vectors: the irq column shows none
                       .to_other_column = 0.013,  // softirq column less softirq
                       .to_competitor_user = 0.012,
                       .to_competitor_sys = 0.455,
                       .to_stream = 0.0754,
                       .to_idle = 0,
                       .elsewhere = -0.0034}};
  result.arms = {LabArm("rl", {"eth0", "8139cp", "rtl8139"}, rl),
                 LabArm("de", {"eth0", "tulip", "tulip"}, de)};
  result.reference = {{kSource, "FreeBSD", "rl", Race(10.41, 10.24, 0.02, 0.38)},
                      {kSource, "Linux", "rl", Race(22.9, 14.4, 4.4, 6.50)},
                      {kSource, "FreeBSD", "de", {{"stream_mib_per_s", 2.21}}},
                      {kSource, "Linux", "de", Race(20.5, 13.8, 1.0, 9.14)}};
  return result;
}

Result SampleRecord() {
  Result result;
  result.command = "record";
  result.version = "0.1.0";
  result.place = "live";
  Profile profile;
  profile.host = {"6.12.117-amd64", "x86_64", "tick", 250, {0, 1}, {}};
  profile.elapsed_ns = Ns(10.0);
  profile.cpus = {HostCpu(0, 6.5, 0.4, 3.0), HostCpu(1, 1.25, 0.05, 0.15)};
  profile.contexts = {HostLine(0, "eth0-rx-0", 24, 3.0), HostLine(1, "eth0-rx-0", 24, 0.1),
                      HostLine(1, "evil\033[2J\xff\nname", 25, 0.05)};
  profile.napi = {{0, "eth0", "virtio_net", 30'912, 402'113, 55, Ns(0.31), "softirq"}};
  profile.tasks = {HostTask(812, "spinner", 6.4, 2.9),
                   HostTask(813, "\xc3\xa9t\xc3\xa9 \xe2\x80\xae\x07", 1.2, 0)};
  KernelCpuRow kernel;
  kernel.user_ns = Ns(9.5);
  kernel.idle_ns = Ns(0.5);
  kernel.irq_ns = 0;
  profile.kernel_ledger = {{kernel}, 10'000'000};
  profile.findings = {{"hidden-hardirq", "cpu0", Ns(3.0), 0, 10'000'000, "misattributed",
                       "cpu0 spent 3000.0 ms in hardirqs; the kernel's irq column shows 0.0 ms"}};
  profile.losses = {{"exit_unmatched", 0}};
  profile.self_cost = {125'000, std::nullopt};
  result.profile = profile;
  return result;
}

}  // namespace irqprof
