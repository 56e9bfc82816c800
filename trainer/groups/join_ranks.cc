#include <errno.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "trainer/groups/torchrun_store.h"
#include "trainer/ranks/meeting.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/ranks.h"
#include "trainer/ranks/star.h"

namespace infeed {
namespace {

// Ends the process when the run of all ranks has ended and the main thread
// hangs, often in a call of the device that waits for a rank that is gone.
void EndProcess(const RankPlace& place, const std::string& message) {
  PrintLine(fmt::format("{}: rank {}: {}", program_invocation_short_name,
                        place.rank, message));
  ::_exit(static_cast<int>(ExitCode::kRuntimeError));
}

void PrintDropped(const std::string& line) {
  PrintLine(fmt::format("{}: rank 0: {}", program_invocation_short_name, line));
}

// The launcher's socket, else a new one.
RankListener ListenerOf(const RankPlace& place) {
  return place.listener >= 0
             ? RankListener(Descriptor(place.listener))
             : RankListener(place.master_addr, place.master_port);
}

// torchrun itself listens at the master's port, so rank 0 listens at another
// one and leaves its port in torchrun's store. If the user has set no token, a
// new one is made, which everyone who can reach the store can read.
std::vector<FrameStream> MeetByTorchrun(RankPlace place,
                                        const MeetingOptions& options) {
  const bool has_token = !place.token.empty();
  if (!place.is_first()) {
    MeetingPoint point = FindMeeting(place, options.timeout);
    if (!has_token) {
      place.token = std::move(point.token);
    }
    return MeetRankZero(place, point.port, options.timeout);
  }
  const RankListener listener(place.master_addr);
  MeetingPoint point{.port = listener.port()};
  if (!has_token) {
    place.token = MakeRankToken();
    point.token = place.token;
  }
  PublishMeeting(place, point, options.timeout);
  return AwaitRanks(listener, place, options);
}

std::vector<FrameStream> Meet(const RankPlace& place,
                              std::chrono::milliseconds timeout) {
  const MeetingOptions options = {.timeout = timeout, .say = PrintDropped};
  if (place.store_is_served) {
    return MeetByTorchrun(place, options);
  }
  return place.is_first() ? AwaitRanks(ListenerOf(place), place, options)
                          : MeetRankZero(place, place.master_port, timeout);
}

}  // namespace

std::unique_ptr<Ranks> JoinRanks(const RankPlace& place,
                                 std::chrono::seconds timeout) {
  if (place.is_alone()) {
    return OneRank();
  }
  return MakeStar(
      place, Meet(place, timeout),
      StarOptions{.timeout = timeout,
                  .end_process = [place](const std::string& message) {
                    EndProcess(place, message);
                  }});
}

}  // namespace infeed
