#include "trainer/feed/rank_parts.h"

#include <algorithm>
#include <thread>

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

}  // namespace infeed
