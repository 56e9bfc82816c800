#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace infeed {

struct WebPage {
  std::string type;  // its media type
  std::string body;
};

// A web server for scrapers on this machine: it listens on 127.0.0.1 only,
// answers one GET request per connection, and disconnects a client that takes
// longer than `patience`. It serves several clients at once; when there are too
// many, it disconnects the oldest.
//
// Owns its thread, which the destructor ends at once. Throws UsageError for a
// port that is not available. A bad request is harmless: at worst it gets no
// answer.
class MetricsServer {
 public:
  // Returns the page of a path; nullopt: no such page. Called from the server's
  // thread; must not throw.
  using Pages = std::function<std::optional<WebPage>(std::string_view path)>;

  // port: 0 means any free port.
  MetricsServer(int port, Pages pages,
                std::chrono::milliseconds patience = std::chrono::seconds(2));
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  // Owns a file descriptor and closes it.
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

  class Connection;
  using Clients = std::vector<std::unique_ptr<Connection>>;

  void Run();
  // Waits for an event of a socket. False when the server ends.
  [[nodiscard]] bool Wait(const Clients& clients);
  void Accept(Clients& clients);
  [[nodiscard]] std::string Answer(std::string_view head) const;

  Pages pages_;
  std::chrono::milliseconds patience_;
  Descriptor listener_;
  Descriptor stop_;  // readable once the server ends
  int port_ = 0;
  // Used by the thread only: the stop descriptor, the listener, each client.
  std::vector<pollfd> polled_;
  std::chrono::steady_clock::time_point next_accept_;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
