// One table of a TOML file, read strictly: only the keys that are asked for,
// only of the type asked for, only within the limits given.
//
// The first thing wrong is kept in `status` as "path:line: what was expected";
// after that every call does nothing, so a caller reads all its keys in a row
// and looks at the status once. A value whose key is absent stays as it is.
#ifndef IRQPROF_SCENARIO_TOML_READER_H_
#define IRQPROF_SCENARIO_TOML_READER_H_

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace irqprof {

// No exception escapes; a syntax error is one sentence with path:line.
absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path);

// The whole file; refuses what is no regular text file of at most 1 MiB.
absl::StatusOr<std::string> ReadTomlFile(const std::string& path);

class TomlReader {
 public:
  enum Need { kRequired, kOptional };

  // `name` is the table as it stands in the file: "[stream]", "[[arm]]"; empty
  // for the top. Any key that is not one of `keys` is refused. All that is
  // passed by reference must outlive the reader.
  TomlReader(const toml::table& table, const std::string& path, std::string name,
             const std::vector<std::string>& keys, absl::Status& status);

  void Text(const char* key, std::string& value, Need need);
  void Flag(const char* key, bool& value);
  void Whole(const char* key, int64_t low, int64_t high, int64_t& value);
  void Whole(const char* key, int low, int high, int& value);
  void Number(const char* key, double low, double high, double& value);
  void Texts(const char* key, std::vector<std::string>& values);  // never empty

  // Null, or no element, where the key is absent or something was wrong before.
  const toml::table* Table(const char* key, Need need);
  std::vector<const toml::table*> Tables(const char* key);  // at least one

  // Refuses a value for a reason of the caller's; `element` counts within an array.
  void Refuse(const char* key, const std::string& sentence, size_t element = 0);

 private:
  const toml::node* Find(const char* key, Need need);
  void RefuseAt(const toml::node& node, const std::string& sentence);
  std::string Named(std::string_view key) const;

  const toml::table& table_;
  const std::string& path_;
  const std::string name_;
  absl::Status& status_;
};

}  // namespace irqprof

#endif  // IRQPROF_SCENARIO_TOML_READER_H_
