#include "user/workload/sink.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace irqprof {
namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr absl::Duration kListenLimit = absl::Seconds(5);

// What the child reports once: that it listens, or what it could not do.
struct Listening {
  enum Step { kNamespace, kSocket, kListen, kDone } step;
  int error;  // errno
  uint16_t port;
};

uint16_t BoundPort(int listener) {
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

Listening Listen(const Endpoint& endpoint, int netns_fd, int* listener) {
  if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) != 0) return {Listening::kNamespace, errno, 0};
  *listener = socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (*listener < 0) return {Listening::kSocket, errno, 0};
  const int on = 1;
  setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(*listener, endpoint.get(), endpoint.length) != 0 || listen(*listener, 8) != 0)
    return {Listening::kListen, errno, 0};
  return {Listening::kDone, 0, BoundPort(*listener)};
}

void ServeConnection(int connection, Direction direction, char* buffer) {
  ssize_t moved;
  do {
    moved = direction == Direction::kSend ? send(connection, buffer, kBufferBytes, MSG_NOSIGNAL)
                                          : recv(connection, buffer, kBufferBytes, 0);
  } while (moved > 0 || (moved < 0 && errno == EINTR));
}

// The child.
int Serve(const Endpoint& endpoint, const SinkSpec& spec, char* buffer, int report_fd) {
  int listener = -1;
  const Listening listening = Listen(endpoint, spec.netns_fd, &listener);
  if (write(report_fd, &listening, sizeof(listening)) != sizeof(listening)) return 1;
  if (listening.step != Listening::kDone) return 1;
  for (;;) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return 1;
    }
    ServeConnection(connection, spec.direction, buffer);
    close(connection);
  }
}

absl::Status ListenError(const Listening& failed, const std::string& where) {
  const std::string why = strerror(failed.error);
  switch (failed.step) {
    case Listening::kNamespace:
      return absl::FailedPreconditionError(absl::StrFormat(
          "The sink cannot enter its network namespace (%s); that needs root and an open "
          "/run/netns/NAME.",
          why));
    case Listening::kSocket:
      return absl::UnavailableError(
          absl::StrFormat("The sink cannot make a TCP socket (%s).", why));
    default:
      return absl::UnavailableError(absl::StrFormat(
          "The sink cannot listen at %s (%s); choose an address of this host and a free port.",
          where, why));
  }
}

}  // namespace

absl::StatusOr<Sink> Sink::Start(const SinkSpec& spec) {
  absl::StatusOr<Endpoint> endpoint = ParseEndpoint(spec.address, spec.port);
  if (!endpoint.ok()) return endpoint.status();
  std::vector<char> buffer(kBufferBytes, 'i');  // the child's after the fork
  absl::StatusOr<Child> child = Child::Fork("sink", spec.cpu, [&](int report_fd) {
    return Serve(*endpoint, spec, buffer.data(), report_fd);
  });
  if (!child.ok()) return child.status();
  child->Go();
  Listening listening = {};
  if (child->Await(listening, kListenLimit, nullptr) != Child::Heard::kRecord)
    return absl::AbortedError("The sink's process ended before it listened; run it again.");
  if (listening.step != Listening::kDone) return ListenError(listening, endpoint->text);
  return Sink(*std::move(child), listening.port);
}

}  // namespace irqprof
