#pragma once

#include <cstdint>

namespace infeed {

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
