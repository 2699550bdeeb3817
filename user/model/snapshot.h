// What was read at one moment: the kernel side's records and the kernel's own
// ledgers around them. Plain values; collect/ fills them, model/ledger.h
// subtracts two of them.
#ifndef IRQPROF_MODEL_SNAPSHOT_H_
#define IRQPROF_MODEL_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bpf/records.h"

namespace irqprof {

// One row of /proc/stat, in USER_HZ ticks; a column the kernel does not print
// is absent. `user` holds guest, `nice` holds guest_nice.
struct ProcStatCpu {
  int cpu = 0;
  enum Column { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal, kColumns };
  std::optional<uint64_t> ticks[kColumns];
};

struct ProcStat {
  std::vector<ProcStatCpu> cpus;  // rows of CPUs that are online
  std::optional<uint64_t> intr_total;
  bool truncated = false;  // the last row was cut and is left out
};

// The kernel's charge to one task as /proc prints it: utime and stime are
// rescaled (cputime_adjust) and in ticks, run time is exact.
struct ProcTask {
  int pid = 0;
  uint64_t utime_ticks = 0;
  uint64_t stime_ticks = 0;
  uint64_t runtime_ns = 0;
};

struct KernelReading {
  uint64_t at_ns = 0;  // CLOCK_MONOTONIC
  ProcStat stat;
  std::vector<ProcTask> tasks;  // only those asked for
};

struct CpuSnapshot {
  int cpu = 0;
  uint64_t at_ns = 0;
  // Extended to at_ns (account_extend); shared because it is large and never
  // written again.
  std::shared_ptr<const cpu_account> account;
};

// Sums including the stint that is still open.
struct TaskSnapshot {
  task_key key{};
  task_account account{};
  // On the CPU since it got there, in the sums; what the kernel charged it for
  // that is not: it is known only when the task leaves.
  uint64_t open_ns = 0;
};

struct NicFact {
  std::string netdev;
  std::string driver;     // empty for devices without hardware
  std::vector<int> intx;  // legacy line: may be shared with other devices
  std::vector<int> msi;   // message-signalled: this device's alone
};

struct Snapshot {
  std::vector<CpuSnapshot> cpus;
  std::vector<TaskSnapshot> tasks;
  KernelReading kernel_before;  // the bracket: read before and after the rest
  KernelReading kernel_after;
  std::map<uint64_t, std::string> cgroup_paths;
  std::vector<NicFact> nics;
  uint64_t torn_reads = 0;        // records that never held still
  uint64_t recursion_misses = 0;  // programs the kernel skipped
  bool columns_readable = false;  // task_account.columns are real
};

}  // namespace irqprof

#endif  // IRQPROF_MODEL_SNAPSHOT_H_
