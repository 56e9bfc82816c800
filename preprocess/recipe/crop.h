#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/options.h"

// Computes the crop window of an image, and which of several crops it is. The
// reference is the TPU ResNet driver, whose functions these match including
// rounding, as they match torchvision's transforms; docs/internals/decisions.md
// lists the sources.
namespace infeed {

// The reference's random training crop (TensorFlow's
// sample_distorted_bounding_box with one box, the whole image): aspect ratio
// uniform in 3/4..4/3, height uniform between the heights that give 0.08 and
// 1.0 of the area, at most ten attempts, at least 0.1 of the image covered.
// Returns the whole image if all attempts fail. Requires: height > 0, width >
// 0.
[[nodiscard]] Window RandomCropWindow(int height, int width,
                                      RandomSource& random);

// The reference's evaluation crop: a centred square of a part of the shorter
// side (EvalCropFraction()); for outputs that are not square a window of their
// shape, that part of the largest one in the image. At least one pixel each
// way, where the reference would fail. Requires: all > 0.
[[nodiscard]] Window CenterCropWindow(int height, int width, float fraction,
                                      const ImageSize& output = 1);

// The reference's training window: the random crop, or the centre crop if the
// random one is the whole image and the image has three components.
[[nodiscard]] Window TrainingWindow(int height, int width, int components,
                                    const ImageSize& image_size,
                                    RandomSource& random);

// The window of transforms.RandomResizedCrop: area uniform in
// crop.scale..crop.max_scale of the image's, aspect ratio log-uniform in 1 /
// crop.ratio..crop.ratio, at most ten attempts; then the largest centred window
// whose ratio is in bounds. Requires: height > 0, width > 0.
[[nodiscard]] Window RandomResizedCropWindow(int height, int width,
                                             const CropOptions& crop,
                                             RandomSource& random);

// The result of transforms.Resize() and CenterCrop(image_size): an image is
// resized, keeping its shape, until it just covers a rectangle; if that is a
// square, its sides are the image's shorter side, as in Resize(side). Requires:
// all > 0.
[[nodiscard]] Framing ResizedCenterCrop(int height, int width,
                                        const ImageSize& image_size,
                                        const ImageSize& cover);

// transforms.RandomCrop(size, padding=4) of an image of that size: moves the
// image by up to four pixels each way and fills the rest with black.
struct Move {
  static constexpr int kPadding = 4;

  int down = 0;  // pixels
  int right = 0;

  friend bool operator==(const Move&, const Move&) = default;
};

// Each is uniform in -4..4; the transform draws 4 - down, then 4 - right.
[[nodiscard]] Move DrawMove(RandomSource& random);

// Moves the packed pixels of an image of that size. Requires: pixels.size() ==
// size.pixels().
void MovePixels(const Move& move, const ImageSize& size,
                std::span<std::uint32_t> pixels);

// The window of torchvision's RandomIoUCrop, as its presets for SSD use it:
// from 0.3 to 1 of each side, its sides' ratio at most 2, at least one box's
// centre in it, and one of these boxes overlaps it by a drawn part. The whole
// image is used as one of seven options, after 50 options without a window
// (torchvision has no such bound), and at once if there are no boxes. boxes:
// x1, y1, x2, y2 in pixels, which are clamped to the image. Requires: the image
// has pixels.
[[nodiscard]] Window IouCropWindow(const ImageSize& source,
                                   std::span<const float> boxes,
                                   RandomSource& random);

// One of the eval_crops crops of an image, in the order of torchvision's
// FiveCrop and TenCrop: top left, top right, bottom left, bottom right, centre,
// and then these of the mirrored image. With one crop it is the centre.
//
// The crops of an image are at consecutive positions of an epoch, so that the
// position determines the crop.
class EvalView {
 public:
  // Requires: crops is 1, 5 or 10.
  EvalView(int crops, std::uint64_t position)
      : index_(crops == 1 ? kCentre
                          : static_cast<int>(
                                position % static_cast<std::uint64_t>(crops))) {
  }

  [[nodiscard]] bool is_mirrored() const { return index_ > kCentre; }

  // The first row or column of the crop in an image that is not mirrored.
  // whole, part: lengths of the image and of the crop; centre: the crop's place
  // in its centre.
  [[nodiscard]] int PlaceY(int whole, int part, int centre) const {
    return corner() == kCentre ? centre : corner() / 2 * (whole - part);
  }
  [[nodiscard]] int PlaceX(int whole, int part, int centre) const {
    const int x = corner() == kCentre ? centre : corner() % 2 * (whole - part);
    return is_mirrored() ? whole - part - x : x;
  }

 private:
  static constexpr int kCentre = 4;
  [[nodiscard]] int corner() const { return index_ % (kCentre + 1); }

  int index_;
};

}  // namespace infeed
