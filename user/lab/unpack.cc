#include "user/lab/unpack.h"

#include <sys/wait.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "user/lab/child.h"
#include "user/lab/file.h"

namespace irqprof::lab {
namespace {

struct Format {
  std::string_view magic;
  const char* program;
  // The kernel build appends the unpacked size to xz and zstd streams; xz is
  // told to stop at the stream's end, the caller cuts it off for zstd.
  std::vector<std::string> options;
};

const std::vector<Format>& Formats() {
  static const auto& formats = *new std::vector<Format>{
      {std::string_view("\xFD\x37zXZ\0", 6), "xz", {"-dc", "--single-stream"}},
      {std::string_view("\x28\xB5\x2F\xFD", 4), "zstd", {"-dcq"}},
      {std::string_view("\x1F\x8B", 2), "gzip", {"-dc"}},
  };
  return formats;
}

absl::StatusOr<std::string> RunFilter(const std::vector<std::string>& arguments,
                                      std::string_view input) {
  absl::StatusOr<Fd> in = MakeMemoryFile({input});
  if (!in.ok()) return in.status();
  absl::StatusOr<Fd> out = MakeMemoryFile({});
  if (!out.ok()) return out.status();
  absl::StatusOr<Fd> err = MakeMemoryFile({});
  if (!err.ok()) return err.status();
  absl::StatusOr<Child> child = Child::Start(
      arguments, {.in = in->get(), .out = out->get(), .err = err->get(), .shared = {}});
  if (!child.ok()) return child.status();
  const int status = child->Wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::DataLossError(absl::StrCat(arguments[0], " cannot unpack it: it is damaged"));
  }
  return ReadFile(absl::StrCat("/proc/self/fd/", out->get()));
}

}  // namespace

absl::StatusOr<std::string> Unpack(std::string_view packed) {
  for (const Format& format : Formats()) {
    if (packed.substr(0, format.magic.size()) != format.magic) continue;
    std::vector<std::string> arguments = {FindProgram(format.program)};
    if (arguments[0].empty()) {
      return absl::UnimplementedError(
          absl::StrCat("the program ", format.program, " is needed to unpack it; install it"));
    }
    arguments.insert(arguments.end(), format.options.begin(), format.options.end());
    return RunFilter(arguments, packed);
  }
  return absl::UnimplementedError("it is compressed in a format other than xz, zstd and gzip");
}

}  // namespace irqprof::lab
