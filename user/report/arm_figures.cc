#include "user/report/arm_figures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "user/model/statistics.h"

namespace irqprof {
namespace {

constexpr char kCompetitorComm[] = "competitor";

std::optional<double> Metric(const Run& run, const std::string& name) {
  const auto found = run.metrics.find(name);
  if (found == run.metrics.end()) return std::nullopt;
  return found->second;
}

std::optional<double> Slowdown(const Run& run) {
  const auto real = Metric(run, "competitor_real_s");
  const auto alone = Metric(run, "competitor_alone_s");
  if (!real || !alone || *alone <= 0) return std::nullopt;
  return *real / *alone;
}

// Of all CPUs' elapsed time.
std::optional<double> Share(const Run& run, int64_t SelfTime::*self) {
  if (!run.profile) return std::nullopt;
  double elapsed_ns = 0;
  double self_ns = 0;
  for (const CpuRow& row : run.profile->cpus) {
    elapsed_ns += static_cast<double>(row.elapsed_ns);
    self_ns += static_cast<double>(row.self.*self);
  }
  if (elapsed_ns <= 0) return std::nullopt;
  return self_ns / elapsed_ns;
}

// Absent if a poll of this NIC was not measured: a sum with a hole is no sum.
std::optional<double> NapiShare(const Run& run, const std::string& netdev) {
  if (!run.profile) return std::nullopt;
  double elapsed_ns = 0;
  for (const CpuRow& row : run.profile->cpus) elapsed_ns += static_cast<double>(row.elapsed_ns);
  if (elapsed_ns <= 0) return std::nullopt;
  std::optional<double> self_ns;
  for (const NapiRow& row : run.profile->napi) {
    if (row.netdev != netdev) continue;
    if (!row.self_ns) return std::nullopt;
    self_ns = self_ns.value_or(0) + static_cast<double>(*row.self_ns);
  }
  if (!self_ns) return std::nullopt;
  return *self_ns / elapsed_ns;
}

std::optional<double> WorkedOut(const Arm& arm, const Run& run, const std::string& metric) {
  if (metric == "competitor_slowdown") return Slowdown(run);
  if (metric == "hardirq_share") return Share(run, &SelfTime::hardirq_ns);
  if (metric == "vector_share") return Share(run, &SelfTime::vector_ns);
  if (metric == "softirq_share") return Share(run, &SelfTime::softirq_ns);
  if (metric == "napi_share") return NapiShare(run, arm.nic.netdev);
  return std::nullopt;
}

}  // namespace

Interval ArmInterval(const Arm& arm, const std::string& metric) {
  if (const auto found = arm.summary.find(metric); found != arm.summary.end()) return found->second;
  std::vector<double> values;
  for (const Run& run : arm.runs)
    if (const auto value = WorkedOut(arm, run, metric)) values.push_back(*value);
  return MedianInterval(values);
}

std::optional<HiddenSplit> ArmHiddenSplit(const Arm& arm) {
  const auto median = [&](double HiddenSplit::*part) {
    std::vector<double> values;
    for (const Run& run : arm.runs)
      if (run.hidden_split) values.push_back((*run.hidden_split).*part);
    return Median(values);
  };
  const bool any = std::any_of(arm.runs.begin(), arm.runs.end(),
                               [](const Run& run) { return run.hidden_split.has_value(); });
  if (!any) return std::nullopt;
  HiddenSplit split;
  split.hidden = median(&HiddenSplit::hidden);
  split.to_other_column = median(&HiddenSplit::to_other_column);
  split.to_competitor_user = median(&HiddenSplit::to_competitor_user);
  split.to_competitor_sys = median(&HiddenSplit::to_competitor_sys);
  split.to_stream = median(&HiddenSplit::to_stream);
  split.to_idle = median(&HiddenSplit::to_idle);
  split.elsewhere = split.hidden - split.to_other_column - split.to_competitor_user -
                    split.to_competitor_sys - split.to_stream - split.to_idle;
  return split;
}

std::string OverfullColumn(const Arm& arm) {
  int64_t irq_excess_ns = 0;
  int64_t softirq_excess_ns = 0;
  for (const Run& run : arm.runs) {
    if (!run.profile) continue;
    for (const KernelCpuRow& row : run.profile->kernel_ledger.cpus) {
      irq_excess_ns += row.irq_ns.value_or(0);
      softirq_excess_ns += row.softirq_ns.value_or(0);
    }
    for (const CpuRow& cpu : run.profile->cpus) {
      irq_excess_ns -= cpu.self.hardirq_ns + cpu.self.vector_ns + cpu.self.nmi_ns;
      softirq_excess_ns -= cpu.self.softirq_ns;
    }
  }
  if (std::max(irq_excess_ns, softirq_excess_ns) <= 0) return "";
  return softirq_excess_ns >= irq_excess_ns ? "softirq" : "irq";
}

std::vector<Thief> ThievesOfCompetitor(const Arm& arm) {
  using Name = std::pair<std::string, std::string>;
  std::map<Name, std::vector<double>> seconds;
  std::vector<double> stolen_s;
  for (const Run& run : arm.runs) {
    if (!run.profile) continue;
    std::map<Name, double> of_run;
    double stolen_of_run_s = 0;
    for (const TaskRow& task : run.profile->tasks) {
      if (task.comm != kCompetitorComm) continue;
      stolen_of_run_s += static_cast<double>(task.stolen.Sum()) / 1e9;
      for (const TheftRow& theft : task.stolen_by)
        of_run[{theft.kind, theft.name}] += static_cast<double>(theft.ns) / 1e9;
    }
    for (const auto& [name, value] : of_run) seconds[name].push_back(value);
    stolen_s.push_back(stolen_of_run_s);
  }
  const double all_s = Median(stolen_s);
  std::vector<Thief> thieves;
  for (auto& [name, values] : seconds) {
    values.resize(stolen_s.size(), 0.0);
    const double median_s = Median(values);
    thieves.push_back({name.first, name.second, median_s, all_s > 0 ? median_s / all_s : 0});
  }
  std::stable_sort(thieves.begin(), thieves.end(),
                   [](const Thief& a, const Thief& b) { return a.s > b.s; });
  return thieves;
}

}  // namespace irqprof
