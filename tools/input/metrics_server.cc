#include "tools/input/metrics_server.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

using Clock = WebConnection::Clock;

constexpr std::size_t kFirstClient = 2;  // index in polled_
constexpr std::size_t kMostClients = 64;
constexpr std::chrono::milliseconds kPause{100};

UsageError CannotListen(int port) {
  return UsageError("metrics_port " + std::to_string(port) +
                    ": cannot listen on 127.0.0.1: " + std::strerror(errno));
}

int OpenListener(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) {
    throw CannotListen(port);
  }
  const int on = 1;  // So that a program can be restarted at once.
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

MetricsServer::MetricsServer(int port, Pages pages,
                             std::chrono::milliseconds patience)
    : pages_(std::move(pages)),
      patience_(patience),
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

void MetricsServer::Run() {
  Clients clients;
  const auto answer = [this](std::string_view head) { return Answer(head); };
  while (Wait(clients)) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const bool is_ready = polled_[kFirstClient + i].revents != 0;
      if (!clients[i]->Proceed(is_ready, answer)) {
        clients[i].reset();
      }
    }
    std::erase(clients, nullptr);
    if (polled_[1].revents != 0) {
      Accept(clients);
    }
  }
}

bool MetricsServer::Wait(const Clients& clients) {
  const bool accepts = Clock::now() >= next_accept_;
  std::optional<Clock::time_point> end;
  if (!accepts) {
    end = next_accept_;
  }
  polled_ = {{.fd = stop_.number(), .events = POLLIN, .revents = 0},
             {.fd = accepts ? listener_.number() : -1,
              .events = POLLIN,
              .revents = 0}};
  for (const std::unique_ptr<WebConnection>& client : clients) {
    polled_.push_back(
        {.fd = client->socket(), .events = client->events(), .revents = 0});
    end = std::min(end.value_or(client->deadline()), client->deadline());
  }
  int ready = 0;
  do {
    ready = ::poll(polled_.data(), polled_.size(),
                   end ? MillisecondsUntil(*end) : -1);
  } while (ready < 0 && errno == EINTR);
  Check(ready >= 0, "sockets can be polled");
  return polled_[0].revents == 0;
}

void MetricsServer::Accept(Clients& clients) {
  const int socket = ::accept4(listener_.number(), nullptr, nullptr,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) {  // Perhaps no descriptors are left: retry later.
    next_accept_ = Clock::now() + kPause;
    return;
  }
  clients.push_back(std::make_unique<WebConnection>(socket, patience_));
  if (clients.size() > kMostClients) {
    clients.erase(clients.begin());
  }
}

std::string MetricsServer::Answer(std::string_view head) const {
  constexpr std::string_view kGet = "GET ";
  const std::size_t method_end = head.find(' ');
  const std::size_t path_end = head.find_first_of(" ?\r", kGet.size());
  if (head.find(WebConnection::kHeadEnd) == std::string_view::npos ||
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
