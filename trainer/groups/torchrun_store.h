#pragma once

#include <chrono>
#include <string>

#include "trainer/ranks/place.h"

// The store that torchrun serves for its ranks at master_addr and master_port.
// Rank 0 leaves there where the ranks meet; nothing else is kept in it. It has
// no authentication: whoever reaches it reads the same.
namespace infeed {

// Where the ranks of a run meet.
struct MeetingPoint {
  int port = 0;
  std::string token = {};
};

// Rank 0 leaves it, and the others read it, waiting up to the time-out. Throw
// IoError naming the store's address.
void PublishMeeting(const RankPlace& place, const MeetingPoint& meeting,
                    std::chrono::milliseconds timeout);
[[nodiscard]] MeetingPoint FindMeeting(const RankPlace& place,
                                       std::chrono::milliseconds timeout);

}  // namespace infeed
