#include "tools/metrics_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxHead = 8192;
constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::string_view kHeadEnd = "\r\n\r\n";

UsageError CannotListen(int port) {
  return UsageError("metrics_port " + std::to_string(port) +
                    ": cannot listen on 127.0.0.1: " + std::strerror(errno));
}

int OpenListener(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) {
    throw CannotListen(port);
  }
  const int on = 1;  // So that a program can be started again at once.
  (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address),
             sizeof(address)) != 0 ||
      ::listen(listener, SOMAXCONN) != 0) {
    const UsageError error = CannotListen(port);
    ::close(listener);
    throw UsageError(error);
  }
  return listener;
}

int PortOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  Check(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) ==
            0,
        "a socket that listens has an address");
  return ntohs(address.sin_port);
}

std::string AnswerText(std::string_view status, const WebPage& page) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + page.type +
         "\r\nContent-Length: " + std::to_string(page.body.size()) +
         "\r\nConnection: close\r\n\r\n" + page.body;
}

std::string Refusal(std::string_view status) {
  return AnswerText(status,
                    {"text/plain; charset=utf-8", std::string(status) + "\n"});
}

int MillisecondsUntil(Clock::time_point end) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

}  // namespace

MetricsServer::Descriptor::~Descriptor() { ::close(number_); }

MetricsServer::MetricsServer(int port, Pages pages)
    : pages_(std::move(pages)),
      listener_(OpenListener(port)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      port_(PortOf(listener_.number())) {
  Check(stop_.number() >= 0, "there is a descriptor left");
  thread_ = std::jthread([this] { Run(); });
}

MetricsServer::~MetricsServer() {
  const std::uint64_t one = 1;
  Check(::write(stop_.number(), &one, sizeof(one)) == sizeof(one),
        "an event counter takes a one");
}

bool MetricsServer::WaitFor(int socket, short events, int milliseconds) const {
  std::array<pollfd, 2> sockets = {
      {{.fd = stop_.number(), .events = POLLIN, .revents = 0},
       {.fd = socket, .events = events, .revents = 0}}};
  int ready = 0;
  do {
    ready = ::poll(sockets.data(), sockets.size(), milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0 && sockets[0].revents == 0;
}

void MetricsServer::Run() const {
  constexpr int kForEver = -1;
  constexpr int kPauseMilliseconds = 100;
  while (WaitFor(listener_.number(), POLLIN, kForEver)) {
    const Descriptor connection(::accept4(listener_.number(), nullptr, nullptr,
                                          SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.number() >= 0) {
      Serve(connection.number());
    } else {  // No descriptor is left, perhaps: not to try without a pause.
      (void)WaitFor(-1, 0, kPauseMilliseconds);
    }
  }
}

void MetricsServer::Serve(int connection) const {
  const std::string head = ReadHead(connection);
  if (!head.empty()) {
    Write(connection, Answer(head));
  }
}

std::string MetricsServer::ReadHead(int connection) const {
  const Clock::time_point end = Clock::now() + kPatience;
  std::string head;
  while (head.size() < kMaxHead && head.find(kHeadEnd) == std::string::npos &&
         WaitFor(connection, POLLIN, MillisecondsUntil(end))) {
    std::array<char, 1024> bytes;
    const ssize_t count = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      break;  // It went, or it was no more than a spurious wake.
    }
    head.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return head;
}

void MetricsServer::Write(int connection, std::string_view text) const {
  const Clock::time_point end = Clock::now() + kPatience;
  while (!text.empty() &&
         WaitFor(connection, POLLOUT, MillisecondsUntil(end))) {
    const ssize_t count =
        ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string MetricsServer::Answer(std::string_view head) const {
  constexpr std::string_view kGet = "GET ";
  const std::size_t method_end = head.find(' ');
  const std::size_t path_end = head.find_first_of(" ?\r", kGet.size());
  if (head.find(kHeadEnd) == std::string_view::npos ||
      method_end == std::string_view::npos ||
      path_end == std::string_view::npos) {
    return Refusal("400 Bad Request");
  }
  if (!head.starts_with(kGet)) {
    return Refusal("405 Method Not Allowed");
  }
  const std::optional<WebPage> page =
      pages_(head.substr(kGet.size(), path_end - kGet.size()));
  return page ? AnswerText("200 OK", *page) : Refusal("404 Not Found");
}

}  // namespace infeed
