// The commands, each from its parsed options to an exit status.
#ifndef IRQPROF_APP_COMMANDS_H_
#define IRQPROF_APP_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace irqprof {

struct RunOptions {
  std::string scenario;
  bool lab = false;  // the default, and only here to be excluded by live
  bool live = false;
  std::vector<std::string> arms;
  std::optional<int> rounds;
  std::optional<uint64_t> order_seed;
  std::string clock = "instructions";
  std::string kernel;
  std::string modules;
  std::string format = "text";
  std::string output;
};

int RunCommand(const RunOptions& options);
int ListCommand();
int ReportCommand(const std::string& file, const std::string& format);

}  // namespace irqprof

#endif  // IRQPROF_APP_COMMANDS_H_
