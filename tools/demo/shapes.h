#pragma once

#include <string_view>

#include "base/random.h"
#include "preprocess/pixels/image.h"

// The pictures of the demo data set: ten classes that differ in shape and
// texture alone. Colours, light, place, scale and noise are drawn from the same
// distributions for all of them, so a network can only tell classes apart by
// shape and texture.
namespace infeed {

inline constexpr int kDemoClasses = 10;

// "checker", "cross", ...: in bytewise order, as a converter numbers folders.
// Requires: 0 <= demo_class < kDemoClasses.
[[nodiscard]] std::string_view DemoClassName(int demo_class);

// Draws one picture of a class, 72 to 160 pixels wide and high. The motif is
// repeated over the picture or fills it, so that a crop still shows the class;
// a mirrored motif is never another class's motif. A pure function of the class
// and the draws. Requires: 0 <= demo_class < kDemoClasses.
void DrawDemoImage(int demo_class, RandomSource& random, RgbImage& image);

}  // namespace infeed
