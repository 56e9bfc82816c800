#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "records/archives/tar_samples.h"
#include "records/example/imagenet_example.h"

namespace infeed {

// Serializes the tf.train.Example that stands for a sample:
//
//   __key__            the sample's key
//   image/class/label  from the member "cls", else "json"; absent without one
//   image/filename     the base name of the image's member
//   ENDING             each other member's bytes, cls and json included
//   image/encoded      the only member that is an image by its ending; last
//
// In a sample with several images, all are under their endings, and none is
// image/encoded or gives the file name. An image_key other than image/encoded
// is the ending of the image's member, in any case, with or without a dot; the
// image is then under that key. With an empty one the sample needs no image:
// each member is under its ending, and the label is indexed_label, which a
// TarIndex has (kNoLabel: absent).
//
// Writes into buffer, which grows as needed and should be reused, and returns
// the Example, a view into buffer. It is at most kTarExampleExtraBytes longer
// than the bytes that the sample was parsed from. Throws DataError, without an
// origin, for a sample without the image, a label that is not a whole number, a
// base name longer than 1024 bytes, and an ending that is not UTF-8. Requires:
// the sample is not in buffer.
[[nodiscard]] std::span<const std::byte> BuildTarExample(
    const TarSample& sample, std::vector<std::byte>& buffer,
    std::string_view image_key = kImageKey,
    std::int64_t indexed_label = kNoLabel);

inline constexpr std::int64_t kTarExampleExtraBytes = 1024;

}  // namespace infeed
