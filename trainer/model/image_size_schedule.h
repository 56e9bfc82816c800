#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "preprocess/pixels/image_size.h"

namespace infeed {

// The image size of each epoch of a training run: usually small images first,
// which cost less, and large ones at the end.
class ImageSizeSchedule {
 public:
  // "0:160,30:192,60:224" means 160 pixels from epoch 0 on, 192 from epoch 30
  // on and so on, "0:160x224" 160 rows of 224 pixels; image_size before the
  // first epoch listed. Empty text: image_size always. Throws UsageError,
  // naming image_size_schedule, for text of another form, epochs that do not
  // increase and sides outside 1..8192.
  ImageSizeSchedule(const std::string& text, const ImageSize& image_size);

  [[nodiscard]] const ImageSize& SizeAt(std::uint32_t epoch) const {
    return std::prev(sizes_.upper_bound(epoch))->second;
  }

  // The first later epoch with another size; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> NextChange(
      std::uint32_t epoch) const;

  // The size with the most pixels.
  [[nodiscard]] const ImageSize& largest() const;
  // The sizes by their first epochs.
  [[nodiscard]] const std::map<std::uint32_t, ImageSize>& sizes() const {
    return sizes_;
  }

 private:
  std::map<std::uint32_t, ImageSize> sizes_;
};

}  // namespace infeed
