#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace infeed {

// A client of a small web server, from its request's first byte to the
// answer's last one: one request, and no step of it waits.
//
// Owns the socket. One thread at a time. What a client does wrong ends its
// connection, and nothing else.
class WebConnection {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns the whole answer to the head of a request, as far as it came; at
  // most kMaxHead bytes.
  using Answer = std::function<std::string(std::string_view head)>;

  static constexpr std::size_t kMaxHead = 8192;
  static constexpr std::string_view kHeadEnd = "\r\n\r\n";

  // patience: how long the request may take, and then the answer.
  WebConnection(int socket, Clock::duration patience);
  ~WebConnection();
  WebConnection(const WebConnection&) = delete;
  WebConnection& operator=(const WebConnection&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  // What poll() is to wait for, and until when.
  [[nodiscard]] short events() const;
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  // Goes on as far as it can; is_ready: poll() says so. False at its end.
  [[nodiscard]] bool Proceed(bool is_ready, const Answer& answer);

 private:
  // False once no more of it comes.
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
