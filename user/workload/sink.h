// The sink: the far end of a stream, for a live run on this host: a child that
// listens, takes one connection after the other and reads and discards what
// comes (or sends until the peer has enough). The lab has its own sink inside
// the virtual machine's network.
//
// Bounded: one connection at a time, one fixed buffer, and it is killed when
// the Sink goes out of scope or the parent dies.
#ifndef IRQPROF_USER_WORKLOAD_SINK_H_
#define IRQPROF_USER_WORKLOAD_SINK_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "user/workload/child.h"
#include "user/workload/endpoint.h"

namespace irqprof {

struct SinkSpec {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  Direction direction = Direction::kReceive;
  int cpu = -1;       // -1: wherever the scheduler likes
  int netns_fd = -1;  // an open /run/netns/NAME to listen in; -1: ours
};

class Sink {
 public:
  // Returns once it listens.
  static absl::StatusOr<Sink> Start(const SinkSpec& spec);

  pid_t pid() const { return child_.pid(); }
  uint16_t port() const { return port_; }

 private:
  Sink(Child child, uint16_t port) : child_(std::move(child)), port_(port) {}

  Child child_;
  uint16_t port_;
};

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_SINK_H_
