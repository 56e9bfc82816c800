#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "trainer/rank_frames.h"
#include "trainer/rank_place.h"
#include "trainer/rank_socket.h"

// How ranks come together: each connects to rank 0 and says which one it is and
// a token that rank 0 gave out, so that no stranger's connection counts.
namespace infeed {

// Rank 0: waits for all others. By rank; the one of rank 0 itself is closed.
// Throws IoError naming those who have not come in time, came twice, or were
// gone again; those who have come are told the same.
[[nodiscard]] std::vector<FrameStream> AwaitRanks(
    const RankListener& listener, int world_size, const std::string& token,
    std::chrono::milliseconds timeout);

// Every other rank: connects, and waits until all have come. Throws IoError.
[[nodiscard]] FrameStream MeetRankZero(const RankPlace& place, int port,
                                       const std::string& token,
                                       std::chrono::milliseconds timeout);

}  // namespace infeed
