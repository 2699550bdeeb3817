// CLOCK_MONOTONIC in ns: the one clock of snapshots and workloads, and of the
// BPF programs (bpf_ktime_get_ns), so times of all can be compared.
#ifndef IRQPROF_COLLECT_CLOCK_H_
#define IRQPROF_COLLECT_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace irqprof {

inline int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace irqprof

#endif  // IRQPROF_COLLECT_CLOCK_H_
