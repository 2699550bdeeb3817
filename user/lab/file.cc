#include "user/lab/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace irqprof::lab {

absl::Status ErrnoStatus(const std::string& what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what));
}

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus("make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Far more than any kernel or module: /dev/zero ends here.
constexpr size_t kMostBytes = size_t{1} << 30;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return ErrnoStatus(absl::StrCat("open ", path));
  struct stat facts = {};
  std::string content;
  if (fstat(fd.get(), &facts) == 0 && S_ISREG(facts.st_mode)) content.reserve(facts.st_size);
  // Read to the end, not to st_size: files of /proc and /sys claim to be empty.
  std::vector<char> block(1 << 16);
  while (true) {
    const ssize_t got = read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(absl::StrCat("read ", path));
    if (got == 0) return content;
    content.append(block.data(), got);
    if (content.size() > kMostBytes)
      return absl::InvalidArgumentError(absl::StrCat(path, " has no end below 1 GiB"));
  }
}

absl::StatusOr<Fd> MakeMemoryFile(std::initializer_list<std::string_view> parts) {
  Fd fd(memfd_create("irqprof", MFD_CLOEXEC));
  if (!fd.open()) return ErrnoStatus("make a file in memory");
  off_t offset = 0;
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t put = pwrite(fd.get(), part.data(), part.size(), offset);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return ErrnoStatus("write a file in memory");
      part.remove_prefix(put);
      offset += put;
    }
  }
  return fd;
}

std::string FindProgram(const std::string& name) {
  const char* path = getenv("PATH");
  const std::vector<std::string> directories = absl::StrSplit(path != nullptr ? path : "", ':');
  for (const std::string& directory : directories) {
    const std::string candidate = absl::StrCat(directory, "/", name);
    struct stat facts;
    if (stat(candidate.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return "";
}

}  // namespace irqprof::lab
