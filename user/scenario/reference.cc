// The published tables that stand beside a scenario's own measurement.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/model/metrics.h"
#include "user/scenario/scenario.h"
#include "user/scenario/toml_reader.h"

namespace irqprof {
namespace {

Metrics ReadRowMetrics(const toml::table& table, const std::string& path, absl::Status& status) {
  std::vector<std::string> known;
  for (const MetricInfo& metric : KnownMetrics()) known.emplace_back(metric.name);
  TomlReader reader(table, path, "metrics", known, status);
  if (table.empty()) reader.Refuse("", "\"metrics\" in [[row]] must have at least one metric");
  Metrics metrics;
  for (const std::string& name : known)
    if (table.contains(name)) reader.Number(name.c_str(), 0, 1e9, metrics[name]);
  return metrics;
}

Reference ReadRow(const toml::table& table, const std::string& path, const Scenario& scenario,
                  absl::Status& status) {
  TomlReader reader(table, path, "[[row]]", {"system", "arm", "metrics"}, status);
  Reference row;
  reader.Text("system", row.system, TomlReader::kRequired);
  reader.Text("arm", row.arm, TomlReader::kRequired);
  const bool known = std::any_of(scenario.arms.begin(), scenario.arms.end(),
                                 [&](const ScenarioArm& arm) { return arm.name == row.arm; });
  if (!known)
    reader.Refuse(
        "arm", absl::StrCat(
                   "unknown arm \"", row.arm, "\"; scenario ", scenario.name, " has: ",
                   absl::StrJoin(scenario.arms, ", ", [](std::string* out, const ScenarioArm& arm) {
                     out->append(arm.name);
                   })));
  if (const toml::table* metrics = reader.Table("metrics", TomlReader::kRequired))
    row.metrics = ReadRowMetrics(*metrics, path, status);
  return row;
}

}  // namespace

absl::StatusOr<std::vector<Reference>> ParseReference(std::string_view text,
                                                      const std::string& path,
                                                      const Scenario& scenario) {
  const absl::StatusOr<toml::table> table = ParseToml(text, path);
  if (!table.ok()) return table.status();
  absl::Status status;
  TomlReader top(*table, path, "", {"source", "row"}, status);
  std::string source;
  top.Text("source", source, TomlReader::kRequired);
  std::vector<Reference> rows;
  for (const toml::table* row : top.Tables("row")) {
    rows.push_back(ReadRow(*row, path, scenario, status));
    rows.back().source = source;
  }
  if (!status.ok()) return status;
  return rows;
}

absl::StatusOr<std::vector<Reference>> LoadReference(const Scenario& scenario) {
  if (scenario.reference.empty()) return std::vector<Reference>{};
  const absl::StatusOr<std::string> text = ReadTomlFile(scenario.reference);
  if (!text.ok()) return text.status();
  return ParseReference(*text, scenario.reference, scenario);
}

}  // namespace irqprof
