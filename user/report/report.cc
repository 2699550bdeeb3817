#include "user/report/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/model/result_json.h"
#include "user/report/figures.h"
#include "user/report/printable.h"
#include "user/report/sections.h"

namespace irqprof {

std::string RenderText(const Result& result, const TextStyle& style) {
  Page page(style);
  if (result.profile.has_value()) {
    WriteProfile(result, *result.profile, page);
  } else {
    WriteRun(result, page);
  }
  return page.Take();
}

std::string RenderJson(const Result& result) { return ResultToJson(result); }

std::string PlaceText(const std::string& place, const HostFacts& host) {
  std::string text = absl::StrCat(place.empty() ? "" : Printable(place, 20) + ", ", "Linux ",
                                  Printable(host.kernel, 64), " (", Printable(host.arch, 16), "), ",
                                  Count(static_cast<int64_t>(host.cpus_online.size()), "CPU"), ", ",
                                  Printable(host.accounting, 16), " accounting");
  if (host.hz > 0) absl::StrAppend(&text, ", HZ ", host.hz);
  return text;
}

std::string LossText(const std::map<std::string, int64_t>& losses) {
  std::vector<std::string> causes;
  for (const auto& [cause, count] : losses)
    if (count != 0)
      causes.push_back(
          absl::StrCat(Printable(cause, 40), " ", Grouped(static_cast<double>(count))));
  return causes.empty() ? "none" : absl::StrJoin(causes, ", ");
}

void WriteUnseen(const std::vector<std::string>& absent_hooks, int64_t hidden_switches,
                 Page& page) {
  std::vector<std::string> parts;
  for (const std::string& hook : absent_hooks) parts.push_back(Printable(hook, 60));
  if (!parts.empty()) parts = {"this kernel does not offer " + absl::StrJoin(parts, ", ")};
  if (hidden_switches > 0)
    parts.push_back(absl::StrCat(Count(hidden_switches, "switch", "switches"),
                                 " from a task in which this kernel runs no BPF: its time on the "
                                 "CPU is the kernel's own figure"));
  if (!parts.empty()) page.Fact("Unseen", absl::StrJoin(parts, "; "));
}

void WriteTaintedAlarm(const std::map<std::string, int64_t>& losses, Page& page) {
  page.Alarm(absl::StrCat("TAINTED: events were lost (", LossText(losses),
                          "). The numbers below are incomplete; do not rely on them."));
}

}  // namespace irqprof
