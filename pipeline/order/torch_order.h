#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace infeed {

// Beyond it PyTorch orders in another way, by the generator's 64-bit words.
inline constexpr std::int64_t kMostTorchRecords =
    std::numeric_limits<std::uint32_t>::max() / 20 - 1;

// torch.randperm(records) of PyTorch's CPU generator after
// manual_seed(seed + epoch): the order in which its DistributedSampler goes
// through an epoch. A swap of each place with one behind it, which a word of
// the Mersenne Twister chooses; of the seed its lower 32 bits count. Takes four
// bytes a record. Requires: 0 <= records <= kMostTorchRecords.
[[nodiscard]] std::vector<std::uint32_t> TorchOrder(std::int64_t records,
                                                    std::uint64_t seed,
                                                    std::uint32_t epoch);

}  // namespace infeed
