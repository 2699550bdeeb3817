// The stream: a TCP connection that moves fixed blocks as fast as the peer and
// the wire allow, in a child process of its own. It is what makes a NIC
// interrupt, as in 1999.
//
// The child counts in a page shared with its parent, so the parent can read
// the throughput of any window (the competitor's) without disturbing it. Bytes
// count when they have arrived: for a sender, what the peer acknowledged, not
// what filled the socket buffer. A mark is right to one block.
//
// Order: Start, WaitUntilFlowing, any number of Marks, Stop. A Stream that
// goes out of scope is killed.
#ifndef IRQPROF_USER_WORKLOAD_STREAM_H_
#define IRQPROF_USER_WORKLOAD_STREAM_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "user/workload/child.h"
#include "user/workload/endpoint.h"
#include "user/workload/fd.h"

namespace irqprof {

struct StreamSpec {
  std::string address;
  uint16_t port = 0;
  Direction direction = Direction::kSend;
  size_t block_bytes = 8192;
  int cpu = -1;  // -1: wherever the scheduler likes
  absl::Duration connect_limit = absl::Seconds(5);
  // It flows when this much has arrived: past the first round trips.
  int64_t flowing_bytes = 256 << 10;
  // No byte for this long, at the start or before the end, is a failure.
  absl::Duration stall_limit = absl::Seconds(10);
};

struct StreamMark {
  int64_t bytes = 0;
  int64_t at_ns = 0;  // CLOCK_MONOTONIC
};

double MibPerS(const StreamMark& begin, const StreamMark& end);

struct StreamResult {
  pid_t pid = 0;
  int64_t bytes = 0;
  int64_t elapsed_ns = 0;  // from the opened gate to the last block, by the child's own clock
  double mib_per_s = 0;
};

class Stream {
 public:
  // Connects and starts to move blocks.
  static absl::StatusOr<Stream> Start(const StreamSpec& spec);

  pid_t pid() const { return child_.pid(); }

  // Returns once `flowing_bytes` have arrived. Call it once.
  absl::Status WaitUntilFlowing(const std::atomic<bool>* stop = nullptr);

  StreamMark Mark() const;

  // Ends the stream. An error if it had broken or stalled before.
  absl::StatusOr<StreamResult> Stop();

 private:
  struct Counters;  // the shared page
  struct Unmap {
    void operator()(Counters* counters) const;
  };
  using SharedCounters = std::unique_ptr<Counters, Unmap>;

  Stream(StreamSpec spec, std::string peer, Fd socket, SharedCounters counters, Child child);
  static int Pump(const StreamSpec& spec, int socket, Counters& counters, char* block,
                  int report_fd);
  absl::Status Broken() const;
  absl::Status Stalled() const;

  StreamSpec spec_;
  std::string peer_;
  Fd socket_;  // the child's too; kept to look at its queue and to wake the child
  SharedCounters counters_;
  Child child_;
};

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_STREAM_H_
