#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace infeed {

// A TCP socket, which it owns and closes. Non-blocking.
class RankSocket {
 public:
  RankSocket() = default;
  explicit RankSocket(int descriptor) : descriptor_(descriptor) {}
  ~RankSocket() { Close(); }
  RankSocket(const RankSocket&) = delete;
  RankSocket& operator=(const RankSocket&) = delete;
  RankSocket(RankSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RankSocket& operator=(RankSocket&& other) noexcept {
    if (this != &other) {
      Close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void Close();

 private:
  int descriptor_ = -1;
};

// Listens at a free port: of this machine alone, or of all its addresses.
// Throws IoError.
class RankListener {
 public:
  explicit RankListener(bool this_machine_only);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  // Whoever knocks; nullopt: nobody at the moment.
  [[nodiscard]] std::optional<RankSocket> Accept() const;

 private:
  RankSocket socket_;
  int port_ = 0;
};

// Connects, trying the name's addresses in turn until the time is over. Throws
// IoError naming host and port.
[[nodiscard]] RankSocket ConnectTo(const std::string& host, int port,
                                   std::chrono::milliseconds timeout);

}  // namespace infeed
