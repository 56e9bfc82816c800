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

// Milliseconds until the deadline, for poll(); 0 once it has passed.
[[nodiscard]] int PollTimeTo(std::chrono::steady_clock::time_point deadline);

// The listening socket to which the ranks connect.
class RankListener {
 public:
  // Listens at a port; 0: any free one. If only this machine can reach the
  // address (IsThisMachineOnly()), listens at that address only, else at all of
  // this machine's. Throws IoError.
  explicit RankListener(const std::string& address, int port = 0);
  // Takes a socket that already listens, from a launcher. Throws UsageError if
  // it does not listen.
  explicit RankListener(RankSocket listening);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  // Accepts a connection; nullopt: none is waiting.
  [[nodiscard]] std::optional<RankSocket> Accept() const;

 private:
  RankSocket socket_;
  int port_ = 0;
};

// The peer's address, "10.0.0.7:40112"; "?" where the peer is gone.
[[nodiscard]] std::string PeerAddress(int descriptor);

// Connects, trying the name's addresses in turn until the time-out: rank 0 may
// not listen yet. Throws IoError naming host and port.
[[nodiscard]] RankSocket ConnectTo(const std::string& host, int port,
                                   std::chrono::milliseconds timeout);

// This machine's own numeric address on the route to a host: the ranks there
// can reach it at this address. Nothing is sent. Throws IoError when the name
// is not known or there is no route.
[[nodiscard]] std::string AddressTowards(const std::string& host);

}  // namespace infeed
