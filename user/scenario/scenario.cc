#include "user/scenario/scenario.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/lab/modules.h"
#include "user/model/metrics.h"
#include "user/scenario/toml_reader.h"

namespace irqprof {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".toml";

// Arm names are typed in lists (--arms rl,de) and stand in file and test names.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= 32 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string NamesOfMetrics() {
  return absl::StrJoin(KnownMetrics(), ", ", [](std::string* out, const MetricInfo& metric) {
    out->append(metric.name);
  });
}

void ReadMetrics(TomlReader& reader, std::vector<std::string>& metrics) {
  reader.Texts("metrics", metrics);
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (FindMetric(metrics[i]) == nullptr)
      reader.Refuse(
          "metrics",
          absl::StrCat("unknown metric \"", metrics[i], "\"; there are: ", NamesOfMetrics()), i);
    if (std::count(metrics.begin(), metrics.begin() + i, metrics[i]) > 0)
      reader.Refuse("metrics", absl::StrCat("metric \"", metrics[i], "\" is named twice"), i);
  }
}

void ReadSettings(const toml::table& table, const std::string& path, absl::Status& status,
                  std::map<std::string, std::string>& settings) {
  TomlReader reader(table, path, "settings", {"kernel_parameters"}, status);
  std::string parameters;
  reader.Text("kernel_parameters", parameters, TomlReader::kOptional);
  if (!parameters.empty()) settings["kernel_parameters"] = parameters;
}

ScenarioArm ReadArm(const toml::table& table, const std::string& path, absl::Status& status) {
  TomlReader reader(table, path, "[[arm]]", {"name", "nic", "title", "default", "settings"},
                    status);
  ScenarioArm arm;
  reader.Text("name", arm.name, TomlReader::kRequired);
  if (status.ok() && !IsPlainName(arm.name))
    reader.Refuse("name",
                  "the name of an arm must be 1 to 32 letters, digits, dots, dashes or "
                  "underscores");
  reader.Text("nic", arm.nic, TomlReader::kRequired);
  const std::vector<std::string> models = lab::KnownNicModels();
  if (status.ok() && std::find(models.begin(), models.end(), arm.nic) == models.end())
    reader.Refuse("nic", absl::StrCat("unknown NIC model \"", arm.nic, "\"; expected one of ",
                                      absl::StrJoin(models, ", ")));
  arm.title = arm.name;
  reader.Text("title", arm.title, TomlReader::kOptional);
  reader.Flag("default", arm.by_default);
  if (const toml::table* settings = reader.Table("settings", TomlReader::kOptional))
    ReadSettings(*settings, path, status, arm.settings);
  return arm;
}

void ReadArms(TomlReader& top, const std::string& path, absl::Status& status,
              std::vector<ScenarioArm>& arms) {
  std::set<std::string> names;
  bool any_by_default = false;
  size_t index = 0;
  for (const toml::table* table : top.Tables("arm")) {
    arms.push_back(ReadArm(*table, path, status));
    if (!names.insert(arms.back().name).second)
      top.Refuse("arm", absl::StrCat("there is an arm \"", arms.back().name, "\" already"), index);
    any_by_default |= arms.back().by_default;
    ++index;
  }
  if (!any_by_default) top.Refuse("arm", "no arm runs by default; leave out one \"default\"");
}

void ReadWork(TomlReader& top, const std::string& path, absl::Status& status, Scenario& scenario) {
  if (const toml::table* table = top.Table("competitor", TomlReader::kOptional)) {
    TomlReader reader(*table, path, "[competitor]", {"lab_iterations", "live_alone_s"}, status);
    reader.Whole("lab_iterations", int64_t{1}, int64_t{1'000'000'000'000},
                 scenario.competitor.lab_iterations);
    reader.Number("live_alone_s", 0.01, 3600, scenario.competitor.live_alone_s);
  }
  if (const toml::table* table = top.Table("stream", TomlReader::kOptional)) {
    TomlReader reader(*table, path, "[stream]", {"direction", "block_bytes"}, status);
    std::string& direction = scenario.stream.direction;
    reader.Text("direction", direction, TomlReader::kOptional);
    if (direction != "send" && direction != "receive")
      reader.Refuse("direction", absl::StrCat("\"direction\" in [stream] must be \"send\" or "
                                              "\"receive\", not \"",
                                              direction, "\""));
    reader.Whole("block_bytes", 1, 16 << 20, scenario.stream.block_bytes);
  }
  if (const toml::table* table = top.Table("lab", TomlReader::kOptional)) {
    TomlReader reader(*table, path, "[lab]", {"cpus", "wire_interval_us"}, status);
    reader.Whole("cpus", 1, 64, scenario.lab.cpus);
    reader.Whole("wire_interval_us", 0, 1'000'000, scenario.lab.wire_interval_us);
  }
}

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kSuffix) names.push_back(entry->path().stem().string());
  }
  if (error)
    return absl::NotFoundError(
        absl::StrCat("cannot list the scenarios in ", directory, ": ", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Scenario> LoadFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTomlFile(path);
  if (!text.ok()) return text.status();
  return ParseScenario(*text, path);
}

}  // namespace

absl::StatusOr<Scenario> ParseScenario(std::string_view text, const std::string& path) {
  const absl::StatusOr<toml::table> table = ParseToml(text, path);
  if (!table.ok()) return table.status();
  absl::Status status;
  TomlReader top(
      *table, path, "",
      {"title", "question", "rounds", "metrics", "reference", "competitor", "stream", "lab", "arm"},
      status);
  Scenario scenario;
  scenario.path = path;
  scenario.name = fs::path(path).stem().string();
  top.Text("title", scenario.title, TomlReader::kRequired);
  top.Text("question", scenario.question, TomlReader::kRequired);
  top.Whole("rounds", 1, 1000, scenario.rounds);
  ReadMetrics(top, scenario.metrics);
  std::string reference;
  top.Text("reference", reference, TomlReader::kOptional);
  if (!reference.empty()) scenario.reference = fs::path(path).parent_path() / reference;
  ReadWork(top, path, status, scenario);
  ReadArms(top, path, status, scenario.arms);
  if (!status.ok()) return status;
  return scenario;
}

absl::StatusOr<Scenario> LoadScenario(const std::string& name_or_path,
                                      const std::string& directory) {
  if (absl::StrContains(name_or_path, '/') || absl::EndsWith(name_or_path, kSuffix))
    return LoadFile(name_or_path);
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(directory);
  if (!names.ok()) return names.status();
  if (std::find(names->begin(), names->end(), name_or_path) == names->end())
    return absl::NotFoundError(
        absl::StrCat("no scenario \"", name_or_path, "\" in ", directory, "; there ",
                     names->empty() ? "are none" : "are: ", absl::StrJoin(*names, ", ")));
  return LoadFile(fs::path(directory) / (name_or_path + kSuffix));
}

absl::StatusOr<std::vector<ListedScenario>> ListScenarios(const std::string& directory) {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(directory);
  if (!names.ok()) return names.status();
  std::vector<ListedScenario> listed;
  for (const std::string& name : *names)
    listed.push_back({name, LoadFile(fs::path(directory) / (name + kSuffix))});
  return listed;
}

}  // namespace irqprof
