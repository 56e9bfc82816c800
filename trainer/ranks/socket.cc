#include "trainer/ranks/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/error.h"
#include "base/seconds.h"
#include "trainer/ranks/place.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds between two tries to connect.
constexpr int kFirstPause = 20;
constexpr int kLongestPause = 500;

// Turns off Nagle's algorithm: messages are small, and a rank waits for each.
void SendAtOnce(int descriptor) {
  const int on = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// An IPv4 or IPv6 address.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

SocketAddress Address4(in_addr host, int port) {
  SocketAddress address{.size = sizeof(sockaddr_in)};
  auto* const in = reinterpret_cast<sockaddr_in*>(&address.bytes);
  in->sin_family = AF_INET;
  in->sin_addr = host;
  in->sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

SocketAddress Address6(in6_addr host, int port) {
  SocketAddress address{.size = sizeof(sockaddr_in6)};
  auto* const in = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  in->sin6_family = AF_INET6;
  in->sin6_addr = host;
  in->sin6_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// Requires: IsThisMachineOnly(address).
SocketAddress LoopbackAddress(const std::string& address, int port) {
  in_addr host4{.s_addr = htonl(INADDR_LOOPBACK)};
  in6_addr host6{};
  if (::inet_pton(AF_INET6, address.c_str(), &host6) == 1) {
    return Address6(host6, port);
  }
  (void)::inet_pton(AF_INET, address.c_str(), &host4);  // else "localhost"
  return Address4(host4, port);
}

// If the socket is not open, errno has the reason.
Descriptor BoundTo(const SocketAddress& address) {
  Descriptor socket(::socket(address.bytes.ss_family,
                             SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int off = 0;
  // Reusing the address lets a restarted run listen before the kernel has
  // dropped the previous run's connections. An IPv6 socket accepts IPv4 as
  // well.
  if (!socket.is_open() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) !=
          0 ||
      (address.bytes.ss_family == AF_INET6 &&
       ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off,
                    sizeof off) != 0) ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.bytes),
             address.size) != 0) {
    const int error = errno;
    socket.Close();
    errno = error;
  }
  return socket;
}

Descriptor Bound(const std::string& address, int port) {
  if (IsThisMachineOnly(address)) {
    return BoundTo(LoopbackAddress(address, port));
  }
  Descriptor socket = BoundTo(Address6(in6addr_any, port));
  // The machine has no IPv6.
  if (!socket.is_open() && errno != EADDRINUSE) {
    socket = BoundTo(Address4({.s_addr = htonl(INADDR_ANY)}, port));
  }
  return socket;
}

Descriptor Listening(const std::string& address, int port) {
  Descriptor socket = Bound(address, port);
  if (!socket.is_open() || ::listen(socket.get(), SOMAXCONN) != 0) {
    throw IoError(fmt::format(
        "{}:{}: rank 0 cannot listen there: {}; give a port that is free on "
        "this machine, by --master_port or MASTER_PORT",
        address, port, std::generic_category().message(errno)));
  }
  return socket;
}

int PortOf(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Check(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address),
                      &size) == 0,
        "a bound socket has a name");
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// kind: SOCK_STREAM or SOCK_DGRAM.
AddressList FindAddresses(const std::string& host, int port, int kind) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = kind;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(),
                                  &wanted, &found);
  if (error != 0) {
    throw IoError(
        fmt::format("{}: no such host ({})", host, ::gai_strerror(error)));
  }
  return {found, &::freeaddrinfo};
}

// If the socket is not open, errno has the reason.
Descriptor TryToConnect(const addrinfo& address, Clock::time_point deadline) {
  Descriptor socket(::socket(address.ai_family,
                             SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    return socket;
  }
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    pollfd wait{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    int error = errno;
    socklen_t size = sizeof error;
    if (error == EINPROGRESS && (::poll(&wait, 1, PollTimeTo(deadline)) != 1 ||
                                 ::getsockopt(socket.get(), SOL_SOCKET,
                                              SO_ERROR, &error, &size) != 0)) {
      error = ETIMEDOUT;
    }
    if (error != 0) {
      socket.Close();
      errno = error;
      return socket;
    }
  }
  SendAtOnce(socket.get());
  return socket;
}

// This machine's own numeric address on the route to the target; if there is no
// route, "", and errno has the reason.
std::string OwnAddress(const addrinfo& target) {
  const Descriptor socket(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC,
                                   target.ai_protocol));
  sockaddr_storage own{};
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  const bool found =
      ::connect(socket.get(), target.ai_addr, target.ai_addrlen) == 0 &&
      ::getsockname(socket.get(), address, &size) == 0 &&
      ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0;
  return found ? text.data() : "";
}

// Connects to the first address that answers; else errno has the reason.
Descriptor TryAll(const AddressList& addresses, Clock::time_point deadline) {
  for (const addrinfo* address = addresses.get(); address != nullptr;
       address = address->ai_next) {
    Descriptor socket = TryToConnect(*address, deadline);
    if (socket.is_open()) {
      return socket;
    }
  }
  return Descriptor();
}

}  // namespace

int PollTimeTo(Clock::time_point deadline) {
  constexpr std::int64_t kLongest = 1 << 30;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLongest));
}

RankListener::RankListener(const std::string& address, int port)
    : socket_(Listening(address, port)), port_(PortOf(socket_)) {}

RankListener::RankListener(Descriptor listening)
    : socket_(std::move(listening)) {
  int listens = 0;
  socklen_t size = sizeof listens;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) !=
          0 ||
      listens == 0) {
    throw UsageError(
        "INFEED_RANK_LISTENER is not a listening socket: --local_ranks sets it "
        "for its ranks; unset it");
  }
  (void)::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  (void)::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  port_ = PortOf(socket_);
}

std::optional<Descriptor> RankListener::Accept() const {
  Descriptor socket(
      ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) {
    return std::nullopt;
  }
  SendAtOnce(socket.get());
  return socket;
}

std::string PeerAddress(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const peer = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      ::getpeername(descriptor, peer, &size) == 0 &&
      ::getnameinfo(peer, size, host.data(), host.size(), port.data(),
                    port.size(), NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  return found ? fmt::format("{}:{}", host.data(), port.data()) : "?";
}

Descriptor ConnectTo(const std::string& host, int port,
                     std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const AddressList addresses = FindAddresses(host, port, SOCK_STREAM);
  for (int pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Descriptor socket = TryAll(addresses, deadline);
    if (socket.is_open()) {
      return socket;
    }
    const int error = errno;
    const int left = PollTimeTo(deadline);
    if (left == 0) {
      throw IoError(fmt::format(
          "{}:{}: rank 0 has not answered within {:g} s: {}; is it running, is "
          "MASTER_ADDR or --master_addr its machine, or are all its ranks "
          "connected already?",
          host, port, ToSeconds(timeout),
          std::generic_category().message(error)));
    }
    (void)::poll(nullptr, 0, std::min(pause, left));
  }
}

std::string AddressTowards(const std::string& host) {
  // Any port: connecting a datagram socket only looks up a route and sends
  // nothing.
  constexpr int kAnyPort = 9;
  const AddressList targets = FindAddresses(host, kAnyPort, SOCK_DGRAM);
  for (const addrinfo* target = targets.get(); target != nullptr;
       target = target->ai_next) {
    std::string address = OwnAddress(*target);
    if (!address.empty()) {
      return address;
    }
  }
  throw IoError(host, "find a route to it", errno);
}

}  // namespace infeed
