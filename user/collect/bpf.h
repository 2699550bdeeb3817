// The kernel side from user space: loads and attaches the ledger's programs,
// and gives read access to their maps. The only file pair that knows libbpf.
//
// Loading is all or nothing: one status names the step that failed and what to
// do. Closing the object detaches everything; the kernel does so too when the
// process dies in any way, nothing is pinned.
#ifndef IRQPROF_COLLECT_BPF_H_
#define IRQPROF_COLLECT_BPF_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bpf/records.h"
#include "user/model/snapshot.h"

namespace irqprof {

// What BPF here needs, as one sentence, before anything is loaded.
// FailedPrecondition: no BTF; PermissionDenied: no privilege.
absl::Status CheckBpfUsable();

class BpfLedger {
 public:
  // `possible_cpus`: highest possible CPU id + 1. Attaches exits before entries;
  // nothing is recorded before Arm().
  static absl::StatusOr<std::unique_ptr<BpfLedger>> Attach(int possible_cpus);
  ~BpfLedger();
  BpfLedger(const BpfLedger&) = delete;

  // Recording begins, at the time returned (CLOCK_MONOTONIC, ns).
  uint64_t Arm();

  // The live record of a CPU, written by the kernel side while it is read.
  const volatile cpu_account* Account(int cpu) const;

  // Closed stints of every task seen, or of one; entries that would not hold
  // still are counted in `torn` and left out.
  std::vector<TaskSnapshot> ReadTasks(uint64_t* torn) const;
  std::optional<TaskSnapshot> ReadTask(const task_key& key, uint64_t* torn) const;

  // Program runs the kernel skipped; any taints.
  uint64_t RecursionMisses() const;

  // Hooks of the table that this kernel does not offer.
  const std::vector<std::string>& absent_hooks() const { return absent_hooks_; }

  // True where the preempt count and the kernel's columns can be read.
  bool has_percpu_symbols() const { return has_percpu_symbols_; }

 private:
  struct Impl;
  BpfLedger();

  std::unique_ptr<Impl> impl_;
  std::vector<std::string> absent_hooks_;
  bool has_percpu_symbols_ = false;
};

// A known hardirq load on one CPU: `spin_ns` of work every `period_ns`, inside
// the timer interrupt, until destroyed.
class BpfInjector {
 public:
  static absl::StatusOr<std::unique_ptr<BpfInjector>> Start(int cpu, uint64_t spin_ns,
                                                            uint64_t period_ns);
  ~BpfInjector();
  BpfInjector(const BpfInjector&) = delete;

  uint64_t injected_ns() const;  // by the injecting program's own clock

 private:
  struct Impl;
  BpfInjector();
  std::unique_ptr<Impl> impl_;
};

}  // namespace irqprof

#endif  // IRQPROF_COLLECT_BPF_H_
