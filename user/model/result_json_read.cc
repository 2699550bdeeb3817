#include <limits>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "user/model/result_fields.h"
#include "user/model/result_json.h"
#include "user/model/statistics.h"

namespace irqprof {
namespace {

using Json =
    nlohmann::json;  // not ordered_json: its look-up is linear, a hostile file could hang it

constexpr int kMaxDepth = 64;  // a result has about 10 levels

// Where in the file we are; a chain on the stack, spelt out only for an error.
struct Place {
  const Place* parent = nullptr;
  std::string_view key = {};
  size_t index = 0;  // where `key` is empty
};

std::string Printable(std::string_view name) {
  return absl::Utf8SafeCHexEscape(std::string(name.substr(0, 60)));
}

std::string Spell(const Place& place) {
  if (place.parent == nullptr) return "";
  const std::string around = Spell(*place.parent);
  if (place.key.data() == nullptr) return absl::StrCat(around, "[", place.index, "]");
  return absl::StrCat(around, around.empty() ? "" : ".", Printable(place.key));
}

// Reads one value; the first thing wrong is kept in `error`, the rest is then idle.
class Reader {
 public:
  Reader(const Json& node, const Place& place, std::string& error)
      : node_(node), place_(place), error_(error) {}

  // The verbs of Fields(), on an object.
  void Required(const char* key, auto& value) {
    if (const Json* found = Find(key)) {
      ReadChild(*found, {&place_, key}, value);
    } else if (error_.empty()) {
      const std::string around = Spell(place_);
      error_ = absl::StrCat(around.empty() ? "the result" : around, " must have \"", key, "\"");
    }
  }
  void Extra(const char* key, auto& value) {
    if (const Json* found = Find(key)) ReadChild(*found, {&place_, key}, value);
  }
  template <class T>
  void Omittable(const char* key, std::optional<T>& value) {
    const Json* found = Find(key);
    if (found == nullptr || found->is_null()) return;
    ReadChild(*found, {&place_, key}, value.emplace());
  }
  template <class T>
  void Nullable(const char* key, std::optional<T>& value) {
    Omittable(key, value);
  }

  void Read(std::string& value) {
    if (Expect(node_.is_string(), "a string")) value = node_.get<std::string>();
  }
  void Read(double& value) {
    if (Expect(node_.is_number(), "a number")) value = node_.get<double>();
  }
  template <std::integral Integer>
  void Read(Integer& value) {
    using Limits = std::numeric_limits<Integer>;
    if (!Expect(node_.is_number_integer(), "a whole number")) return;
    const bool fits = node_.is_number_unsigned() ? std::in_range<Integer>(node_.get<uint64_t>())
                                                 : std::in_range<Integer>(node_.get<int64_t>());
    if (Expect(fits, absl::StrCat("within ", Limits::min(), "..", Limits::max()), ""))
      value = static_cast<Integer>(node_.is_number_unsigned() ? node_.get<uint64_t>()
                                                              : node_.get<int64_t>());
  }
  void Read(std::pair<int64_t, int64_t>& value) {
    if (!Expect(node_.is_array() && node_.size() == 2, "a pair of whole numbers")) return;
    ReadChild(node_[0], {&place_, {}, 0}, value.first);
    ReadChild(node_[1], {&place_, {}, 1}, value.second);
  }
  template <class T>
  void Read(std::vector<T>& values) {
    if (!Expect(node_.is_array(), "an array")) return;
    for (size_t i = 0; i < node_.size() && error_.empty(); ++i)
      ReadChild(node_[i], {&place_, {}, i}, values.emplace_back());
  }
  template <class T>
  void Read(std::map<std::string, T>& values) {
    if (!Expect(node_.is_object(), "an object")) return;
    for (const auto& [key, child] : node_.items())
      if (error_.empty()) ReadChild(child, {&place_, key}, values[key]);
  }
  template <class Record>
  void Read(Record& record) {
    if (Expect(node_.is_object(), "an object")) Fields(*this, record);
  }

 private:
  const Json* Find(const char* key) const {
    if (!error_.empty()) return nullptr;
    const auto found = node_.find(key);
    return found == node_.end() ? nullptr : &*found;
  }

