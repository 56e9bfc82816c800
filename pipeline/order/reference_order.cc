#include "pipeline/order/reference_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace infeed {
namespace {

constexpr int kCycleLength = 64;
constexpr std::size_t kBufferRecords = 1024;

// The remaining records of a shard.
struct Rest {
  std::int64_t next = 0;
  std::int64_t end = 0;
};

}  // namespace

std::vector<std::uint32_t> TorchOrder(std::int64_t records, std::uint64_t seed,
                                      std::uint32_t epoch) {
  Check(records >= 0 && records <= kMostTorchRecords,
        "PyTorch orders so many records like this");
  std::mt19937 engine(static_cast<std::uint32_t>(seed + epoch));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(records));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    const std::size_t left = order.size() - place;
    std::swap(order[place], order[place + engine() % left]);
  }
  return order;
}

std::vector<std::uint32_t> Interleave(std::span<const std::int64_t> shard_sizes,
                                      int cycle_length) {
  std::vector<std::uint32_t> order;
  const std::int64_t records =
      std::reduce(shard_sizes.begin(), shard_sizes.end());
  order.reserve(static_cast<std::size_t>(records));
  std::vector<Rest> cycle(static_cast<std::size_t>(cycle_length));
  std::vector<bool> is_open(cycle.size());
  std::size_t shard = 0;
  std::int64_t first = 0;
  for (std::size_t turn = 0; std::ssize(order) < records;
       turn = (turn + 1) % cycle.size()) {
    Rest& rest = cycle[turn];
    if (!is_open[turn] && shard < shard_sizes.size()) {
      rest = {.next = first, .end = first + shard_sizes[shard]};
      first = rest.end;
      ++shard;
    }
    is_open[turn] = rest.next < rest.end;
    if (is_open[turn]) {
      order.push_back(static_cast<std::uint32_t>(rest.next++));
    }
  }
  return order;
}

std::vector<std::uint32_t> ReferenceOrder(
    std::span<const std::int64_t> shard_sizes, std::uint64_t seed,
    std::uint32_t epoch) {
  std::vector<std::uint32_t> order = Interleave(shard_sizes, kCycleLength);
  std::vector<std::uint32_t> buffer(
      order.begin(), order.begin() + std::min(std::ssize(order),
                                              std::ptrdiff_t{kBufferRecords}));
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t held = std::min(kBufferRecords, order.size() - place);
    SampleRandom draw({.seed = seed, .epoch = epoch, .position = place},
                      RandomStream::kFileShuffle);
    std::uint32_t& drawn = buffer[draw.Below(static_cast<std::uint32_t>(held))];
    // Records that moved from the interleave to the buffer are no longer needed
    // there.
    const std::size_t coming = place + kBufferRecords;
    order[place] = drawn;
    drawn = coming < order.size() ? order[coming] : buffer[held - 1];
  }
  return order;
}

}  // namespace infeed
