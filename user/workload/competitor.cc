#include "user/workload/competitor.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "user/collect/clock.h"
#include "user/workload/child.h"

namespace irqprof {
namespace {

// Knuth's MMIX generator
constexpr uint64_t kSeed = 1;
constexpr uint64_t kMultiplier = 6364136223846793005u;
constexpr uint64_t kIncrement = 1442695040888963407u;

struct Finish {
  uint64_t checksum;
  int64_t end_ns;
};

int64_t ProbeNs(uint64_t iterations) {
  const int64_t begin_ns = MonotonicNs();
  SpinWork(iterations);
  return MonotonicNs() - begin_ns;
}

absl::Status Call(const std::function<absl::Status(pid_t)>& callback, pid_t pid) {
  return callback ? callback(pid) : absl::OkStatus();
}

}  // namespace

// aligned: where the linker puts the loop must not change its speed
__attribute__((noinline, aligned(64))) uint64_t SpinWork(uint64_t iterations) {
  uint64_t state = kSeed;
  for (uint64_t i = 0; i < iterations; ++i) {
    state = state * kMultiplier + kIncrement;
    asm volatile("" : "+r"(state));  // each step is done, one by one
  }
  return state;
}

// n steps are one step with other constants; they are found by squaring.
uint64_t SpinChecksum(uint64_t iterations) {
  uint64_t multiplier = kMultiplier;
  uint64_t increment = kIncrement;
  uint64_t state = kSeed;
  for (; iterations != 0; iterations >>= 1) {
    if (iterations & 1) state = state * multiplier + increment;
    increment += increment * multiplier;
    multiplier *= multiplier;
  }
  return state;
}

uint64_t SizeWork(double alone_s) {
  constexpr int64_t kProbeNs = 1'000'000;
  constexpr int kProbes = 9;
  uint64_t probe_iterations = 1 << 12;
  while (ProbeNs(probe_iterations) < kProbeNs) probe_iterations *= 2;
  // interrupts only ever add: the shortest probe is the undisturbed one
  int64_t best_ns = ProbeNs(probe_iterations);
  for (int i = 1; i < kProbes; ++i) best_ns = std::min(best_ns, ProbeNs(probe_iterations));

  const double iterations = alone_s * 1e9 * static_cast<double>(probe_iterations) /
                            static_cast<double>(std::max<int64_t>(best_ns, 1));
  if (!(iterations >= 1)) return 1;
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(iterations)) - 1));
  return static_cast<uint64_t>(std::round(std::min(iterations, 1e18) / unit) * unit);
}

absl::StatusOr<CompetitorTimes> RunCompetitor(uint64_t iterations, int cpu,
                                              const CompetitorCallbacks& callbacks,
                                              const std::atomic<bool>* stop) {
  absl::StatusOr<Child> child = Child::Fork("competitor", cpu, [iterations](int report_fd) {
    Finish finish = {};
    finish.checksum = SpinWork(iterations);
    finish.end_ns = MonotonicNs();
    return write(report_fd, &finish, sizeof(finish)) == sizeof(finish) ? 0 : 1;
  });
  if (!child.ok()) return child.status();
  CompetitorTimes times;
  times.pid = child->pid();
  if (absl::Status before = Call(callbacks.before_gate, times.pid); !before.ok()) return before;

  const int64_t begin_ns = MonotonicNs();
  child->Go();
  Finish finish = {};
  const Child::Heard heard = child->Await(finish, absl::InfiniteDuration(), stop);
  if (heard == Child::Heard::kStopped)
    return absl::CancelledError("The competitor was stopped before its work was done.");
  child->WaitUntilDead();
  if (absl::Status after = Call(callbacks.after_exit, times.pid); !after.ok()) return after;
  const ChildEnd end = child->Reap();
  if (heard != Child::Heard::kRecord || end.exit_code != 0)
    return absl::AbortedError(absl::StrFormat(
        "The competitor (process %d) %s before its work was done; run it again undisturbed.",
        times.pid, end.Describe()));
  if (finish.checksum != SpinChecksum(iterations))
    return absl::InternalError(
        "The competitor's result is wrong, so its work was not done as built; this is a fault of "
        "the machine or of the compiler.");
  times.real_ns = finish.end_ns - begin_ns;
  times.user_ns = end.user_ns;
  times.sys_ns = end.sys_ns;
  return times;
}

}  // namespace irqprof
