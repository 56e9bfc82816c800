#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/ranks/frames.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

struct StarOptions {
  // A rank that sends nothing for this time has failed. Each rank sends a beat
  // five times in this time, and at least every five seconds.
  std::chrono::milliseconds timeout{300'000};
  // Time for the caller's thread to end by itself once the run of all ranks has
  // ended: while no call has thrown the reason yet, and once one has.
  std::chrono::milliseconds patience{5'000};
  std::chrono::milliseconds patience_once_known{30'000};
  // Ends the process with this message if the caller's thread does not end.
  // Called in the ranks' thread; may return only in tests.
  std::function<void(const std::string& message)> end_process = {};
};

// Ranks in a star: every rank has a connection to rank 0, which combines their
// messages and notifies all ranks when one has failed. A closed connection is
// noticed at once, a silent one after the time-out. links: from AwaitRanks() on
// rank 0, else from MeetRankZero().
//
// The result owns the connections and a thread that serves them; its destructor
// sends a goodbye, and on rank 0 waits for those of the others up to the
// time-out.
[[nodiscard]] std::unique_ptr<Ranks> MakeStar(const RankPlace& place,
                                              std::vector<FrameStream> links,
                                              StarOptions options);

}  // namespace infeed
