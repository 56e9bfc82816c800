#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <netinet/in.h>

#include "base/error.h"

namespace infeed {

// A port of 127.0.0.1 where nobody listens, and nobody else can meanwhile.
class ClosedPort {
 public:
  ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    Check(socket_ >= 0 && ::bind(socket_, place, size) == 0 &&
              ::getsockname(socket_, place, &size) == 0,
          "a port can be taken");
    port_ = ntohs(address.sin_port);
  }
  ~ClosedPort() { ::close(socket_); }
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT".
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }

 private:
  int socket_;
  int port_ = 0;
};

}  // namespace infeed
