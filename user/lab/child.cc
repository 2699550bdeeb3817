#include "user/lab/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "user/lab/file.h"

namespace irqprof::lab {
namespace {

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void BecomeProgram(char* const* arguments, const Child::Files& files, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before the line above
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int in = files.in >= 0 ? files.in : open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(in, STDIN_FILENO);
  if (files.out >= 0) dup2(files.out, STDOUT_FILENO);
  if (files.err >= 0 || files.out >= 0) {
    dup2(files.err >= 0 ? files.err : files.out, STDERR_FILENO);
  }
  for (int fd : files.shared) fcntl(fd, F_SETFD, 0);
  execv(arguments[0], arguments);
  const char text[] = "the program could not be executed\n";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) _exit(126);
  _exit(127);
}

}  // namespace

absl::StatusOr<Child> Child::Start(const std::vector<std::string>& arguments, const Files& files) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(absl::StrCat("start ", arguments[0]));
  if (pid == 0) BecomeProgram(pointers.data(), files, parent);
  return Child(pid);
}

int Child::Wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

void Child::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

}  // namespace irqprof::lab
