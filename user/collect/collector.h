// Takes snapshots of one host: the kernel side's records, made consistent and
// brought up to the moment of reading, inside a bracket of the kernel's own
// ledgers.
//
// A per-CPU copy is accepted when no level was being written and none was
// written meanwhile; the clock is read inside that window, so the copy is the
// exact state at `at_ns`. CPUs are read one after the other: each has its own
// `at_ns`, and its own elapsed time.
#ifndef IRQPROF_COLLECT_COLLECTOR_H_
#define IRQPROF_COLLECT_COLLECTOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "user/collect/bpf.h"
#include "user/model/result.h"
#include "user/model/snapshot.h"

namespace irqprof {

class Collector {
 public:
  // Attaches, begins recording, and makes every online CPU pass one event, so
  // that its running task is known even where nothing happens for seconds.
  static absl::StatusOr<std::unique_ptr<Collector>> Start();

  // The caller's CPU and the caller itself, quickly and of one moment: nothing
  // of the kernel's, no names. For a thread that is pinned to `cpu`.
  Snapshot TakeSelf(int cpu) const;

  // `pids`: tasks whose /proc files are read too.
  absl::StatusOr<Snapshot> Take(const std::vector<int>& pids = {}) const;

  const BpfLedger& ledger() const { return *ledger_; }

 private:
  explicit Collector(std::unique_ptr<BpfLedger> ledger, std::vector<int> online)
      : ledger_(std::move(ledger)), online_(std::move(online)) {}

  std::unique_ptr<BpfLedger> ledger_;
  std::vector<int> online_;
};

// What is known of this host without measuring; `accounting` is "unknown".
HostFacts ReadHostFacts();

// USER_HZ: the unit of /proc/stat, in ns.
int64_t UserTickNs();

// Measures how this kernel fills its ledgers: a known hardirq load is put on
// `cpu` for about 0.2 s while this process spins there, and the ledger that
// shows it tells. "tick", "irqtime", "vtime", or "unknown" with no load possible
// or no clear answer.
std::string MeasureAccountingMode(int cpu);

}  // namespace irqprof

#endif  // IRQPROF_COLLECT_COLLECTOR_H_
