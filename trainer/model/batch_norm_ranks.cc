#include "trainer/model/batch_norm_ranks.h"

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {

int BatchNormRanks(int batch_norm_group, int world_size) {
  const int ranks = batch_norm_group == 0 ? world_size : batch_norm_group;
  if (ranks < 1 || world_size % ranks != 0) {
    throw UsageError(fmt::format(
        "batch_norm_group={} does not divide the {} ranks: give a divisor, or "
        "0 for all of them",
        batch_norm_group, world_size));
  }
  return ranks;
}

}  // namespace infeed
