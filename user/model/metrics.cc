#include "user/model/metrics.h"

namespace irqprof {

const std::vector<MetricInfo>& KnownMetrics() {
  using enum Better;
  static const std::vector<MetricInfo> metrics = {
      {"competitor_real_s", "s", kLower, "real", "elapsed time of the competitor's fixed work"},
      {"competitor_user_s", "s", kLower, "user", "user time the kernel charged the competitor"},
      {"competitor_sys_s", "s", kLower, "sys", "system time the kernel charged the competitor"},
      {"competitor_own_s", "s", kLower, "own", "CPU time the competitor really had to itself"},
      {"competitor_stolen_s", "s", kLower, "stolen", "interrupt time that ran on top of it"},
      {"competitor_unobserved_s", "s", kLower, "unobserved",
       "calibrated estimate of interrupt entry and exit outside every hook; part of own"},
      {"competitor_alone_s", "s", kNeither, "alone", "elapsed time of the same work, undisturbed"},
      {"competitor_slowdown", "x", kLower, "slowdown", "real against alone"},
      {"stream_mib_per_s", "MiB/s", kHigher, "stream", "payload of the stream, by its own clock"},
      {"interrupts_per_s", "1/s", kLower, "interrupts", "hardware interrupts taken per second"},
      {"interrupt_share", "", kLower, "interrupt share", "exact: hardirq + vector + softirq + nmi"},
      {"hardirq_share", "", kLower, "hardirq share", "exact self time in device interrupts"},
      {"vector_share", "", kLower, "vector share", "exact self time in system vectors and IPIs"},
      {"softirq_share", "", kLower, "softirq share", "exact self time in softirqs"},
      {"napi_share", "", kLower, "NAPI share", "self time polling the arm's NIC"},
      {"kernel_interrupt_share", "", kNeither, "kernel's share",
       "what the kernel's irq and softirq columns show"},
      {"hidden_share", "", kLower, "hidden",
       "interrupt time that its kernel column does not show, column by column"},
      {"hardirq_us_per_mib", "us/MiB", kLower, "hardirq cost", "hardirq self time per MiB moved"},
      {"softirq_us_per_mib", "us/MiB", kLower, "softirq cost", "softirq self time per MiB moved"},
      {"nic_us_per_mib", "us/MiB", kLower, "NIC cost",
       "hardirq and NAPI self time of the NIC per MiB moved"},
  };
  return metrics;
}

const MetricInfo* FindMetric(std::string_view name) {
  for (const MetricInfo& metric : KnownMetrics())
    if (metric.name == name) return &metric;
  return nullptr;
}

}  // namespace irqprof
