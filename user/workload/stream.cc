#include "user/workload/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "user/collect/clock.h"

namespace irqprof {

struct Stream::Counters {
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> begin_ns{0};  // when the gate opened
  std::atomic<int64_t> last_ns{0};   // of the last block
  std::atomic<int> error{0};         // errno that ended it; 0 with `ended`: end of file
  std::atomic<bool> ended{false};    // by the peer
  std::atomic<bool> stop{false};     // asked for by the parent
};

void Stream::Unmap::operator()(Counters* counters) const { munmap(counters, sizeof(*counters)); }

namespace {

constexpr size_t kMaxBlockBytes = 16 << 20;
constexpr absl::Duration kExitLimit = absl::Seconds(5);

absl::Status ConnectError(int error, const std::string& peer) {
  if (error == ECONNREFUSED)
    return absl::UnavailableError(absl::StrFormat(
        "Nothing listens at %s (connection refused); start a sink there or give another address.",
        peer));
  return absl::UnavailableError(absl::StrFormat(
      "Cannot connect to %s (%s); check the address and the route to it.", peer, strerror(error)));
}

// 0 or an errno; ETIMEDOUT when `limit` has passed.
int AwaitConnection(int socket, absl::Duration limit) {
  const int64_t end_ns = MonotonicNs() + absl::ToInt64Nanoseconds(limit);
  pollfd writable = {.fd = socket, .events = POLLOUT, .revents = 0};
  for (;;) {
    const int64_t left_ms = (end_ns - MonotonicNs()) / 1'000'000;
    if (left_ms < 0) return ETIMEDOUT;
    const int ready = poll(&writable, 1, static_cast<int>(std::min<int64_t>(left_ms + 1, 60'000)));
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return errno;
  }
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

absl::StatusOr<Fd> Connect(const Endpoint& peer, absl::Duration limit) {
  Fd connection(socket(peer.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.open()) return absl::ErrnoToStatus(errno, "Cannot make a TCP socket");
  int error = 0;
  if (connect(connection.get(), peer.get(), peer.length) != 0) error = errno;
  if (error == EINPROGRESS || error == EINTR) error = AwaitConnection(connection.get(), limit);
  if (error == ETIMEDOUT)
    return absl::DeadlineExceededError(absl::StrFormat(
        "%s did not answer within %s; check that it is up and that no filter is in the way.",
        peer.text, absl::FormatDuration(limit)));
  if (error != 0) return ConnectError(error, peer.text);
  if (fcntl(connection.get(), F_SETFL, 0) != 0)
    return absl::ErrnoToStatus(errno, "Cannot make a TCP socket blocking");
  return connection;
}

int64_t AcknowledgedBytes(int socket) {
  tcp_info info = {};
  socklen_t length = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  // the kernel counts the acknowledged SYN as a byte
  return info.tcpi_bytes_acked == 0 ? 0 : static_cast<int64_t>(info.tcpi_bytes_acked) - 1;
}

}  // namespace

double MibPerS(const StreamMark& begin, const StreamMark& end) {
  if (end.at_ns <= begin.at_ns) return 0;
  const double mib = static_cast<double>(end.bytes - begin.bytes) / (1 << 20);
  return mib / (static_cast<double>(end.at_ns - begin.at_ns) * 1e-9);
}

absl::StatusOr<Stream> Stream::Start(const StreamSpec& spec) {
  if (spec.block_bytes == 0 || spec.block_bytes > kMaxBlockBytes)
    return absl::InvalidArgumentError(
        absl::StrFormat("A stream cannot move blocks of %d bytes; choose 1 to %d.",
                        spec.block_bytes, kMaxBlockBytes));
  absl::StatusOr<Endpoint> peer = ParseEndpoint(spec.address, spec.port);
  if (!peer.ok()) return peer.status();
  absl::StatusOr<Fd> socket = Connect(*peer, spec.connect_limit);
  if (!socket.ok()) return socket.status();

  void* page =
      mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return absl::ErrnoToStatus(errno, "Cannot share a page with the stream");
  SharedCounters counters(new (page) Counters);
  std::vector<char> block(spec.block_bytes, 'i');  // the child's after the fork
  absl::StatusOr<Child> child = Child::Fork("stream", spec.cpu, [&](int report_fd) {
    return Pump(spec, socket->get(), *counters, block.data(), report_fd);
  });
  if (!child.ok()) return child.status();
  counters->begin_ns = MonotonicNs();
  counters->last_ns = counters->begin_ns.load();
  child->Go();
  return Stream(spec, peer->text, *std::move(socket), std::move(counters), *std::move(child));
}

// The child. One system call and one clock read per block.
int Stream::Pump(const StreamSpec& spec, int socket, Counters& counters, char* block,
                 int report_fd) {
  const bool sends = spec.direction == Direction::kSend;
  bool flowing = false;
  while (!counters.stop) {
    const ssize_t moved = sends ? send(socket, block, spec.block_bytes, MSG_NOSIGNAL)
                                : recv(socket, block, spec.block_bytes, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      if (counters.stop) break;  // the parent's shutdown() woke us
      counters.error = moved < 0 ? errno : 0;
      counters.ended = true;
      return 1;
    }
    counters.last_ns = MonotonicNs();
    counters.bytes += moved;
    if (flowing) continue;
    const int64_t arrived = sends ? AcknowledgedBytes(socket) : counters.bytes.load();
    flowing = arrived >= spec.flowing_bytes;
    if (flowing && write(report_fd, &arrived, sizeof(arrived)) != sizeof(arrived)) return 1;
  }
  return 0;
}

Stream::Stream(StreamSpec spec, std::string peer, Fd socket, SharedCounters counters, Child child)
    : spec_(std::move(spec)),
      peer_(std::move(peer)),
      socket_(std::move(socket)),
      counters_(std::move(counters)),
      child_(std::move(child)) {}

absl::Status Stream::Broken() const {
  const int error = counters_->error;
  if (error == 0 || error == EPIPE || error == ECONNRESET)
    return absl::UnavailableError(absl::StrFormat(
        "The peer %s closed the stream after %d bytes; it must keep the connection open until the "
        "stream is stopped.",
        peer_, Mark().bytes));
  return absl::UnavailableError(absl::StrFormat("The stream to %s broke after %d bytes (%s).",
                                                peer_, Mark().bytes, strerror(error)));
}

absl::Status Stream::Stalled() const {
  return absl::DeadlineExceededError(
      absl::StrFormat("The stream to %s stalled after %d bytes: nothing moved for %s; check that "
                      "the peer still %s.",
                      peer_, Mark().bytes, absl::FormatDuration(spec_.stall_limit),
                      spec_.direction == Direction::kSend ? "reads" : "sends"));
}

absl::Status Stream::WaitUntilFlowing(const std::atomic<bool>* stop) {
  int64_t arrived = 0;
  switch (child_.Await(arrived, spec_.stall_limit, stop)) {
    case Child::Heard::kRecord:
      return absl::OkStatus();
    case Child::Heard::kStopped:
      return absl::CancelledError("The stream was stopped before it flowed.");
    case Child::Heard::kTimedOut:
      return absl::DeadlineExceededError(absl::StrFormat(
          "The stream to %s moved only %d bytes in its first %s; check that the peer %s and how "
          "fast the wire is.",
          peer_, Mark().bytes, absl::FormatDuration(spec_.stall_limit),
          spec_.direction == Direction::kSend ? "reads" : "sends"));
    case Child::Heard::kEnded:
      break;
  }
  return Broken();
}

StreamMark Stream::Mark() const {
  StreamMark mark;
  mark.bytes = spec_.direction == Direction::kSend ? AcknowledgedBytes(socket_.get())
                                                   : counters_->bytes.load();
  mark.at_ns = MonotonicNs();
  return mark;
}

absl::StatusOr<StreamResult> Stream::Stop() {
  const StreamMark last = Mark();
  const int64_t quiet_ns = last.at_ns - counters_->last_ns;
  const bool stalled = quiet_ns > absl::ToInt64Nanoseconds(spec_.stall_limit);
  counters_->stop = true;
  shutdown(socket_.get(), SHUT_RDWR);  // wakes a child that waits for the peer

  int64_t flowing = 0;
  Child::Heard heard = child_.Await(flowing, kExitLimit, nullptr);
  if (heard == Child::Heard::kRecord) heard = child_.Await(flowing, kExitLimit, nullptr);
  if (heard != Child::Heard::kEnded) child_.Kill();
  StreamResult result;
  result.pid = child_.pid();
  const ChildEnd end = child_.Reap();

  if (counters_->ended) return Broken();
  if (stalled) return Stalled();
  if (end.exit_code != 0)
    return absl::AbortedError(absl::StrFormat("The stream to %s (process %d) %s; run it again.",
                                              peer_, result.pid, end.Describe()));
  result.bytes = last.bytes;
  result.elapsed_ns = counters_->last_ns - counters_->begin_ns;
  result.mib_per_s = MibPerS({0, 0}, {result.bytes, result.elapsed_ns});
  return result;
}

}  // namespace irqprof