  void ReadChild(const Json& child, const Place& place, auto& value) {
    Reader(child, place, error_).Read(value);
  }

  bool Expect(bool holds, const std::string& expected) {
    return Expect(holds, expected, absl::StrCat(", not ", Article(node_.type_name())));
  }
  bool Expect(bool holds, const std::string& expected, const std::string& instead) {
    if (holds || !error_.empty()) return holds && error_.empty();
    const std::string where = Spell(place_);
    error_ = absl::StrCat(where.empty() ? "the top" : where, " must be ", expected, instead);
    return false;
  }

  static std::string Article(const std::string& type) {
    if (type == "null") return type;
    return absl::StrCat(type == "array" || type == "object" ? "an " : "a ", type);
  }

  const Json& node_;
  const Place& place_;
  std::string& error_;
};

bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  for (const char c : text) {
    if (escaped) {
      escaped = false;
    } else if (in_string) {
      escaped = c == '\\';
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

absl::Status NotJson(const std::string& path, std::string_view text, size_t byte) {
  if (byte > text.size())
    return absl::DataLossError(
        absl::StrCat(path, " ends in the middle of a value: it was cut off, make it again"));
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  size_t line = 1;
  for (char c : before) line += c == '\n';
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 == 0
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ":", column,
                                                 ": not valid JSON; expected a file that "
                                                 "irqprof wrote with -o"));
}

absl::StatusOr<Json> ParseText(std::string_view text, const std::string& path) {
  if (text.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is empty; expected a file that irqprof wrote with -o"));
  if (TooDeep(text))
    return absl::InvalidArgumentError(absl::StrCat(path, " is nested deeper than ", kMaxDepth,
                                                   " levels; this is no result of irqprof"));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return NotJson(path, text, error.byte);
  } catch (const Json::exception&) {  // a number too large for any type
    return absl::InvalidArgumentError(
        absl::StrCat(path, " holds a number beyond any measurement; this is no result of irqprof"));
  }
}

absl::Status CheckSchema(const Json& root, const std::string& path) {
  if (!root.is_object() || !root.contains("schema") || !root["schema"].is_string())
    return absl::InvalidArgumentError(absl::StrCat(path, ": no \"schema\" at the top; expected \"",
                                                   kResultSchema, "\" as irqprof writes it"));
  const std::string schema = root["schema"].get<std::string>();
  if (schema == kResultSchema) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": schema is \"", Printable(schema),
                                                 "\"; this irqprof reads \"", kResultSchema, "\""));
}

template <class Record>
absl::StatusOr<Record> FromJson(const Json& root, const std::string& path) {
  Record record;
  std::string error;
  const Place top;
  Reader(root, top, error).Read(record);
  if (!error.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error));
  return record;
}

template <class Record>
absl::StatusOr<Record> Parse(std::string_view text, const std::string& path) {
  const absl::StatusOr<Json> root = ParseText(text, path);
  if (!root.ok()) return root.status();
  return FromJson<Record>(*root, path);
}

}  // namespace

absl::StatusOr<Result> ParseResult(std::string_view text, const std::string& path) {
  const absl::StatusOr<Json> root = ParseText(text, path);
  if (!root.ok()) return root.status();
  if (absl::Status schema = CheckSchema(*root, path); !schema.ok()) return schema;
  absl::StatusOr<Result> result = FromJson<Result>(*root, path);
  if (!result.ok()) return result;
  const bool is_run = result->command == "run";
  if (!is_run && result->command != "record" && result->command != "stat")
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": command is \"", Printable(result->command), "\"; expected run, record or stat"));
  if (is_run ? result->arms.empty() : !result->profile.has_value())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a result of `", result->command, "` must have ",
                     is_run ? "at least one of \"arms\"" : "a \"profile\""));
  for (Arm& arm : result->arms)
    if (arm.summary.empty()) arm.summary = Summarize(arm.runs);
  return result;
}

absl::StatusOr<Run> ParseRun(std::string_view text, const std::string& path) {
  return Parse<Run>(text, path);
}

absl::StatusOr<Profile> ParseProfile(std::string_view text, const std::string& path) {
  return Parse<Profile>(text, path);
}

}  // namespace irqprof
