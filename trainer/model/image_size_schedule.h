#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace infeed {

// The image size of each epoch of a training run: usually small images first,
// which cost less, and large ones at the end.
class ImageSizeSchedule {
 public:
  // "0:160,30:192,60:224" means 160 pixels from epoch 0 on, 192 from epoch 30
  // on and so on; image_size before the first epoch listed. Empty text:
  // image_size always. Throws UsageError, naming image_size_schedule, for text
  // of another form, epochs that do not increase and sizes outside 1..8192.
  ImageSizeSchedule(const std::string& text, int image_size);

  [[nodiscard]] int SizeAt(std::uint32_t epoch) const;

  // The first later epoch with another size; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> NextChange(
      std::uint32_t epoch) const;

  [[nodiscard]] int largest() const;

 private:
  std::map<std::uint32_t, int> sizes_;  // by the first epoch of each size
};

}  // namespace infeed
