#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/error.h"

namespace infeed {

// A socket to a port of this machine; below 0 where nobody listens.
inline int ConnectTo(int port) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(client, reinterpret_cast<sockaddr*>(&address),
                sizeof(address)) != 0) {
    ::close(client);
    return -1;
  }
  return client;
}

// All that comes on a socket until the other side closes; closes it.
inline std::string ReadAll(int client) {
  std::string answer;
  std::array<char, 4096> bytes;
  for (ssize_t count = 0;
       (count = ::recv(client, bytes.data(), bytes.size(), 0)) > 0;) {
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  ::close(client);
  return answer;
}

// Sends these bytes, and returns all that comes back until the other side
// closes.
inline std::string Exchange(int port, std::string_view request) {
  const int client = ConnectTo(port);
  Check(client >= 0, "somebody listens");
  (void)::send(client, request.data(), request.size(), MSG_NOSIGNAL);
  ::shutdown(client, SHUT_WR);
  return ReadAll(client);
}

// The whole answer to a GET.
inline std::string HttpGet(int port, const std::string& path) {
  return Exchange(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

}  // namespace infeed
