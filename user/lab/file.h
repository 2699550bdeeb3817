// Files as the lab needs them: read whole, or held in memory and handed to a
// child by descriptor. The lab writes nothing to any disk.
#ifndef IRQPROF_LAB_FILE_H_
#define IRQPROF_LAB_FILE_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "user/workload/fd.h"

namespace irqprof::lab {

using irqprof::Fd;

struct Pipe {
  Fd read;
  Fd write;
};

// All descriptors made here are close-on-exec.
absl::StatusOr<Pipe> MakePipe();
absl::StatusOr<std::string> ReadFile(const std::string& path);

// An unnamed file in memory that holds the parts one after the other, its
// offset at 0. A child opens it as /proc/self/fd/N.
absl::StatusOr<Fd> MakeMemoryFile(std::initializer_list<std::string_view> parts);

// The absolute path of a program on $PATH; empty if it is not there.
std::string FindProgram(const std::string& name);

// "cannot WHAT: REASON", with the reason from errno.
absl::Status ErrnoStatus(const std::string& what);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_FILE_H_
