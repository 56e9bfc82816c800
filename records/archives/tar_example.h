#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/archives/tar_samples.h"

namespace infeed {

// Serializes the tf.train.Example that stands for a sample:
//
//   __key__            the sample's key
//   image/class/label  from the member "cls", else "json"; absent without one
//   image/filename     the base name of the image's member
//   ENDING             each other member's bytes, cls and json included
//   image/encoded      the first member that is an image by its ending; last
//
// Writes into buffer, which grows as needed and should be reused, and returns
// the Example, a view into buffer. It is at most kTarExampleExtraBytes longer
// than the bytes that the sample was parsed from. Throws DataError, without an
// origin, for a sample without an image, a label that is not a whole number, a
// base name longer than 1024 bytes, and an ending that is not UTF-8. Requires:
// the sample is not in buffer.
[[nodiscard]] std::span<const std::byte> BuildTarExample(
    const TarSample& sample, std::vector<std::byte>& buffer);

inline constexpr std::int64_t kTarExampleExtraBytes = 1024;

}  // namespace infeed
