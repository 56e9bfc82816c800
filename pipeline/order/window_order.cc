#include "pipeline/order/window_order.h"

#include <algorithm>
#include <cstddef>

#include "pipeline/order/keyed_permutation.h"

namespace infeed {

WindowOrder::WindowOrder(std::span<const std::int64_t> shard_sizes,
                         const OrderWindow& window, std::uint64_t seed,
                         std::uint32_t epoch)
    : window_(window), seed_(seed), epoch_(epoch), shards_(shard_sizes.size()) {
  const KeyedPermutation order(
      static_cast<std::uint32_t>(shard_sizes.size()),
      {.seed = seed, .epoch = epoch, .domain = kShardDomain});
  std::int64_t first = 0;
  for (std::uint32_t shard = 0; shard < order.size(); ++shard) {
    shards_[order.PositionOf(shard)] = {.first = first,
                                        .size = shard_sizes[shard]};
    first += shard_sizes[shard];
  }
  const auto width = static_cast<std::size_t>(window.shards);
  starts_.push_back(0);
  for (std::size_t i = 0; i < shards_.size(); i += width) {
    const std::span group =
        std::span(shards_).subspan(i, std::min(width, shards_.size() - i));
    PlanGroup(group, starts_.back());
    starts_.push_back(group.front().end);
  }
}

void WindowOrder::PlanGroup(std::span<Shard> group, std::int64_t start) {
  std::sort(group.begin(), group.end(), [](const Shard& a, const Shard& b) {
    return a.size != b.size ? a.size > b.size : a.first < b.first;
  });
  // A shard ends after as many rounds as it has records: by then each larger
  // shard has given that many records, each smaller shard all of its records.
  std::int64_t smaller = 0;
  for (std::size_t i = group.size(); i-- > 0;) {
    const std::int64_t size = group[i].size;
    group[i].end = start + static_cast<std::int64_t>(i + 1) * size + smaller;
    smaller += size;
  }
}

std::int64_t WindowOrder::RecordAt(std::int64_t position) const {
  const std::int64_t block = position / window_.records;
  const std::int64_t first = block * window_.records;
  const std::int64_t size =
      std::min<std::int64_t>(window_.records, starts_.back() - first);
  const KeyedPermutation shuffle(
      static_cast<std::uint32_t>(size),
      {.seed = seed_,
       .epoch = epoch_,
       .domain = kBlockDomain + static_cast<std::uint32_t>(block)});
  return Interleaved(first +
                     shuffle.At(static_cast<std::uint32_t>(position - first)));
}

std::int64_t WindowOrder::Interleaved(std::int64_t place) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), place);
  const auto number = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const auto width = static_cast<std::size_t>(window_.shards);
  const std::span all = std::span(shards_).subspan(number * width);
  const std::span group = all.first(std::min(width, all.size()));
  const auto used_up = std::partition_point(
      group.begin(), group.end(),
      [&](const Shard& shard) { return shard.end > place; });
  // The round from which only these shards are left.
  std::int64_t rounds = 0;
  std::int64_t start = starts_[number];
  if (used_up != group.end()) {
    rounds = used_up->size;
    start = used_up->end;
  }
  const std::int64_t left = used_up - group.begin();
  const auto turn = static_cast<std::size_t>((place - start) % left);
  return group[turn].first + rounds + (place - start) / left;
}

}  // namespace infeed
