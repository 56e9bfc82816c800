#include "trainer/ranks/route_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace infeed {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Any port: connecting a datagram socket only looks up a route and sends
// nothing.
constexpr const char* kAnyPort = "9";

Addresses Resolve(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), kAnyPort, &hints, &found);
  if (error != 0) {
    throw IoError(host + ": unknown host: " + gai_strerror(error));
  }
  return {found, freeaddrinfo};
}

// The socket's own numeric address; "" when there is no route.
std::string SocketAddressText(const addrinfo& target) {
  const int socket_fd =
      socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, target.ai_protocol);
  if (socket_fd < 0) {
    return "";
  }
  sockaddr_storage own = {};
  auto* address = reinterpret_cast<sockaddr*>(&own);
  socklen_t length = sizeof own;
  std::array<char, NI_MAXHOST> text = {};
  const bool found =
      connect(socket_fd, target.ai_addr, target.ai_addrlen) == 0 &&
      getsockname(socket_fd, address, &length) == 0 &&
      getnameinfo(address, length, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) == 0;
  const int error = errno;
  close(socket_fd);
  errno = error;
  return found ? text.data() : "";
}

}  // namespace

std::string AddressTowards(const std::string& host) {
  const Addresses targets = Resolve(host);
  for (const addrinfo* target = targets.get(); target != nullptr;
       target = target->ai_next) {
    std::string address = SocketAddressText(*target);
    if (!address.empty()) {
      return address;
    }
  }
  throw IoError(host, "find a route to it", errno);
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace infeed
