#include "trainer/rank_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Messages are small, and somebody waits for each.
void SendAtOnce(int descriptor) {
  const int on = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// An IPv6 socket hears IPv4 as well; where there is no IPv6, one of IPv4.
RankSocket BoundToAll() {
  RankSocket socket(
      ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int off = 0;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  if (socket.is_open() &&
      ::setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off,
                   sizeof off) == 0 &&
      ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&any),
             sizeof any) == 0) {
    return socket;
  }
  socket = RankSocket(
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  if (!socket.is_open() ||
      ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&any4),
             sizeof any4) != 0) {
    throw IoError("the ranks' listener", "take a port", errno);
  }
  return socket;
}

RankSocket BoundToThisMachine() {
  RankSocket socket(
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!socket.is_open() ||
      ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&loopback),
             sizeof loopback) != 0) {
    throw IoError("the ranks' listener", "take a port of 127.0.0.1", errno);
  }
  return socket;
}

int PortOf(const RankSocket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Check(::getsockname(socket.descriptor(),
                      reinterpret_cast<sockaddr*>(&address), &size) == 0,
        "a bound socket has a name");
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

int MillisecondsTo(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList AddressesOf(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(),
                                  &wanted, &found);
  if (error != 0) {
    throw IoError(
        fmt::format("{}: no such host ({})", host, ::gai_strerror(error)));
  }
  return {found, &::freeaddrinfo};
}

// errno tells why it is not open.
RankSocket TryToConnect(const addrinfo& address, Clock::time_point deadline) {
  RankSocket socket(::socket(address.ai_family,
                             SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    return socket;
  }
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) !=
      0) {
    pollfd wait{.fd = socket.descriptor(), .events = POLLOUT, .revents = 0};
    int error = errno;
    socklen_t size = sizeof error;
    if (error == EINPROGRESS &&
        (::poll(&wait, 1, MillisecondsTo(deadline)) != 1 ||
         ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error,
                      &size) != 0)) {
      error = ETIMEDOUT;
    }
    if (error != 0) {
      socket.Close();
      errno = error;
      return socket;
    }
  }
  SendAtOnce(socket.descriptor());
  return socket;
}

}  // namespace

void RankSocket::Close() {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

RankListener::RankListener(bool this_machine_only)
    : socket_(this_machine_only ? BoundToThisMachine() : BoundToAll()),
      port_(PortOf(socket_)) {
  if (::listen(socket_.descriptor(), SOMAXCONN) != 0) {
    throw IoError("the ranks' listener", "listen", errno);
  }
}

std::optional<RankSocket> RankListener::Accept() const {
  RankSocket socket(::accept4(socket_.descriptor(), nullptr, nullptr,
                              SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) {
    return std::nullopt;
  }
  SendAtOnce(socket.descriptor());
  return socket;
}

RankSocket ConnectTo(const std::string& host, int port,
                     std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const AddressList addresses = AddressesOf(host, port);
  for (const addrinfo* address = addresses.get(); address != nullptr;
       address = address->ai_next) {
    RankSocket socket = TryToConnect(*address, deadline);
    if (socket.is_open()) {
      return socket;
    }
  }
  throw IoError(fmt::format("{}:{}", host, port), "connect to rank 0", errno);
}

}  // namespace infeed
