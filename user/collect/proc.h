// The kernel's text files: pure parsers, and the few reads around them.
//
// Parsers take whole files and never fail on content they do not know: a row
// they cannot read is left out and flagged. Values stay in the kernel's unit.
#ifndef IRQPROF_COLLECT_PROC_H_
#define IRQPROF_COLLECT_PROC_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "user/model/snapshot.h"

namespace irqprof {

// The whole file, however long; NotFound or PermissionDenied with its path.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// /proc/stat. A last row without a newline was cut and is dropped.
ProcStat ParseProcStat(std::string_view text);

// /proc/PID/stat: the name is between the first "(" and the last ")". Empty
// text is a task that has gone: no value, no error.
struct PidStat {
  std::string comm;
  uint64_t utime_ticks = 0;
  uint64_t stime_ticks = 0;
};
std::optional<PidStat> ParsePidStat(std::string_view text);

// "0-3,8,10-11", as /sys/devices/system/cpu/{online,possible} print it; empty
// or malformed text gives an empty list.
std::vector<int> ParseCpuList(std::string_view text);

// /proc/stat and the given tasks, now. Tasks that are gone are left out.
absl::StatusOr<KernelReading> ReadKernel(const std::vector<int>& pids);

// Network devices with their driver and interrupt lines, from sysfs.
std::vector<NicFact> ReadNics(const std::string& sys_class_net = "/sys/class/net");

// cgroup v2 directory's inode (the id the kernel uses) -> path below the mount.
std::map<uint64_t, std::string> ReadCgroupPaths(const std::string& root = "/sys/fs/cgroup");

}  // namespace irqprof

#endif  // IRQPROF_COLLECT_PROC_H_
