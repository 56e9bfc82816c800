#pragma once

#include "base/choices.h"

namespace infeed {

// The content of a batch's slots.
enum class BatchContent {
  kPixels,  // images as packed words, R << 24 | G << 16 | B << 8
  kRgb,     // images as bytes R G B
  kChoices  // numbers of images that a device holds (image_choice.h)
};

// Layouts of a pipeline's images. kChoices is for the trainer alone.
inline constexpr Choices<BatchContent, 2> kLayouts = {
    {{"words", BatchContent::kPixels}, {"rgb", BatchContent::kRgb}}};

}  // namespace infeed
