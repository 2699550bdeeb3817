#include "user/reconcile/reconcile.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace irqprof {
namespace {

std::optional<int64_t> Ticks(const KernelReading& reading, int cpu, ProcStatCpu::Column column) {
  for (const ProcStatCpu& row : reading.stat.cpus)
    if (row.cpu == cpu && row.ticks[column]) return *row.ticks[column];
  return std::nullopt;
}

struct ColumnGain {
  int64_t ns;
  int64_t bound_ns;
};

std::optional<ColumnGain> GainOf(const Snapshot& earlier, const Snapshot& later, int cpu,
                                 ProcStatCpu::Column column, int64_t tick_ns) {
  auto from_low = Ticks(earlier.kernel_before, cpu, column);
  auto from_high = Ticks(earlier.kernel_after, cpu, column);
  auto to_low = Ticks(later.kernel_before, cpu, column);
  auto to_high = Ticks(later.kernel_after, cpu, column);
  if (!from_low || !from_high || !to_low || !to_high) return std::nullopt;
  int64_t gain = std::max<int64_t>(*to_low - *from_low, 0);
  int64_t widest = *to_high - *from_low, narrowest = *to_low - *from_high;
  int64_t bracket = std::max(std::abs(widest - gain), std::abs(gain - narrowest));
  return ColumnGain{gain * tick_ns, (bracket + 1) * tick_ns};
}

double Ms(int64_t ns) { return ns * 1e-6; }

void Judge(Finding& finding) {
  bool agrees = std::abs(finding.exact_ns - finding.kernel_ns) <= finding.bound_ns;
  finding.verdict = agrees ? "agrees" : "misattributed";
}

Finding HiddenColumn(const char* rule, const char* column_name, const char* what, const CpuRow& cpu,
                     int64_t exact_ns, const std::optional<ColumnGain>& gain) {
  Finding finding;
  finding.rule = rule;
  finding.subject = absl::StrCat("cpu", cpu.cpu);
  finding.exact_ns = exact_ns;
  if (!gain) {
    finding.verdict = "not-comparable";
    finding.text = absl::StrFormat("cpu%d spent %.1f ms in %s; this kernel prints no %s column",
                                   cpu.cpu, Ms(exact_ns), what, column_name);
    return finding;
  }
  finding.kernel_ns = gain->ns;
  finding.bound_ns = gain->bound_ns;
  Judge(finding);
  finding.text = absl::StrFormat("cpu%d spent %.1f ms in %s; the kernel's %s column shows %.1f ms",
                                 cpu.cpu, Ms(exact_ns), what, column_name, Ms(gain->ns));
  if (finding.verdict == "agrees")
    absl::StrAppend(&finding.text, ", which agrees");
  else if (gain->ns == 0)
    absl::StrAppend(&finding.text, ": not accounted by this kernel");
  return finding;
}

Finding TaskCharge(const TaskRow& task, int64_t tick_ns) {
  Finding finding;
  finding.rule = "task-charge";
  finding.subject = absl::StrFormat("task %d (%s)", task.pid, task.comm);
  finding.exact_ns = task.own_ns;
  finding.kernel_ns = task.kernel.utime_ns + task.kernel.stime_ns;
  finding.bound_ns = 2 * tick_ns + task.kernel.slack_ns;
  Judge(finding);
  finding.text = absl::StrFormat(
      "task %d (%s) used %.1f ms itself; the kernel charged it %.1f ms user and %.1f ms system",
      task.pid, task.comm, Ms(task.own_ns), Ms(task.kernel.utime_ns), Ms(task.kernel.stime_ns));
  if (finding.verdict == "misattributed" && finding.kernel_ns > finding.exact_ns)
    absl::StrAppendFormat(&finding.text,
                          ", %.1f ms too much; %.1f ms of interrupts ran on top of it",
                          Ms(finding.kernel_ns - finding.exact_ns), Ms(task.stolen.Sum()));
  return finding;
}

const ProcTask* FindTask(const KernelReading& reading, int pid) {
  for (const ProcTask& task : reading.tasks)
    if (task.pid == pid) return &task;
  return nullptr;
}

std::optional<Finding> TaskRuntime(const TaskRow& task, const Snapshot& earlier,
                                   const Snapshot& later) {
  const ProcTask* reads[] = {
      FindTask(earlier.kernel_before, task.pid), FindTask(earlier.kernel_after, task.pid),
      FindTask(later.kernel_before, task.pid), FindTask(later.kernel_after, task.pid)};
  for (const ProcTask* read : reads)
    if (read == nullptr) return std::nullopt;
  int64_t gain_ns[4];
  for (int i = 0; i < 4; ++i)
    gain_ns[i] = static_cast<int64_t>(reads[i]->runtime_ns - reads[0]->runtime_ns);
  Finding finding;
  finding.rule = "task-runtime";
  finding.subject = absl::StrFormat("task %d (%s)", task.pid, task.comm);
  finding.exact_ns = task.on_cpu_ns;
  finding.kernel_ns = gain_ns[2];
  const int64_t bracket_ns = std::max(gain_ns[3] - gain_ns[2], gain_ns[1]);
  finding.bound_ns = bracket_ns + 2'000 * (task.switches + 1) + task.on_cpu_ns / 2'000;
  Judge(finding);
  finding.text = absl::StrFormat(
      "task %d (%s) was on a CPU for %.1f ms, %.1f ms of it stolen; the kernel's run time is %.1f "
      "ms",
      task.pid, task.comm, Ms(task.on_cpu_ns), Ms(task.stolen.Sum()), Ms(finding.kernel_ns));
  if (finding.verdict == "agrees" && task.stolen.Sum() > finding.bound_ns)
    absl::StrAppend(&finding.text, ": what was stolen is in it");
  return finding;
}

}  // namespace

std::vector<Finding> Reconcile(const Profile& profile, const Snapshot& earlier,
                               const Snapshot& later) {
  const int64_t tick_ns = profile.kernel_ledger.tick_ns;
  std::vector<Finding> findings;
  for (const CpuRow& cpu : profile.cpus) {
    auto gain = [&](ProcStatCpu::Column column) {
      return GainOf(earlier, later, cpu.cpu, column, tick_ns);
    };
    findings.push_back(HiddenColumn("hidden-hardirq", "irq", "hardirqs and vectors", cpu,
                                    cpu.self.hardirq_ns + cpu.self.vector_ns,
                                    gain(ProcStatCpu::kIrq)));
    findings.push_back(HiddenColumn("hidden-softirq", "softirq", "softirqs", cpu,
                                    cpu.self.softirq_ns, gain(ProcStatCpu::kSoftirq)));
  }
  for (const TaskRow& task : profile.tasks) {
    if (task.on_cpu_ns * 100 >= profile.elapsed_ns) findings.push_back(TaskCharge(task, tick_ns));
    if (auto finding = TaskRuntime(task, earlier, later)) findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace irqprof
