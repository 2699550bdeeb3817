// The report of `irqprof run`: one block per idea, arms as rows.
#include <algorithm>
#include <climits>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/model/metrics.h"
#include "user/model/statistics.h"
#include "user/report/arm_figures.h"
#include "user/report/figures.h"
#include "user/report/finding_text.h"
#include "user/report/printable.h"
#include "user/report/sections.h"

namespace irqprof {
namespace {

constexpr size_t kArmColumns = 16;
constexpr size_t kThievesShown = 3;

struct MetricColumn {
  std::string metric;
  std::string label;  // shorter than the metric's own, in the company of its table
};

std::string ArmName(const Arm& arm) { return Printable(arm.name, kArmColumns); }

std::map<std::string, int64_t> AllLosses(const Result& result) {
  std::map<std::string, int64_t> losses;
  for (const Arm& arm : result.arms)
    for (const Run& run : arm.runs)
      if (run.profile)
        for (const auto& [cause, count] : run.profile->losses) losses[cause] += count;
  return losses;
}

int64_t AllHiddenSwitches(const Result& result) {
  int64_t switches = 0;
  for (const Arm& arm : result.arms)
    for (const Run& run : arm.runs)
      if (run.profile) switches += run.profile->hidden_switches;
  return switches;
}

const Profile* FirstProfile(const Result& result) {
  for (const Arm& arm : result.arms)
    for (const Run& run : arm.runs)
      if (run.profile) return &*run.profile;
  return nullptr;
}

std::string ClockText(const std::string& clock) {
  if (clock == "instructions") return "instruction-counted clock";
  return Printable(clock, 20) + " clock";
}

void WritePlace(const Result& result, Page& page) {
  page.Gap();
  const Profile* profile = FirstProfile(result);
  page.Fact("Place", profile != nullptr
                         ? PlaceText(result.place, profile->host)
                         : Printable(result.place, 20) + ", measured without a profile");
  const Provenance& made = result.provenance;
  std::string rounds =
      absl::StrCat(made.rounds, " of each arm, shuffled (seed ", made.order_seed, ")");
  if (!made.clock.empty()) absl::StrAppend(&rounds, ", ", ClockText(made.clock));
  if (made.wall_s > 0) absl::StrAppend(&rounds, ", ", Fixed(made.wall_s, 0), " s in all");
  page.Fact("Rounds", rounds);
}

void WriteNics(const Result& result, Page& page) {
  std::vector<std::string> arms;
  for (const Arm& arm : result.arms) {
    std::string text = ArmName(arm);
    if (!arm.nic.model.empty()) absl::StrAppend(&text, " = ", Printable(arm.nic.model, 24));
    if (!arm.nic.driver.empty()) absl::StrAppend(&text, ", driver ", Printable(arm.nic.driver, 24));
    for (const auto& [key, value] : arm.settings)
      absl::StrAppend(&text, ", ", Printable(key, 24), " ", Printable(value, 40));
    arms.push_back(text);
  }
  page.Fact("Arms", absl::StrJoin(arms, "; "));
}

void WriteMetricTable(const Result& result, const std::string& heading,
                      const std::vector<MetricColumn>& shown, Page& page) {
  std::vector<Column> columns = {{"arm", "", true}};
  for (const MetricColumn& column : shown)
    columns.push_back({column.label, MetricUnit(column.metric)});
  std::vector<Row> rows;
  for (const Arm& arm : result.arms) {
    Row row = {{ArmName(arm)}};
    for (const MetricColumn& column : shown)
      row.push_back(IntervalCell(column.metric, ArmInterval(arm, column.metric)));
    rows.push_back(std::move(row));
  }
  page.Heading(heading);
  page.Table(columns, rows);
}

// "3 rounds", "2 to 4 rounds"; empty where no metric has that many.
std::string RoundsText(const std::set<int>& counts, int from, int below) {
  const auto first = counts.lower_bound(from);
  const auto end = counts.lower_bound(below);
  if (first == end) return "";
  const int last = *std::prev(end);
  return absl::StrCat(*first == last ? "" : absl::StrCat(*first, " to "), last, " rounds");
}

// What the line below each median is, or why there is none.
void WriteIntervalNote(const Result& result, Page& page) {
  std::set<int> counts;
  for (const Arm& arm : result.arms)
    for (const auto& [metric, interval] : arm.summary) counts.insert(interval.n);
  if (counts.empty()) return;
  page.Gap();
  if (*counts.rbegin() < 2) {
    page.Note("One round: it carries no interval.");
    return;
  }
  std::vector<std::string> methods;
  if (const std::string few = RoundsText(counts, 2, kOrderStatisticsFrom); !few.empty())
    methods.push_back(absl::StrCat("Student's t over ", few, ", taken as normally spread"));
  const std::string many = RoundsText(counts, kOrderStatisticsFrom, INT_MAX);
  if (!many.empty()) methods.push_back(absl::StrCat("order statistics over ", many));
  page.Note(absl::StrCat("Medians; below each the 95 % interval (", absl::StrJoin(methods, "; "),
                         ").", *counts.begin() < 2 ? " One round carries no interval." : ""));
}

// Of the metrics the scenario measured, those no other table shows.
void WriteFurtherMetrics(const Result& result, const std::set<std::string>& shown, Page& page) {
  std::vector<MetricColumn> further;
  std::set<std::string> measured;
  for (const Arm& arm : result.arms)
    for (const auto& [metric, interval] : arm.summary) measured.insert(metric);
  for (const MetricInfo& info : KnownMetrics()) {
    const std::string name(info.name);
    if (measured.count(name) != 0 && shown.count(name) == 0)
      further.push_back({name, std::string(info.label)});
  }
  if (!further.empty()) WriteMetricTable(result, "Cost of the traffic", further, page);
}

void WriteTables(const Result& result, bool tainted, Page& page) {
  const std::vector<MetricColumn> competitor = {
      {"competitor_real_s", "real"},     {"competitor_user_s", "user"},
      {"competitor_sys_s", "sys"},       {"competitor_own_s", "own"},
      {"competitor_stolen_s", "stolen"}, {"competitor_slowdown", "slowdown"}};
  const std::vector<MetricColumn> stream = {
      {"stream_mib_per_s", "stream"},
      {"interrupts_per_s", "interrupts"},
      {"interrupt_share", tainted ? "measured share" : "exact share"},
      {"kernel_interrupt_share", "kernel's share"},
      {"hidden_share", "hidden"}};
  const std::vector<MetricColumn> split = {{"hardirq_share", "hardirq"},
                                           {"vector_share", "vector"},
                                           {"softirq_share", "softirq"},
                                           {"napi_share", "NAPI of the NIC"}};
  WriteMetricTable(result,
                   "The competitor: user and sys as the kernel charged it, own and stolen as "
                   "measured",
                   competitor, page);
  WriteMetricTable(result, "The stream, and interrupt time as share of the CPU", stream, page);
  WriteMetricTable(
      result,
      absl::StrCat(tainted ? "Measured" : "Exact",
                   " interrupt time by context (NAPI: the part that polls the arm's NIC)"),
      split, page);
  std::set<std::string> shown = {"competitor_alone_s", "competitor_unobserved_s"};
  for (const auto* table : {&competitor, &stream, &split})
    for (const MetricColumn& column : *table) shown.insert(column.metric);
  WriteFurtherMetrics(result, shown, page);
  WriteIntervalNote(result, page);
}

void WriteUnobserved(const Result& result, Page& page) {
  std::vector<std::string> arms;
  bool calibrated = false;
  for (const Arm& arm : result.arms) {
    const Interval interval = ArmInterval(arm, "competitor_unobserved_s");
    calibrated |= interval.n > 0;
    arms.push_back(absl::StrCat(
        ArmName(arm), interval.n > 0 ? " " + Fixed(interval.median, 3) + " s" : " not calibrated"));
  }
  const std::string what =
      "entry and exit of interrupts on the competitor, and the preemptions they cause, outside "
      "every hook: ";
  page.Gap();
  page.Fact("Unobserved",
            calibrated ? absl::StrCat(what, absl::StrJoin(arms, ", "), "; calibrated ",
                                      result.place == "lab" ? "in the same guest" : "on this host",
                                      "; part of own, not in the partition")
                       : absl::StrCat(what, "not calibrated"));
}

void WriteFindings(const Result& result, bool tainted, Page& page) {
  page.Heading("Where the interrupt time went");
  for (const Arm& arm : result.arms) {
    const std::string name = ArmName(arm) + ": ";
    const std::string indent(DisplayColumns(name), ' ');
    page.Paragraph(name, FindingText(arm, tainted));
    const std::string charge = ChargeText(arm);
    if (!charge.empty()) page.Paragraph(indent, charge);
    const std::string proof = ProofText(arm);
    if (!proof.empty()) page.Paragraph(indent + "proof: ", proof);
  }
}

void WriteThieves(const Result& result, Page& page) {
  std::vector<Row> rows;
  for (const Arm& arm : result.arms) {
    std::string name = ArmName(arm);
    std::vector<Thief> thieves = ThievesOfCompetitor(arm);
    thieves.resize(std::min(thieves.size(), kThievesShown));
    for (const Thief& thief : thieves) {
      rows.push_back({{name},
                      {Printable(thief.kind, 12)},
                      {Printable(thief.name, 40)},
                      {Fixed(thief.s, 3)},
                      {Percent(thief.share)}});
      name.clear();
    }
  }
  if (rows.empty()) return;
  page.Heading("Who stole from the competitor");
  page.Table({{"arm", "", true},
              {"context", "", true},
              {"name", "", true},
              {"stolen", "s"},
              {"of all stolen", "%"}},
             rows);
}

// Why the ratio of real can be far from 1 when that of the stream is not.
void WriteFeedback(const Result& result, Page& page) {
  std::vector<std::string> arms;
  for (const Arm& arm : result.arms) {
    const auto ratio = arm.probe_effect.find("competitor_real_s");
    const Interval real = ArmInterval(arm, "competitor_real_s");
    const Interval alone = ArmInterval(arm, "competitor_alone_s");
    if (ratio == arm.probe_effect.end() || real.n == 0 || real.median <= 0 || alone.n == 0)
      continue;
    const double share = alone.median / real.median;
    arms.push_back(absl::StrCat(ArmName(arm), " ", Percent(share), " / ",
                                Percent(share * ratio->second), " %"));
  }
  if (!arms.empty())
    page.Note(absl::StrCat("Real follows what the stream leaves the competitor of the CPU: ",
                           absl::StrJoin(arms, ", "), "."));
}

void WriteProbeEffect(const Result& result, Page& page) {
  std::set<std::string> measured;
  for (const Arm& arm : result.arms)
    for (const auto& [metric, ratio] : arm.probe_effect) measured.insert(metric);
  if (measured.empty()) {
    page.Gap();
    page.Paragraph("Probe effect: ", "not measured");
    return;
  }
  std::vector<Column> columns = {{"arm", "", true}};
  std::vector<std::string> metrics;
  for (const MetricInfo& info : KnownMetrics()) {
    if (measured.count(std::string(info.name)) == 0) continue;
    metrics.emplace_back(info.name);
    columns.push_back({std::string(info.label), "ratio"});
  }
  std::vector<Row> rows;
  for (const Arm& arm : result.arms) {
    Row row = {{ArmName(arm)}};
    for (const std::string& metric : metrics) {
      const auto found = arm.probe_effect.find(metric);
      row.push_back({found == arm.probe_effect.end() ? kNotMeasured : Fixed(found->second, 3)});
    }
    rows.push_back(std::move(row));
  }
  page.Heading("Probe effect: with irqprof's programs attached / without");
  page.Table(columns, rows);
  WriteFeedback(result, page);
}

// As many decimals as the most precise of the row's values: as it was printed.
int DecimalsOf(const Metrics& metrics, const std::string& unit) {
  int decimals = 0;
  for (const auto& [name, value] : metrics) {
    if (MetricUnit(name) != unit) continue;
    const std::string text = absl::StrCat(value);
    const size_t point = text.find('.');
    if (point != std::string::npos)
      decimals = std::max(decimals, std::min(3, static_cast<int>(text.size() - point - 1)));
  }
  return decimals;
}

Cell PublishedCell(const Metrics& row, const Metrics& all, const std::string& metric) {
  const auto found = row.find(metric);
  if (found == row.end()) return {kNotMeasured};
  const std::string unit = MetricUnit(metric);
  if (unit == "%") return {Percent(found->second)};
  // One row was timed by one program; a column of other units is one instrument.
  const int decimals = DecimalsOf(unit == "s" ? row : all, unit);
  const int widest = DecimalsOf(all, unit);
  std::string text = Fixed(found->second, decimals);
  // Blanks in place of the digits it lacks keep the points below each other.
  if (decimals < widest) text.append(widest - decimals + (decimals == 0 ? 1 : 0), ' ');
  return {text};
}

void WritePublished(const Result& result, Page& page) {
  std::vector<std::pair<const Arm*, const Reference*>> published;
  for (const Arm& arm : result.arms)
    for (const Reference& row : result.reference)
      if (row.arm == arm.name) published.emplace_back(&arm, &row);
  if (published.empty()) return;
  std::set<std::string> sources;
  Metrics all;  // per metric the value with most decimals
  for (const auto& [arm, row] : published) {
    sources.insert(Printable(row->source, 200));
    for (const auto& [name, value] : row->metrics) {
      const auto [kept, fresh] = all.emplace(name, value);
      if (!fresh && absl::StrCat(value).size() > absl::StrCat(kept->second).size())
        kept->second = value;
    }
  }
  std::vector<Column> columns = {{"arm", "", true}, {"system", "", true}};
  std::vector<std::string> metrics;
  for (const MetricInfo& info : KnownMetrics()) {
    if (all.count(std::string(info.name)) == 0) continue;
    metrics.emplace_back(info.name);
    columns.push_back({std::string(info.label), MetricUnit(info.name)});
  }
  std::vector<Row> rows;
  for (const auto& [arm, row] : published) {
    Row cells = {{ArmName(*arm)}, {Printable(row->system, 24)}};
    for (const std::string& metric : metrics)
      cells.push_back(PublishedCell(row->metrics, all, metric));
    rows.push_back(std::move(cells));
  }
  page.Heading(absl::StrCat("As published in ", absl::StrJoin(sources, "; ")));
  page.Table(columns, rows);
}

}  // namespace

void WriteRun(const Result& result, Page& page) {
  const std::map<std::string, int64_t> losses = AllLosses(result);
  const bool tainted = result.Tainted();
  page.Heading(absl::StrCat(Printable(result.scenario, 60),
                            result.provenance.question.empty() ? "" : ": ",
                            Printable(result.provenance.question, 300)));
  if (tainted) WriteTaintedAlarm(losses, page);
  WritePlace(result, page);
  WriteNics(result, page);
  const Profile* profile = FirstProfile(result);
  page.Fact("Losses", profile == nullptr ? "not known" : LossText(losses));
  if (profile != nullptr) WriteUnseen(profile->host.absent_hooks, AllHiddenSwitches(result), page);
  WriteTables(result, tainted, page);
  WriteUnobserved(result, page);
  WriteFindings(result, tainted, page);
  WriteThieves(result, page);
  WritePublished(result, page);
  WriteProbeEffect(result, page);
}

}  // namespace irqprof
