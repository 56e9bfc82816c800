#include "tests/support/loopback_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/error.h"

namespace infeed {
namespace {

using Then = LoopbackServer::Reply::Then;

constexpr int kBacklog = 64;
constexpr std::string_view kEndOfHead = "\r\n\r\n";

// Appends what comes to text; false at the connection's end.
bool Receive(int socket, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
  if (got <= 0) {
    return false;
  }
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

void SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;  // The client has gone.
    }
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t BodyLength(const std::string& head) {
  const std::size_t place = head.find("Content-Length: ");
  return place == std::string::npos ? 0 : std::stoul(head.substr(place + 16));
}

// The next request of a connection; "" at its end.
std::string NextRequest(int socket, std::string& pending) {
  std::size_t end = 0;
  while ((end = pending.find(kEndOfHead)) == std::string::npos) {
    if (!Receive(socket, pending)) {
      return "";
    }
  }
  const std::size_t whole =
      end + kEndOfHead.size() + BodyLength(pending.substr(0, end + 2));
  while (pending.size() < whole) {
    if (!Receive(socket, pending)) {
      return "";
    }
  }
  std::string request = pending.substr(0, whole);
  pending.erase(0, whole);
  return request;
}

}  // namespace

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  Check(listener_ >= 0 && ::bind(listener_, any, size) == 0 &&
            ::listen(listener_, kBacklog) == 0 &&
            ::getsockname(listener_, any, &size) == 0,
        "a test can listen on 127.0.0.1");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }
  threads_.clear();  // Joins.
  for (const int socket : sockets_) {
    ::close(socket);
  }
  ::close(listener_);
}

void LoopbackServer::Accept() {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      return;
    }
    const std::lock_guard lock(mutex_);
    sockets_.push_back(connection);
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

void LoopbackServer::Serve(int connection) {
  std::string pending;
  for (;;) {
    const std::string request = NextRequest(connection, pending);
    if (request.empty()) {
      break;
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const Reply reply = handler_(request);
    SendAll(connection, reply.bytes);
    if (reply.then == Then::kHang) {
      while (Receive(connection, pending)) {
      }
    }
    if (reply.then != Then::kGoOn) {
      break;
    }
  }
  ::shutdown(connection, SHUT_RDWR);
}

std::string LoopbackServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<std::string> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int LoopbackServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(sockets_.size());
}

std::string HttpAnswer(int status, const std::string& body,
                       const std::string& header_lines) {
  return "HTTP/1.1 " + std::to_string(status) + " x\r\n" + header_lines +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

LoopbackServer::Handler InTurn(std::vector<LoopbackServer::Reply> replies) {
  struct State {
    std::mutex mutex;
    std::size_t next = 0;
  };
  return [replies = std::move(replies),
          state = std::make_shared<State>()](const std::string&) {
    const std::lock_guard lock(state->mutex);
    return replies[std::min(state->next++, replies.size() - 1)];
  };
}

}  // namespace infeed
