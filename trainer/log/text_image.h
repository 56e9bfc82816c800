#pragma once

#include <string_view>

#include "preprocess/pixels/image.h"

namespace infeed {

// Renders a line of text, black on white, kTextHeight pixels high. Non-ASCII
// characters become '?'.
inline constexpr int kTextHeight = 14;
[[nodiscard]] RgbImage TextImage(std::string_view text);

}  // namespace infeed
