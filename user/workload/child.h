// One forked child that runs a function of this program: what the competitor,
// the stream and the sink have in common.
//
// A child is born waiting at a gate, so that its parent knows its pid, has
// pinned it and has looked at its ledgers before it does anything. It talks
// back through a pipe in small fixed records; the pipe's end of file means
// that it is exiting.
//
// Invariants:
//   1. A child never outlives its parent, however the parent dies
//      (PR_SET_PDEATHSIG). The signal follows the *thread* that forked: fork
//      from a thread that lives as long as the work does.
//   2. A Child that goes out of scope is killed and reaped.
//   3. Ctrl-C is the parent's to handle; the child ignores SIGINT.
//   4. The body must not allocate: the parent may have threads.
//
// It does not exec; the child keeps the parent's open files and memory.
#ifndef IRQPROF_USER_WORKLOAD_CHILD_H_
#define IRQPROF_USER_WORKLOAD_CHILD_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "user/workload/fd.h"

namespace irqprof {

struct ChildEnd {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  int64_t user_ns = 0;  // rusage: from fork to exit
  int64_t sys_ns = 0;

  // "exited with status 1", "was killed by signal 9 (Killed)"
  std::string Describe() const;
};

class Child {
 public:
  // Gets the descriptor for its records, returns the exit status.
  using Body = absl::FunctionRef<int(int report_fd)>;

  enum class Heard { kRecord, kEnded, kTimedOut, kStopped };

  // `name` is the task's comm (15 bytes); cpu -1 leaves the affinity alone.
  static absl::StatusOr<Child> Fork(const std::string& name, int cpu, Body body);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }

  // Opens the gate.
  void Go();

  // Waits for the next record. `stop` may be null; it is looked at several
  // times a second, and at once when a signal handler interrupts the wait.
  template <typename T>
  Heard Await(T& record, absl::Duration limit, const std::atomic<bool>* stop) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 512,
                  "a record is written in one piece");
    return AwaitBytes(&record, sizeof(T), limit, stop);
  }

  void Kill();

  // Waits until the child is gone but leaves it as a zombie, whose ledgers can
  // still be read.
  void WaitUntilDead();

  ChildEnd Reap();

 private:
  Child(std::string name, pid_t pid, Fd gate, Fd reports);
  Heard AwaitBytes(void* record, size_t bytes, absl::Duration limit, const std::atomic<bool>* stop);
  absl::Status Pin(int cpu);

  std::string name_;
  pid_t pid_;  // 0: reaped
  Fd gate_;
  Fd reports_;
};

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_CHILD_H_
