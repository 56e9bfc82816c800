#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace infeed {

// A web server of a test's own on 127.0.0.1: every request goes to a function
// that gives the raw bytes of the answer, right or wrong.
//
// Owns its threads, one a connection. Thread-safe.
class LoopbackServer {
 public:
  struct Reply {
    std::string bytes;
    // The action after the bytes: read the next request, close the connection,
    // or wait until the client gives up.
    enum class Then { kGoOn, kClose, kHang } then = Then::kGoOn;
  };
  // Takes head and body of a request; called from several threads.
  using Handler = std::function<Reply(const std::string& request)>;

  explicit LoopbackServer(Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  // "http://127.0.0.1:PORT".
  [[nodiscard]] std::string url() const;
  // The requests so far, in the order of arrival.
  [[nodiscard]] std::vector<std::string> requests() const;
  [[nodiscard]] int connections() const;

 private:
  void Accept();
  void Serve(int connection);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<int> sockets_;
  std::list<std::jthread> threads_;
  std::jthread acceptor_;
};

// "HTTP/1.1 STATUS x", these header lines, and the length of the body.
[[nodiscard]] std::string HttpAnswer(int status, const std::string& body = "",
                                     const std::string& header_lines = "");

// Gives answers in this order, the last one again and again.
[[nodiscard]] LoopbackServer::Handler InTurn(
    std::vector<LoopbackServer::Reply> replies);

}  // namespace infeed
