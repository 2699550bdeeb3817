#include <cmath>
#include <nlohmann/json.hpp>

#include "user/model/result_fields.h"
#include "user/model/result_json.h"

namespace irqprof {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of Fields()

constexpr size_t kColumns = 100;

Json ToJson(int value) { return value; }
Json ToJson(int64_t value) { return value; }
Json ToJson(uint64_t value) { return value; }
Json ToJson(double value) { return value; }
Json ToJson(const std::string& value) { return value; }
Json ToJson(const std::pair<int64_t, int64_t>& value) {
  return Json::array({value.first, value.second});
}
template <class T>
Json ToJson(const std::vector<T>& values);
template <class T>
Json ToJson(const std::map<std::string, T>& values);
template <class Record>
Json ToJson(const Record& record);

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  void Required(const char* key, const auto& value) { object_[key] = ToJson(value); }
  void Extra(const char* key, const auto& value) { Required(key, value); }
  template <class T>
  void Nullable(const char* key, const std::optional<T>& value) {
    object_[key] = value ? ToJson(*value) : Json(nullptr);
  }
  template <class T>
  void Omittable(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = ToJson(*value);
  }

 private:
  Json& object_;
};

template <class T>
Json ToJson(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(ToJson(value));
  return array;
}

template <class T>
Json ToJson(const std::map<std::string, T>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) {
    if constexpr (std::is_same_v<T, double>)
      if (!std::isfinite(value)) continue;
    object[key] = ToJson(value);
  }
  return object;
}

template <class Record>
Json ToJson(const Record& record) {
  Json object = Json::object();
  Writer writer(object);
  Fields(writer, record);
  return object;
}

std::string OneLine(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What fits on a line stays on one, so that a row of a table is a row of the file.
void AppendLines(const Json& value, size_t indent, std::string& out) {
  std::string flat = OneLine(value);
  if (!value.is_structured() || indent + flat.size() <= kColumns) {
    out += flat;
    return;
  }
  const char* separator = "\n";
  out += value.is_object() ? '{' : '[';
  for (const auto& item : value.items()) {
    out += separator;
    out.append(indent + 1, ' ');
    if (value.is_object()) out += OneLine(item.key()) + ": ";
    AppendLines(item.value(), indent + 1, out);
    separator = ",\n";
  }
  out += '\n';
  out.append(indent, ' ');
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::string ResultToJson(const Result& result) {
  std::string text;
  AppendLines(ToJson(result), 0, text);
  text += '\n';
  return text;
}

std::string RunToJson(const Run& run) { return OneLine(ToJson(run)); }

std::string ProfileToJson(const Profile& profile) { return OneLine(ToJson(profile)); }

}  // namespace irqprof
