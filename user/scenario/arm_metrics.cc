#include "user/scenario/arm_metrics.h"

#include <algorithm>

namespace irqprof {
namespace {

struct Sums {
  int64_t elapsed_ns = 0;
  SelfTime self;
  int64_t kernel_irq_ns = 0;
  int64_t kernel_softirq_ns = 0;
  int64_t kernel_idle_ns = 0;
  bool kernel_interrupts_known = true;

  int64_t KernelInterruptNs() const { return kernel_irq_ns + kernel_softirq_ns; }

  // Column by column: what one shows too much hides nothing of the other's.
  int64_t HiddenHardirqNs() const {
    return std::max<int64_t>(self.hardirq_ns + self.vector_ns + self.nmi_ns - kernel_irq_ns, 0);
  }
  int64_t HiddenSoftirqNs() const {
    return std::max<int64_t>(self.softirq_ns - kernel_softirq_ns, 0);
  }
  int64_t HiddenNs() const { return HiddenHardirqNs() + HiddenSoftirqNs(); }
};

Sums SumCpus(const Profile& profile) {
  Sums sums;
  for (const CpuRow& cpu : profile.cpus) {
    sums.elapsed_ns += cpu.elapsed_ns;
    sums.self.idle_ns += cpu.self.idle_ns;
    sums.self.task_ns += cpu.self.task_ns;
    sums.self.softirq_ns += cpu.self.softirq_ns;
    sums.self.hardirq_ns += cpu.self.hardirq_ns;
    sums.self.vector_ns += cpu.self.vector_ns;
    sums.self.nmi_ns += cpu.self.nmi_ns;
  }
  for (const KernelCpuRow& row : profile.kernel_ledger.cpus) {
    sums.kernel_irq_ns += row.irq_ns.value_or(0);
    sums.kernel_softirq_ns += row.softirq_ns.value_or(0);
    sums.kernel_idle_ns += row.idle_ns + row.iowait_ns;
    if (!row.irq_ns || !row.softirq_ns) sums.kernel_interrupts_known = false;
  }
  return sums;
}

const TaskRow* FindTask(const Profile& profile, int pid) {
  for (const TaskRow& task : profile.tasks)
    if (task.pid == pid) return &task;
  return nullptr;
}

std::optional<double> UnobservedNs(const TaskRow& task, const UnobservedCosts& costs) {
  const std::pair<int64_t, std::optional<double>> classes[] = {
      {task.hits.hardirq, costs.hardirq_ns},
      {task.hits.vector, costs.vector_ns},
      {task.hits.softirq, costs.softirq_ns},
      {task.switches, costs.switch_ns}};
  double sum_ns = 0;
  for (const auto& [count, cost_ns] : classes) {
    if (count == 0) continue;
    if (!cost_ns) return std::nullopt;
    sum_ns += count * *cost_ns;
  }
  return sum_ns;
}

int64_t MisplacedNs(const TaskRow& task) {
  const auto& columns = *task.kernel.columns;
  return columns.user_ns + columns.system_ns - (task.own_ns - task.own_softirq_ns);
}

}  // namespace

Metrics TimesToMetrics(const RaceTimes& times) {
  return {{"competitor_real_s", times.real_s},
          {"competitor_user_s", times.user_s},
          {"competitor_sys_s", times.sys_s},
          {"competitor_alone_s", times.alone_s},
          {"competitor_slowdown", times.real_s / times.alone_s},
          {"stream_mib_per_s", times.stream_mib_per_s}};
}

void AddLedgerMetrics(const Profile& profile, const RaceTimes& times, const std::string& netdev,
                      const UnobservedCosts& costs, Metrics& metrics) {
  const Sums sums = SumCpus(profile);
  if (const TaskRow* competitor = FindTask(profile, times.competitor_pid)) {
    metrics["competitor_own_s"] = competitor->own_ns * 1e-9;
    metrics["competitor_stolen_s"] = competitor->stolen.Sum() * 1e-9;
    if (auto unobserved_ns = UnobservedNs(*competitor, costs))
      metrics["competitor_unobserved_s"] = *unobserved_ns * 1e-9;
  }
  int64_t interrupts = 0, nic_hardirq_ns = 0, napi_ns = 0;
  for (const ContextRow& row : profile.contexts) {
    if (row.kind != "softirq") interrupts += row.count;
    if (row.kind == "hardirq" && row.netdev == netdev) nic_hardirq_ns += row.self_ns;
  }
  for (const NapiRow& row : profile.napi)
    if (row.netdev == netdev) napi_ns += row.self_ns.value_or(0);

  if (sums.elapsed_ns == 0) return;
  const double elapsed_ns = sums.elapsed_ns;
  metrics["interrupt_share"] = sums.self.Interrupts() / elapsed_ns;
  metrics["hardirq_share"] = sums.self.hardirq_ns / elapsed_ns;
  metrics["vector_share"] = sums.self.vector_ns / elapsed_ns;
  metrics["softirq_share"] = sums.self.softirq_ns / elapsed_ns;
  metrics["napi_share"] = napi_ns / elapsed_ns;
  if (sums.kernel_interrupts_known) {
    metrics["kernel_interrupt_share"] = sums.KernelInterruptNs() / elapsed_ns;
    metrics["hidden_share"] = sums.HiddenNs() / elapsed_ns;
  }
  metrics["interrupts_per_s"] = interrupts / (profile.elapsed_ns * 1e-9);
  if (times.stream_mib > 0) {
    metrics["hardirq_us_per_mib"] = sums.self.hardirq_ns * 1e-3 / times.stream_mib;
    metrics["softirq_us_per_mib"] = sums.self.softirq_ns * 1e-3 / times.stream_mib;
    metrics["nic_us_per_mib"] = (nic_hardirq_ns + napi_ns) * 1e-3 / times.stream_mib;
  }
}

std::optional<HiddenSplit> SplitHidden(const Profile& profile, const RaceTimes& times) {
  const Sums sums = SumCpus(profile);
  const TaskRow* competitor = FindTask(profile, times.competitor_pid);
  const TaskRow* stream = FindTask(profile, times.stream_pid);
  if (!sums.kernel_interrupts_known || sums.elapsed_ns == 0 || competitor == nullptr ||
      stream == nullptr || !competitor->kernel.columns || !stream->kernel.columns)
    return std::nullopt;

  const double elapsed_ns = sums.elapsed_ns;
  const int64_t to_competitor_ns = MisplacedNs(*competitor);
  const int64_t user_ns = std::max<int64_t>(
      competitor->kernel.columns->user_ns - (competitor->own_ns - competitor->own_softirq_ns), 0);
  HiddenSplit split;
  split.hidden = sums.HiddenNs() / elapsed_ns;
  split.to_other_column =
      (sums.HiddenNs() - sums.self.Interrupts() + sums.KernelInterruptNs()) / elapsed_ns;
  split.to_competitor_user = user_ns / elapsed_ns;
  split.to_competitor_sys = (to_competitor_ns - user_ns) / elapsed_ns;
  split.to_stream = MisplacedNs(*stream) / elapsed_ns;
  split.to_idle = (sums.kernel_idle_ns - sums.self.idle_ns) / elapsed_ns;
  split.elsewhere = split.hidden - split.to_competitor_user - split.to_competitor_sys -
                    split.to_stream - split.to_idle - split.to_other_column;
  return split;
}

}  // namespace irqprof
