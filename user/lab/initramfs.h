// The guest's whole file system: this program with its libraries, and the
// modules of the NICs wanted. Built once, in memory; each boot gets a second
// archive behind it with what differs (the job, the modules to load).
#ifndef IRQPROF_LAB_INITRAMFS_H_
#define IRQPROF_LAB_INITRAMFS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace irqprof::lab {

struct BaseInitramfs {
  std::string archive;
  // Where the libraries are, for the guest's LD_LIBRARY_PATH: the guest has no
  // ld.so.cache, and not every library is in a directory ld.so knows.
  std::vector<std::string> library_directories;
};

// `program` must be the file of the running process: its libraries are taken
// from what is mapped right now. `module_files` are paths below `modules_dir`.
absl::StatusOr<BaseInitramfs> BuildBaseInitramfs(const std::string& program,
                                                 const std::string& modules_dir,
                                                 const std::vector<std::string>& module_files);

// `module_files` in the order to load them.
std::string BuildBootInitramfs(const std::string& job,
                               const std::vector<std::string>& module_files);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_INITRAMFS_H_
