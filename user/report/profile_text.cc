// The report of `record` and `stat`: what the CPUs did, which contexts took the
// time, whom they took it from, and where the kernel's ledgers disagree.
#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "user/report/figures.h"
#include "user/report/printable.h"
#include "user/report/sections.h"

namespace irqprof {
namespace {

constexpr size_t kRowsShown = 12;

std::string Share(int64_t part_ns, int64_t whole_ns) {
  if (whole_ns <= 0) return kNotMeasured;
  return Percent(static_cast<double>(part_ns) / static_cast<double>(whole_ns));
}

std::string Micros(double ns) { return Fixed(ns / 1e3, 1); }

void WriteMore(size_t all, Page& page) {
  if (all > kRowsShown)
    page.Note(absl::StrCat("and ", all - kRowsShown, " more; they are in the result's JSON"));
}

void WriteCpus(const Profile& profile, Page& page) {
  std::vector<Row> rows;
  for (const CpuRow& cpu : profile.cpus) {
    const auto share = [&](int64_t ns) { return Cell{Share(ns, cpu.elapsed_ns)}; };
    rows.push_back({{absl::StrCat("cpu", cpu.cpu)},
                    {Seconds(cpu.elapsed_ns)},
                    share(cpu.self.idle_ns),
                    share(cpu.self.task_ns),
                    share(cpu.self.softirq_ns),
                    share(cpu.self.hardirq_ns),
                    share(cpu.self.vector_ns),
                    share(cpu.self.nmi_ns),
                    {Fixed(cpu.elapsed_ns > 0 ? 100.0 * static_cast<double>(cpu.unattributed_ns) /
                                                    static_cast<double>(cpu.elapsed_ns)
                                              : 0,
                           3)}});
  }
  page.Heading("CPUs: self time of each context");
  page.Table({{"", "", true},
              {"elapsed", "s"},
              {"idle", "%"},
              {"task", "%"},
              {"softirq", "%"},
              {"hardirq", "%"},
              {"vector", "%"},
              {"nmi", "%"},
              {"unattributed", "%"}},
             rows);
}

// One context over all CPUs.
std::vector<ContextRow> MergedContexts(const Profile& profile) {
  std::map<std::tuple<std::string, std::string, int>, ContextRow> merged;
  for (const ContextRow& row : profile.contexts) {
    ContextRow& sum = merged[{row.kind, row.name, row.irq.value_or(-1)}];
    const int64_t count = sum.count + row.count;
    const int64_t self_ns = sum.self_ns + row.self_ns;
    const int64_t total_ns = sum.total_ns + row.total_ns;
    const int64_t max_ns = std::max(sum.max_ns, row.max_ns);
    sum = row;
    sum.count = count;
    sum.self_ns = self_ns;
    sum.total_ns = total_ns;
    sum.max_ns = max_ns;
  }
  std::vector<ContextRow> rows;
  for (auto& [key, row] : merged) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ContextRow& a, const ContextRow& b) { return a.self_ns > b.self_ns; });
  return rows;
}

void WriteContexts(const Profile& profile, Page& page) {
  int64_t elapsed_ns = 0;
  for (const CpuRow& cpu : profile.cpus) elapsed_ns += cpu.elapsed_ns;
  const std::vector<ContextRow> contexts = MergedContexts(profile);
  std::vector<Row> rows;
  for (size_t i = 0; i < std::min(contexts.size(), kRowsShown); ++i) {
    const ContextRow& row = contexts[i];
    std::string name = Printable(row.name, 28);
    if (row.irq) absl::StrAppend(&name, " (irq ", *row.irq, ")");
    const double count = static_cast<double>(row.count);
    rows.push_back(
        {{Printable(row.kind, 8)},
         {name},
         {Grouped(count)},
         {Seconds(row.self_ns)},
         {Share(row.self_ns, elapsed_ns)},
         {row.count > 0 ? Micros(static_cast<double>(row.self_ns) / count) : kNotMeasured},
         {Micros(static_cast<double>(row.max_ns))}});
  }
  if (rows.empty()) return;
  page.Heading("Contexts that took the time, over all CPUs");
  page.Table({{"context", "", true},
              {"name", "", true},
              {"count", ""},
              {"self", "s"},
              {"share", "%"},
              {"mean self", "us"},
              {"longest total", "us"}},
             rows);
  WriteMore(contexts.size(), page);
}

