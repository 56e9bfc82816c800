#pragma once

#include <optional>

#include "base/choices.h"

namespace infeed {

enum class Precision { kFloat32, kBfloat16 };
// Of a choice that may be left open.
inline constexpr Choices<std::optional<Precision>, 3> kPrecisions = {
    {{"auto", std::nullopt},
     {"bfloat16", Precision::kBfloat16},
     {"float32", Precision::kFloat32}}};

// How the device normalizes a pixel's bytes.
enum class Normalization {
  kImagenet,  // (value - mean) / standard deviation, by channel
  kUnit,      // divided by 255
};
inline constexpr Choices<Normalization, 2> kNormalizations = {
    {{"imagenet", Normalization::kImagenet}, {"unit", Normalization::kUnit}}};

}  // namespace infeed
