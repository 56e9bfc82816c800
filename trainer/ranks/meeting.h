#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "trainer/ranks/frames.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/socket.h"

// How ranks come together: each connects to rank 0 and says the run's token and
// which rank it is. Whoever says another token, anything else or nothing at all
// is dropped, and keeps nobody from meeting; until the token is there, no more
// than 4 KiB are taken from a connection.
namespace infeed {

struct MeetingOptions {
  // How long all ranks have to come.
  std::chrono::milliseconds timeout{300'000};
  // How long a connection has to say who it is.
  std::chrono::milliseconds patience{10'000};
  // Is given a line about a connection that was dropped; the first ones alone.
  std::function<void(const std::string& line)> say = {};
};

// Rank 0: waits for all others, who have place's token. By rank; the one of
// rank 0 itself is closed. Throws IoError naming those who have not come in
// time or were gone again; those who have come are told the same.
[[nodiscard]] std::vector<FrameStream> AwaitRanks(
    const RankListener& listener, const RankPlace& place,
    const MeetingOptions& options);

// Every other rank: connects to place.master_addr at that port, and waits until
// all have come. Throws IoError, with rank 0's reason where it gives one.
[[nodiscard]] FrameStream MeetRankZero(const RankPlace& place, int port,
                                       std::chrono::milliseconds timeout);

}  // namespace infeed
