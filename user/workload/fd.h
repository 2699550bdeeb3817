// An owned file descriptor: closed exactly once.
#ifndef IRQPROF_USER_WORKLOAD_FD_H_
#define IRQPROF_USER_WORKLOAD_FD_H_

#include <unistd.h>

#include <utility>

namespace irqprof {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { Close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_FD_H_
