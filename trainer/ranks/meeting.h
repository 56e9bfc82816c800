#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "trainer/ranks/frames.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/socket.h"

// How ranks connect: each connects to rank 0 and sends the run's token and its
// rank. A connection that sends another token, anything else or nothing is
// dropped and does not delay the ranks. Until a connection has sent the token,
// at most 4 KiB are read from it.
namespace infeed {

struct MeetingOptions {
  // Time for all ranks to connect.
  std::chrono::milliseconds timeout{300'000};
  // Time for a connection to send its greeting.
  std::chrono::milliseconds patience{10'000};
  // Called with a line about each of the first connections dropped.
  std::function<void(const std::string& line)> say = {};
};

// Rank 0: waits for all others to connect with place's token. Returns the
// streams by rank; that of rank 0 itself is closed. Throws IoError naming the
// ranks that have not connected in time or have disconnected; the connected
// ranks are sent the same message.
[[nodiscard]] std::vector<FrameStream> AwaitRanks(
    const RankListener& listener, const RankPlace& place,
    const MeetingOptions& options);

// Every other rank: connects to place.master_addr at `port`, and waits until
// all ranks have connected. Returns the one stream to rank 0. Throws IoError,
// with rank 0's reason where it sends one.
[[nodiscard]] std::vector<FrameStream> MeetRankZero(
    const RankPlace& place, int port, std::chrono::milliseconds timeout);

}  // namespace infeed
