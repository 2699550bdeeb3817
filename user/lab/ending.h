// Why a guest ended without a result, told so that a person knows what to do.
//
// Pure: from QEMU's exit status and the last of what was on the guest's console
// (which QEMU's own messages share) to one sentence and the console's last
// lines, up to the panic if there was one. The console is the guest's, so what
// is shown of it is made printable.
#ifndef IRQPROF_LAB_ENDING_H_
#define IRQPROF_LAB_ENDING_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace irqprof::lab {

// Keeps the end of what is appended, so that a guest that floods its console
// costs no memory.
class ConsoleTail {
 public:
  void Append(std::string_view bytes);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// QEMU ended by itself; `wait_status` is waitpid(2)'s.
absl::Status ExplainEnding(int wait_status, const std::string& all_console);

// `sentence` with the last lines of the console below it.
absl::Status WithConsole(absl::StatusCode code, const std::string& sentence,
                         const std::string& console);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_ENDING_H_
