#include "user/scenario/toml_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace irqprof {
namespace {

constexpr std::streamsize kMaxFileBytes = 1 << 20;

std::string Printable(std::string_view text) {
  return absl::Utf8SafeCHexEscape(std::string(text.substr(0, 60)));
}

// A value of the file may stand in the sentence, and TOML can spell any control character.
std::string OneLine(const std::string& sentence) {
  std::string line;
  for (const char c : sentence) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppend(&line, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else {
      line += c;
    }
  }
  return line;
}

std::string TypeOf(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

}  // namespace

absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.source().begin.line,
                     ": not valid TOML: ", Printable(error.description())));
  }
}

absl::StatusOr<std::string> ReadTomlFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return absl::NotFoundError(absl::StrCat(path, " is no file that can be read"));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::PermissionDeniedError(absl::StrCat("cannot read ", path, ": ", strerror(errno)));
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), kMaxFileBytes + 1);
  text.resize(file.gcount());
  if (file.gcount() > kMaxFileBytes)
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is larger than 1 MiB; this is no scenario file"));
  return text;
}

TomlReader::TomlReader(const toml::table& table, const std::string& path, std::string name,
                       const std::vector<std::string>& keys, absl::Status& status)
    : table_(table), path_(path), name_(std::move(name)), status_(status) {
  // Keys come in alphabetical order; the one to name is the first in the file.
  const toml::key* unknown = nullptr;
  for (const auto& [key, node] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    if (unknown == nullptr || key.source().begin.line < unknown->source().begin.line)
      unknown = &key;
  }
  if (unknown == nullptr || !status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(path_, ":", unknown->source().begin.line, ": unknown key \"",
                   Printable(unknown->str()), "\"", name_.empty() ? "" : " in ", name_,
                   "; expected ", keys.size() > 1 ? "one of " : "", absl::StrJoin(keys, ", ")));
}

void TomlReader::Text(const char* key, std::string& value, Need need) {
  const toml::node* node = Find(key, need);
  if (node == nullptr) return;
  if (!node->is_string())
    return RefuseAt(*node, absl::StrCat(Named(key), " must be a string, not ", TypeOf(*node)));
  value = node->as_string()->get();
  if (value.empty()) RefuseAt(*node, absl::StrCat(Named(key), " must not be empty"));
}

void TomlReader::Flag(const char* key, bool& value) {
  const toml::node* node = Find(key, kOptional);
  if (node == nullptr) return;
  if (!node->is_boolean())
    return RefuseAt(*node, absl::StrCat(Named(key), " must be true or false, not ", TypeOf(*node)));
  value = node->as_boolean()->get();
}

void TomlReader::Whole(const char* key, int64_t low, int64_t high, int64_t& value) {
  const toml::node* node = Find(key, kOptional);
  if (node == nullptr) return;
  const std::string expected =
      absl::StrCat(Named(key), " must be a whole number from ", low, " to ", high, ", not ");
  if (!node->is_integer()) return RefuseAt(*node, expected + TypeOf(*node));
  value = node->as_integer()->get();
  if (value < low || value > high) RefuseAt(*node, absl::StrCat(expected, value));
}

void TomlReader::Whole(const char* key, int low, int high, int& value) {
  int64_t wide = value;
  Whole(key, int64_t{low}, int64_t{high}, wide);
  if (status_.ok()) value = static_cast<int>(wide);
}

void TomlReader::Number(const char* key, double low, double high, double& value) {
  const toml::node* node = Find(key, kOptional);
  if (node == nullptr) return;
  const std::string expected =
      absl::StrCat(Named(key), " must be a number from ", low, " to ", high, ", not ");
  if (!node->is_number()) return RefuseAt(*node, expected + TypeOf(*node));
  value = *node->value<double>();
  // Said this way round so that nan is refused too.
  if (!(value >= low && value <= high)) RefuseAt(*node, absl::StrCat(expected, value));
}

void TomlReader::Texts(const char* key, std::vector<std::string>& values) {
  const toml::node* node = Find(key, kRequired);
  if (node == nullptr) return;
  const std::string expected = absl::StrCat(Named(key), " must be an array of strings");
  if (!node->is_array()) return RefuseAt(*node, absl::StrCat(expected, ", not ", TypeOf(*node)));
  if (node->as_array()->empty())
    return RefuseAt(*node, absl::StrCat(expected, " with at least one in it"));
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_string())
      return RefuseAt(element, absl::StrCat(expected, "; this one is ", TypeOf(element)));
    values.push_back(element.as_string()->get());
  }
}

const toml::table* TomlReader::Table(const char* key, Need need) {
  const toml::node* node = Find(key, need);
  if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
  RefuseAt(*node, absl::StrCat(Named(key), " must be a table, not ", TypeOf(*node)));
  return nullptr;
}

std::vector<const toml::table*> TomlReader::Tables(const char* key) {
  std::vector<const toml::table*> tables;
  const toml::node* node = Find(key, kRequired);
  if (node == nullptr) return tables;
  const std::string expected = absl::StrCat("expected tables under [[", key, "]], at least one");
  if (!node->is_array() || node->as_array()->empty()) {
    RefuseAt(*node, absl::StrCat(expected, ", not ", node->is_array() ? "none" : TypeOf(*node)));
    return tables;
  }
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_table()) RefuseAt(element, absl::StrCat(expected, ", not ", TypeOf(element)));
    if (!status_.ok()) return {};
    tables.push_back(element.as_table());
  }
  return tables;
}

void TomlReader::Refuse(const char* key, const std::string& sentence, size_t element) {
  const toml::node* node = table_.get(key);
  const toml::node* inner =
      node != nullptr && node->is_array() ? node->as_array()->get(element) : nullptr;
  if (inner != nullptr) node = inner;
  RefuseAt(node != nullptr ? *node : table_, sentence);
}

const toml::node* TomlReader::Find(const char* key, Need need) {
  if (!status_.ok()) return nullptr;
  const toml::node* node = table_.get(key);
  if (node == nullptr && need == kRequired)
    RefuseAt(table_, absl::StrCat(name_.empty() ? "the file" : name_, " must have \"", key, "\""));
  return node;
}

void TomlReader::RefuseAt(const toml::node& node, const std::string& sentence) {
  if (!status_.ok()) return;
  // The top table of a file has no place of its own.
  const uint32_t line = std::max<uint32_t>(1, node.source().begin.line);
  status_ = absl::InvalidArgumentError(absl::StrCat(path_, ":", line, ": ", OneLine(sentence)));
}

std::string TomlReader::Named(std::string_view key) const {
  return absl::StrCat("\"", std::string(key), "\"", name_.empty() ? "" : " in ", name_);
}

}  // namespace irqprof
