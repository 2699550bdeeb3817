#include "user/lab/ending.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace irqprof::lab {
namespace {

constexpr size_t kKeptBytes = 64 << 10;
constexpr size_t kShownLines = 15;
constexpr size_t kShownColumns = 160;

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// From `start` to the end of its line.
std::string LineFrom(const std::string& text, size_t start) {
  return text.substr(start, text.find_first_of("\r\n", start) - start);
}

std::string ShownLine(std::string line) {
  if (line.size() > kShownColumns) line.resize(kShownColumns);
  for (char& c : line) {
    if (c != '\t' && (static_cast<unsigned char>(c) < ' ' || c == 0x7F)) c = '?';
  }
  return line;
}

std::string LastLines(const std::string& console) {
  const std::vector<std::string> all =
      absl::StrSplit(console, absl::ByAnyChar("\r\n"), absl::SkipWhitespace());
  const size_t first = all.size() > kShownLines ? all.size() - kShownLines : 0;
  std::string lines;
  for (size_t i = first; i < all.size(); ++i) absl::StrAppend(&lines, "\n    ", ShownLine(all[i]));
  return lines;
}

std::string EndOfProcess(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(wait_status), " (",
                        strsignal(WTERMSIG(wait_status)), ")");
  }
  return absl::StrCat("ended with status ", WEXITSTATUS(wait_status));
}

// pid 1's end is a panic that carries its wait status.
std::string EndOfInit(const std::string& panic) {
  constexpr char kExitCode[] = "exitcode=";
  const size_t at = panic.find(kExitCode);
  if (at == std::string::npos) return "ended";
  return EndOfProcess(strtol(panic.c_str() + at + strlen(kExitCode), nullptr, 16));
}

}  // namespace

void ConsoleTail::Append(std::string_view bytes) {
  text_.append(bytes);
  if (text_.size() > 2 * kKeptBytes) text_.erase(0, text_.size() - kKeptBytes);
}

absl::Status WithConsole(absl::StatusCode code, const std::string& sentence,
                         const std::string& console) {
  const std::string lines = LastLines(console);
  return absl::Status(
      code, absl::StrCat(sentence, lines.empty() ? std::string("; its console is empty")
                                                 : absl::StrCat("; its console ends:", lines)));
}

absl::Status ExplainEnding(int wait_status, const std::string& all_console) {
  constexpr char kPanic[] = "Kernel panic - not syncing: ";
  const size_t at = all_console.find(kPanic);
  const bool panicked = at != std::string::npos;
  const std::string panic = panicked ? LineFrom(all_console, at + strlen(kPanic)) : "";
  // After the panic's line come registers and a trace. What the program or the
  // kernel said before it is what explains it.
  const std::string console =
      panicked ? all_console.substr(0, at + strlen(kPanic) + panic.size()) : all_console;
  const auto explain = [&console](absl::StatusCode code, const std::string& sentence) {
    return WithConsole(code, sentence, console);
  };
  if (Has(console, "Out of memory") || Has(console, "System is deadlocked on memory") ||
      Has(console, "Initramfs unpacking failed: write error")) {
    return explain(absl::StatusCode::kResourceExhausted,
                   "the guest ran out of memory; give it more memory_mib");
  }
  if (Has(panic, "Attempted to kill init")) {
    return explain(
        absl::StatusCode::kInternal,
        absl::StrCat("the program in the guest ", EndOfInit(panic), " without a result"));
  }
  if (panicked) {
    return explain(absl::StatusCode::kAborted,
                   absl::StrCat("the guest's kernel panicked: ", ShownLine(panic)));
  }
  if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
    return explain(absl::StatusCode::kUnavailable,
                   absl::StrCat("QEMU ", EndOfProcess(wait_status), " without a result"));
  }
  return explain(absl::StatusCode::kInternal, "the guest switched itself off without a result");
}

}  // namespace irqprof::lab
