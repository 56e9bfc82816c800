#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace infeed {

// Milliseconds until the deadline, for poll(); 0 once it has passed.
[[nodiscard]] int PollTimeTo(std::chrono::steady_clock::time_point deadline);

// The listening socket to which the ranks connect. Sockets are non-blocking.
class RankListener {
 public:
  // Listens at a port; 0: any free one. If only this machine can reach the
  // address (IsThisMachineOnly()), listens at that address only, else at all of
  // this machine's. Throws IoError.
  explicit RankListener(const std::string& address, int port = 0);
  // Takes a socket that already listens, from a launcher. Throws UsageError if
  // it does not listen.
  explicit RankListener(Descriptor listening);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // Accepts a connection; nullopt: none is waiting.
  [[nodiscard]] std::optional<Descriptor> Accept() const;

 private:
  Descriptor socket_;
  int port_ = 0;
};

// The peer's address, "10.0.0.7:40112"; "?" where the peer is gone.
[[nodiscard]] std::string PeerAddress(int descriptor);

// Connects, trying the name's addresses in turn until the time-out: rank 0 may
// not listen yet. Throws IoError naming host and port.
[[nodiscard]] Descriptor ConnectTo(const std::string& host, int port,
                                   std::chrono::milliseconds timeout);

// This machine's own numeric address on the route to a host: the ranks there
// can reach it at this address. Nothing is sent. Throws IoError when the name
// is not known or there is no route.
[[nodiscard]] std::string AddressTowards(const std::string& host);

}  // namespace infeed
