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

#include "tools/input/web_connection.h"

namespace infeed {

struct WebPage {
  std::string type;  // its media type
  std::string body;
};

// A web server for scrapers of this machine: it listens on 127.0.0.1 alone,
// answers GET, one request a connection, and waits for a client no longer than
// its patience. Meanwhile it serves others; where there are too many, the one
// that has been there longest goes.
//
// Owns its thread, which ends with it at once. Throws UsageError for a port
// that cannot be had. What a client sends can do no harm but get no answer.
class MetricsServer {
 public:
  // Returns the page of a path, nullopt where there is none; called from the
  // server's thread. It must not throw.
  using Pages = std::function<std::optional<WebPage>(std::string_view path)>;

  // port: 0 is any that is free.
  MetricsServer(int port, Pages pages,
                std::chrono::milliseconds patience = std::chrono::seconds(2));
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

  using Clients = std::vector<std::unique_ptr<WebConnection>>;

  void Run();
  // Waits until something happens. False when the server ends.
  [[nodiscard]] bool Wait(const Clients& clients);
  void Accept(Clients& clients);
  [[nodiscard]] std::string Answer(std::string_view head) const;

  Pages pages_;
  std::chrono::milliseconds patience_;
  Descriptor listener_;
  Descriptor stop_;  // readable once the server ends
  int port_ = 0;
  // Of the thread: the end, new clients, and each client.
  std::vector<pollfd> polled_;
  WebConnection::Clock::time_point next_accept_;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
