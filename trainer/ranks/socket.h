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

// Milliseconds until then, as poll() takes them; 0 once it has come.
[[nodiscard]] int PollTimeTo(std::chrono::steady_clock::time_point deadline);

// A socket at which the ranks meet.
class RankListener {
 public:
  // At a port, 0 for any that is free: of the address where this machine alone
  // reaches it (IsThisMachineOnly()), else of all of this machine's. Throws
  // IoError.
  explicit RankListener(const std::string& address, int port = 0);
  // One that listens already, as a launcher hands it on. Throws UsageError
  // where it is none.
  explicit RankListener(RankSocket listening);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  // Whoever knocks; nullopt: nobody at the moment.
  [[nodiscard]] std::optional<RankSocket> Accept() const;

 private:
  RankSocket socket_;
  int port_ = 0;
};

// The other end's address, "10.0.0.7:40112"; "?" where it is gone.
[[nodiscard]] std::string PeerOf(int descriptor);

// Connects, trying the name's addresses in turn, again and again until the time
// is over: rank 0 may not listen yet. Throws IoError naming host and port.
[[nodiscard]] RankSocket ConnectTo(const std::string& host, int port,
                                   std::chrono::milliseconds timeout);

}  // namespace infeed
