// A Result as JSON text and back: the file format `irqprof.result/1`.
//
// Writing cannot fail. Names that are not valid UTF-8 get U+FFFD for what is
// bad; a metric that is not finite has no JSON form and is left out. What was
// written reads back as the same value, but for these two. (Any other double
// must be finite: it would be written as null, and null is refused.)
//
// Reading takes any bytes and never crashes: whatever is wrong comes back as
// one sentence with `path` in front, which is only a name for the text ("r.json:
// arms[0].runs[1].metrics must be an object, not a number"). Another schema
// version is refused. Unknown keys are accepted and dropped; a missing key of
// the schema is refused where its absence would read as a measured zero. An arm
// without "summary" gets it from its runs.
//
// A Run or a Profile alone is the same JSON without what is around it: that is
// how a guest sends home what it measured.
#ifndef IRQPROF_MODEL_RESULT_JSON_H_
#define IRQPROF_MODEL_RESULT_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "user/model/result.h"

namespace irqprof {

// Lines of up to 100 columns where the values allow; ends with a newline.
std::string ResultToJson(const Result& result);
// One line, no newline.
std::string RunToJson(const Run& run);
std::string ProfileToJson(const Profile& profile);

absl::StatusOr<Result> ParseResult(std::string_view text, const std::string& path);
absl::StatusOr<Run> ParseRun(std::string_view text, const std::string& path);
absl::StatusOr<Profile> ParseProfile(std::string_view text, const std::string& path);

}  // namespace irqprof

#endif  // IRQPROF_MODEL_RESULT_JSON_H_
