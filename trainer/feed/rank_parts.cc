#include "trainer/feed/rank_parts.h"

#include <algorithm>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {

int ThreadsOf(const RankPlace& place) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return place.local_world_size == 1
             ? 0
             : std::max(1, cores / place.local_world_size);
}

InputOptions PartOf(InputOptions input, const RankPlace& place) {
  input.rank = place.rank;
  input.world_size = place.world_size;
  input.local_world_size = place.local_world_size;
  input.threads = input.threads > 0 ? input.threads : ThreadsOf(place);
  if (!input.training) {
    input.batch_size +=
        (place.world_size - input.batch_size % place.world_size) %
        place.world_size;
  }
  return input;
}

void RequireShares(int train_batch_size, int ranks) {
  const int rest = train_batch_size % ranks;
  if (rest != 0) {
    const int less = train_batch_size - rest;
    throw UsageError(fmt::format(
        "train_batch_size={}: {} ranks cannot share it equally; give {}",
        train_batch_size, ranks,
        less == 0 ? std::to_string(ranks)
                  : fmt::format("{} or {}", less, less + ranks)));
  }
}

}  // namespace infeed
