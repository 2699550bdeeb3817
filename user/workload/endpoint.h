// Where a TCP connection goes to or is waited for: a numeric IPv4 or IPv6
// address and a port. Names are not looked up: a resolver would bring threads
// and traffic of its own into a measurement.
#ifndef IRQPROF_USER_WORKLOAD_ENDPOINT_H_
#define IRQPROF_USER_WORKLOAD_ENDPOINT_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace irqprof {

struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  std::string text;  // "10.0.2.100:5001", "[::1]:5001"

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

absl::StatusOr<Endpoint> ParseEndpoint(const std::string& address, uint16_t port);

// Which way the bytes go, seen from the process that is told.
enum class Direction { kSend, kReceive };

}  // namespace irqprof

#endif  // IRQPROF_USER_WORKLOAD_ENDPOINT_H_
