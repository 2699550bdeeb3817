#include "user/workload/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/str_format.h"

namespace irqprof {

absl::StatusOr<Endpoint> ParseEndpoint(const std::string& address, uint16_t port) {
  Endpoint endpoint;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&endpoint.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&endpoint.storage);
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    endpoint.length = sizeof(*v4);
    endpoint.text = absl::StrFormat("%s:%d", address, port);
  } else if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    endpoint.length = sizeof(*v6);
    endpoint.text = absl::StrFormat("[%s]:%d", address, port);
  } else {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" is not an IP address; give a numeric one such as 192.0.2.1.", address));
  }
  return endpoint;
}

}  // namespace irqprof
