#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace infeed {

// A client's connection to a small web server, for one request, from the
// request's first byte to the answer's last. No call blocks.
//
// Owns the socket. One thread at a time. A client's error ends only its own
// connection.
class WebConnection {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns the whole answer to a request, given the received part of its head,
  // at most kMaxHead bytes.
  using Answer = std::function<std::string(std::string_view head)>;

  static constexpr std::size_t kMaxHead = 8192;
  static constexpr std::string_view kHeadEnd = "\r\n\r\n";

  // patience: how long the request may take, and then the answer.
  WebConnection(int socket, Clock::duration patience);
  ~WebConnection();
  WebConnection(const WebConnection&) = delete;
  WebConnection& operator=(const WebConnection&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  // The events that poll() should wait for, and the deadline.
  [[nodiscard]] short events() const;
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  // Continues as far as possible without blocking. is_ready: poll() reported an
  // event. False when the connection is finished.
  [[nodiscard]] bool Proceed(bool is_ready, const Answer& answer);

 private:
  // Reads more of the head. False once no more comes.
  [[nodiscard]] bool ReadHead();
  [[nodiscard]] bool WriteAnswer();

  int socket_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  std::string head_;
  std::string answer_;
  std::size_t written_ = 0;
};

}  // namespace infeed
