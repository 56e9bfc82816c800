#pragma once

#include <chrono>
#include <string>

#include "trainer/ranks/place.h"

// The store that torchrun serves for its ranks at master_addr and master_port.
// Rank 0 leaves its port and token there, and nothing else. The store has no
// authentication: everyone who can reach it can read them.
namespace infeed {

// Where the ranks of a run connect, and their token.
struct MeetingPoint {
  int port = 0;
  std::string token = {};
};

// Rank 0 publishes the meeting point; the others read it, waiting up to the
// time-out. Throw IoError naming the store's address.
void PublishMeeting(const RankPlace& place, const MeetingPoint& meeting,
                    std::chrono::milliseconds timeout);
[[nodiscard]] MeetingPoint FindMeeting(const RankPlace& place,
                                       std::chrono::milliseconds timeout);

}  // namespace infeed