void WriteNapi(const Profile& profile, Page& page) {
  std::vector<Row> rows;
  for (const NapiRow& row : profile.napi) {
    if (rows.size() == kRowsShown) break;
    rows.push_back({{Printable(row.netdev, 16)},
                    {row.driver.empty() ? kNotMeasured : Printable(row.driver, 16)},
                    {absl::StrCat(row.cpu)},
                    {Printable(row.where, 10)},
                    {Grouped(static_cast<double>(row.polls))},
                    {Grouped(static_cast<double>(row.packets))},
                    {Grouped(static_cast<double>(row.budget_exhausted))},
                    {row.self_ns ? Seconds(*row.self_ns) : kNotMeasured}});
  }
  if (rows.empty()) return;
  page.Heading("NAPI polls");
  page.Table({{"netdev", "", true},
              {"driver", "", true},
              {"cpu", ""},
              {"runs in", "", true},
              {"polls", ""},
              {"packets", ""},
              {"budget used up", ""},
              {"self", "s"}},
             rows);
  WriteMore(profile.napi.size(), page);
}

void WriteTasks(const Profile& profile, Page& page) {
  std::vector<Row> rows;
  for (size_t i = 0; i < std::min(profile.tasks.size(), kRowsShown); ++i) {
    const TaskRow& task = profile.tasks[i];
    std::string thief = kNotMeasured;
    if (!task.stolen_by.empty())
      thief = absl::StrCat(Printable(task.stolen_by[0].kind, 8), " ",
                           Printable(task.stolen_by[0].name, 20));
    rows.push_back({{absl::StrCat(task.pid)},
                    {Printable(task.comm, 16)},
                    {Seconds(task.on_cpu_ns)},
                    {Seconds(task.own_ns)},
                    {Seconds(task.stolen.Sum())},
                    {Seconds(task.kernel.utime_ns)},
                    {Seconds(task.kernel.stime_ns)},
                    {thief}});
  }
  if (rows.empty()) return;
  page.Heading("Tasks: own and stolen as measured, user and sys as the kernel charged them");
  page.Table({{"pid", ""},
              {"name", "", true},
              {"on CPU", "s"},
              {"own", "s"},
              {"stolen", "s"},
              {"user", "s"},
              {"sys", "s"},
              {"most stolen by", "", true}},
             rows);
  WriteMore(profile.tasks.size(), page);
}

void WriteFindings(const Profile& profile, Page& page) {
  if (profile.findings.empty()) return;
  page.Heading("Against the kernel's ledgers");
  for (const Finding& finding : profile.findings)
    page.Paragraph(absl::StrCat(Printable(finding.verdict, 14), ": "),
                   Printable(finding.text, 400));
}

void WriteSelfCost(const Profile& profile, Page& page) {
  std::string text = Count(profile.self_cost.events, "event");
  absl::StrAppend(&text, profile.self_cost.ns
                             ? absl::StrCat(", ", Seconds(*profile.self_cost.ns), " s in all")
                             : ", time not measured");
  page.Fact("irqprof", text);
}

}  // namespace

void WriteProfile(const Result& result, const Profile& profile, Page& page) {
  page.Heading(absl::StrCat("irqprof ", Printable(result.command, 10)));
  if (profile.Tainted()) WriteTaintedAlarm(profile.losses, page);
  page.Gap();
  page.Fact("Place", PlaceText(result.place, profile.host));
  page.Fact("Elapsed", Seconds(profile.elapsed_ns) + " s");
  page.Fact("Losses", LossText(profile.losses));
  WriteUnseen(profile.host.absent_hooks, profile.hidden_switches, page);
  WriteSelfCost(profile, page);
  WriteCpus(profile, page);
  WriteContexts(profile, page);
  WriteNapi(profile, page);
  WriteTasks(profile, page);
  WriteFindings(profile, page);
}

}  // namespace irqprof
