#include "user/app/output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "user/app/exit_status.h"
#include "user/report/report.h"

namespace irqprof {
namespace {

namespace fs = std::filesystem;

bool g_progress_shown = false;

fs::path DirectoryOf(const std::string& file) {
  fs::path directory = fs::path(file).parent_path();
  return directory.empty() ? "." : directory;
}

absl::Status CannotWrite(const std::string& file, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", file));
}

absl::Status WriteWhole(const std::string& file, const std::string& text) {
  std::string temporary = absl::StrCat(file, ".XXXXXX");
  int fd = mkstemp(temporary.data());
  if (fd < 0) return CannotWrite(file, errno);
  fchmod(fd, 0644);
  size_t written = 0;
  while (written < text.size()) {
    ssize_t step = write(fd, text.data() + written, text.size() - written);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) break;
    written += step;
  }
  int error = written == text.size() ? 0 : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(temporary.c_str());
  return CannotWrite(file, error);
}

// A device or a pipe is written to, never replaced by a file.
bool IsReplaceable(const std::string& file) {
  std::error_code ignored;
  return !fs::exists(file, ignored) || fs::is_regular_file(file, ignored);
}

absl::Status WriteStream(const std::string& file, const std::string& text) {
  FILE* stream = fopen(file.c_str(), "w");
  if (stream == nullptr) return CannotWrite(file, errno);
  bool ok = fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (fclose(stream) != 0) ok = false;
  return ok ? absl::OkStatus() : CannotWrite(file, errno);
}

int TerminalWidth() {
  winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 99;
}

void OnSignal(int number) {
  if (StopRequested().exchange(true)) _exit(128 + number);
}

}  // namespace

std::atomic<bool>& StopRequested() {
  static std::atomic<bool> requested{false};
  return requested;
}

void CatchSignals() {
  StopRequested();  // made now, not inside a handler
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void OpenStandardStreams() {
  // a closed stdout stays an error: what is written to /dev/full fails
  static constexpr const char* kInstead[] = {"/dev/null", "/dev/full", "/dev/null"};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0) open(kInstead[fd], O_RDWR);
}

void PrintError(const absl::Status& status) {
  EndProgress();
  fprintf(stderr, "irqprof: %s\n", std::string(status.message()).c_str());
}

void PrintProgress(const std::string& line) {
  if (isatty(STDERR_FILENO)) {
    fprintf(stderr, "\r\033[K%s", line.c_str());
    g_progress_shown = true;
  } else {
    fprintf(stderr, "%s\n", line.c_str());
  }
}

void EndProgress() {
  if (g_progress_shown) fprintf(stderr, "\r\033[K");
  g_progress_shown = false;
}

absl::Status CheckWritable(const std::string& file) {
  if (file.empty()) return absl::OkStatus();
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", file, ": it is a directory"));
  if (IsReplaceable(file) && !fs::is_directory(DirectoryOf(file), ignored))
    return absl::NotFoundError(
        absl::StrCat("cannot write ", file, ": ", DirectoryOf(file).string(), " is no directory"));
  std::string target = IsReplaceable(file) ? DirectoryOf(file).string() : file;
  if (access(target.c_str(), W_OK) != 0) return CannotWrite(file, errno);
  return absl::OkStatus();
}

int PrintResult(const Result& result, const std::string& format, const std::string& file) {
  EndProgress();
  TextStyle style;
  style.colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == nullptr;
  style.width = TerminalWidth();
  const std::string json = RenderJson(result);
  const std::string shown = format == "json" ? json : RenderText(result, style);
  absl::Status saved;
  if (!file.empty()) saved = IsReplaceable(file) ? WriteWhole(file, json) : WriteStream(file, json);
  bool printed = fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
  if (fflush(stdout) != 0) printed = false;
  if (!printed) saved.Update(absl::ErrnoToStatus(errno, "cannot write to standard output"));
  if (!saved.ok()) {
    PrintError(saved);
    return kExitCannotMeasure;
  }
  return result.Tainted() ? kExitTainted : kExitFine;
}

}  // namespace irqprof
