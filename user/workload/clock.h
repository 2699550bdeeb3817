// CLOCK_MONOTONIC in ns: the one clock of the workloads, and of the BPF
// programs (bpf_ktime_get_ns), so times of both can be compared.
#ifndef IRQPROF_USER_WORKLOAD_CLOCK_H_
#define IRQPROF_USER_WORKLOAD_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace irqprof {

inline int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_CLOCK_H_
