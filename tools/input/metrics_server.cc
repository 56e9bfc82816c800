#include "tools/input/metrics_server.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

int ReadPort(int listener) {
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

bool IsForLater(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace

// A client's connection for one request, from the request's first byte to the
// answer's last. No call blocks.
//
// Owns the socket. One thread at a time. A client's error ends only its own
// connection.
class MetricsServer::Connection {
 public:
  // Returns the whole answer to a request, given the received part of its head,
  // at most kMaxHead bytes.
  using Answer = std::function<std::string(std::string_view head)>;

  static constexpr std::size_t kMaxHead = 8192;
  static constexpr std::string_view kHeadEnd = "\r\n\r\n";

  // patience: how long the request may take, and then the answer.
  Connection(int socket, Clock::duration patience);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  // The events that poll() should wait for, and the deadline.
  [[nodiscard]] short events() const;
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  // Continues as far as possible without blocking. is_ready: poll() reported an
  // event. False when the connection is finished.
  [[nodiscard]] bool Proceed(bool is_ready, const Answer& answer);

 private:
  // Reads more of the head. False at its end.
  [[nodiscard]] bool ReadHead();
  [[nodiscard]] bool WriteAnswer();

  int socket_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  std::string head_;
  std::string answer_;
  std::size_t written_ = 0;
};

MetricsServer::Connection::Connection(int socket, Clock::duration patience)
    : socket_(socket),
      patience_(patience),
      deadline_(Clock::now() + patience) {}

MetricsServer::Connection::~Connection() { ::close(socket_); }

short MetricsServer::Connection::events() const {
  return answer_.empty() ? POLLIN : POLLOUT;
}

bool MetricsServer::Connection::Proceed(bool is_ready, const Answer& answer) {
  const bool is_over = Clock::now() >= deadline_;
  if (answer_.empty()) {
    const bool comes = !is_over && (!is_ready || ReadHead());
    if (comes && head_.size() < kMaxHead &&
        head_.find(kHeadEnd) == std::string::npos) {
      return true;
    }
    if (head_.empty()) {
      return false;
    }
    answer_ = answer(head_);
    deadline_ = Clock::now() + patience_;
    return WriteAnswer();
  }
  return !is_over && (!is_ready || WriteAnswer());
}

bool MetricsServer::Connection::ReadHead() {
  std::array<char, 1024> bytes;
  const ssize_t count =
      ::recv(socket_, bytes.data(),
             std::min(bytes.size(), kMaxHead - head_.size()), MSG_DONTWAIT);
  if (count > 0) {
    head_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || IsForLater(count);
}

bool MetricsServer::Connection::WriteAnswer() {
  const std::string_view rest = std::string_view(answer_).substr(written_);
  const ssize_t count =
      ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) {
    written_ += static_cast<std::size_t>(count);
  }
  return (count > 0 || IsForLater(count)) && written_ < answer_.size();
}

MetricsServer::Descriptor::~Descriptor() { ::close(number_); }

MetricsServer::MetricsServer(int port, Pages pages,
                             std::chrono::milliseconds patience)
    : pages_(std::move(pages)),
      patience_(patience),
      listener_(OpenListener(port)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      port_(ReadPort(listener_.number())) {
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
  for (const std::unique_ptr<Connection>& client : clients) {
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
  clients.push_back(std::make_unique<Connection>(socket, patience_));
  if (clients.size() > kMostClients) {
    clients.erase(clients.begin());
  }
}

std::string MetricsServer::Answer(std::string_view head) const {
  constexpr std::string_view kGet = "GET ";
  const std::size_t method_end = head.find(' ');
  const std::size_t path_end = head.find_first_of(" ?\r", kGet.size());
  if (head.find(Connection::kHeadEnd) == std::string_view::npos ||
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
