// `irqprof record`: the exact ledger of this host over some time, or while a
// command runs.
#ifndef IRQPROF_APP_RECORD_H_
#define IRQPROF_APP_RECORD_H_

#include <optional>
#include <string>
#include <vector>

namespace irqprof {

struct RecordOptions {
  std::optional<double> seconds;     // absent: until the command ends, or Ctrl-C
  std::vector<std::string> command;  // empty: none
  std::string format = "text";
  std::string output;
};

int RecordCommand(const RecordOptions& options);

}  // namespace irqprof

#endif  // IRQPROF_APP_RECORD_H_
