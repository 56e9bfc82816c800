#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace infeed {

// For more records PyTorch uses another algorithm, with 64-bit random words.
inline constexpr std::int64_t kMostTorchRecords =
    std::numeric_limits<std::uint32_t>::max() / 20 - 1;

// torch.randperm(records) of PyTorch's CPU generator after manual_seed(seed +
// epoch): the order in which its DistributedSampler goes through an epoch.
// Swaps each place with a later one or itself, chosen by a word of the Mersenne
// Twister; only the seed's lower 32 bits count. Needs four bytes per record.
// Requires: 0 <= records <= kMostTorchRecords.
[[nodiscard]] std::vector<std::uint32_t> TorchOrder(std::int64_t records,
                                                    std::uint64_t seed,
                                                    std::uint32_t epoch);

// Interleaves cycle_length shards with a block length of 1: cycle_length places
// take turns, and each gives the next record of its shard. When the shard has
// no record left, the place gives none in this turn and takes the next untaken
// shard at its next turn. Needs four bytes per record. Requires: cycle_length >
// 0; the sizes sum to less than 2^32.
[[nodiscard]] std::vector<std::uint32_t> Interleave(
    std::span<const std::int64_t> shard_sizes, int cycle_length);

// One epoch in the reference driver's order: shards in their own order, 64
// interleaved, then through a shuffle buffer of 1,024 records. It differs from
// the driver in two ways: the order of turns does not depend on how fast files
// are read, and the buffer is drained at the epoch's end, so that epochs do not
// mix.
//
// The record at place p is drawn from the h = min(1024, records - p) records in
// the buffer, by Below(h) of the first word of stream 7 at (seed, epoch, p).
// The next record of the interleave takes its place in the buffer, or, when
// there is none left, the buffer's last record.
[[nodiscard]] std::vector<std::uint32_t> ReferenceOrder(
    std::span<const std::int64_t> shard_sizes, std::uint64_t seed,
    std::uint32_t epoch);

}  // namespace infeed
