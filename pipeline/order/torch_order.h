#pragma once

#include <cstdint>
#include <limits>
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

}  // namespace infeed
