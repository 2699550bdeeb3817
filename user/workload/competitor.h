// The competitor: a process that only computes, so all the time it loses, and
// all that the kernel charges it as system time, was somebody else's.
//
// Its work is a fixed number of steps of a linear congruential generator: each
// needs the one before, so nothing can be vectorised, reordered or left out;
// it makes no system call and touches no memory. The result of n steps is also
// known in closed form, which proves that the work was done.
//
// Times are ns of CLOCK_MONOTONIC (real) and of the kernel's rusage (user,
// sys); rusage covers the child from fork to exit, real its work only.
#ifndef IRQPROF_USER_WORKLOAD_COMPETITOR_H_
#define IRQPROF_USER_WORKLOAD_COMPETITOR_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace irqprof {

// Does `iterations` steps: the same instructions for each, on every call.
uint64_t SpinWork(uint64_t iterations);

// What SpinWork(iterations) returns, found without doing the work.
uint64_t SpinChecksum(uint64_t iterations);

// How many iterations take this machine `alone_s` when nothing disturbs it. A
// probe of some 20 ms, rounded to two digits so that repeated calls agree where
// the machine does.
uint64_t SizeWork(double alone_s);

struct CompetitorTimes {
  pid_t pid = 0;
  int64_t real_ns = 0;  // from the opened gate to the last step, by the child's own clock
  int64_t user_ns = 0;
  int64_t sys_ns = 0;
};

// Called in the parent; an error ends the run and is passed on. Either may be empty.
struct CompetitorCallbacks {
  // The process exists and waits: the place for the first snapshot.
  std::function<absl::Status(pid_t)> before_gate;
  // It is dead but not yet reaped: the place for the last snapshot.
  std::function<absl::Status(pid_t)> after_exit;
};

// Runs the competitor in a child, on `cpu` (-1: wherever the scheduler likes),
// and waits for it. `stop` (may be null) kills it: the status is Cancelled.
absl::StatusOr<CompetitorTimes> RunCompetitor(uint64_t iterations, int cpu,
                                              const CompetitorCallbacks& callbacks,
                                              const std::atomic<bool>* stop = nullptr);

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_COMPETITOR_H_
