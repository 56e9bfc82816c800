#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// The records of some shards as an interleave of cycle_length shards with a
// block length of 1 gives them: places take turns, each gives the next record
// of its shard; where that has none left the place stays empty for this turn,
// and at its next turn takes the next shard that nobody has taken. Takes four
// bytes a record. Requires: cycle_length > 0; the sizes sum to less than 2^32.
[[nodiscard]] std::vector<std::uint32_t> Interleave(
    std::span<const std::int64_t> shard_sizes, int cycle_length);

// One epoch in the reference driver's order: shards in their own order, 64
// interleaved, then through a shuffle buffer of 1,024 records. It differs from
// the driver in two things: turns are kept however fast files are read, and
// the buffer is drained at the epoch's end, so that epochs do not run into each
// other.
//
// The record at place p is drawn from the h = min(1024, records - p) that the
// buffer holds, by Below(h) of the first word of stream 7 at (seed, epoch, p);
// the next of the interleave takes its place in the buffer, or, when there is
// none, the buffer's last.
[[nodiscard]] std::vector<std::uint32_t> ReferenceOrder(
    std::span<const std::int64_t> shard_sizes, std::uint64_t seed,
    std::uint32_t epoch);

}  // namespace infeed
