// Child: a program that we started and that does not outlive us.
//
// It dies with this thread's process, however that dies (PR_SET_PDEATHSIG), and
// with this object: the destructor kills it and reaps it, by pid. It is in a
// process group of its own, so a Ctrl-C at the terminal is ours to handle.
#ifndef IRQPROF_LAB_CHILD_H_
#define IRQPROF_LAB_CHILD_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace irqprof::lab {

class Child {
 public:
  struct Files {
    int in = -1;   // standard input; -1: /dev/null
    int out = -1;  // standard output and, unless err is given, standard error
    int err = -1;
    std::vector<int> shared;  // further descriptors it inherits, under the same numbers
  };

  // arguments[0] is an absolute path. An exec that fails is seen as exit status
  // 127 and one sentence on standard error.
  static absl::StatusOr<Child> Start(const std::vector<std::string>& arguments, const Files& files);

  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() { Kill(); }

  // Waits for its end; the status is waitpid(2)'s. To be called once.
  int Wait();
  // Kills and reaps it. Nothing happens if Wait() or Kill() was called before.
  void Kill();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_CHILD_H_
