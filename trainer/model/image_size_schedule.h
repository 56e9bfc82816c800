#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace infeed {

// Which image size each epoch of a training has: small images first, which cost
// less, large ones at the end.
class ImageSizeSchedule {
 public:
  // From "0:160,30:192,60:224": from epoch 0 on 160 pixels, from epoch 30 on
  // 192 and so on; image_size before the first. Empty text: image_size always.
  // Throws UsageError, naming image_size_schedule, for text of another form,
  // epochs that do not rise and sizes out of 1..8192.
  ImageSizeSchedule(const std::string& text, int image_size);

  [[nodiscard]] int SizeAt(std::uint32_t epoch) const;

  // The first later epoch whose size is another; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> NextChange(
      std::uint32_t epoch) const;

  [[nodiscard]] int largest() const;

 private:
  std::map<std::uint32_t, int> sizes_;  // by the epoch that they begin with
};

}  // namespace infeed
