#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace infeed {

struct WebPage {
  std::string type;  // its media type
  std::string body;
};

// A web server for scrapers of this machine: it listens on 127.0.0.1 alone,
// answers GET, one request a connection and one connection at a time, and
// waits for a client no longer than two seconds.
//
// Owns its thread, which ends with it at once. Throws UsageError for a port
// that cannot be had. What a client sends can do no harm but get no answer.
class MetricsServer {
 public:
  // Returns the page of a path, nullopt where there is none; called from the
  // server's thread. It must not throw.
  using Pages = std::function<std::optional<WebPage>(std::string_view path)>;

  // port: 0 is any that is free.
  MetricsServer(int port, Pages pages);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  // Closes itself.
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

   private:
    int number_;
  };

  void Run() const;
  // Waits until a socket can be read or written, as events say. False when the
  // time is over or the server ends.
  [[nodiscard]] bool WaitFor(int socket, short events, int milliseconds) const;
  void Serve(int connection) const;
  // The head of a request, as far as it came; at most kMaxHead bytes.
  [[nodiscard]] std::string ReadHead(int connection) const;
  void Write(int connection, std::string_view text) const;
  [[nodiscard]] std::string Answer(std::string_view head) const;

  Pages pages_;
  Descriptor listener_;
  Descriptor stop_;  // readable once the server ends
  int port_ = 0;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
