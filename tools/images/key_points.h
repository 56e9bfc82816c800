#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// The numbers that the key points of a pose data set take in each line: points
// times numbers of a point. nullopt: not a valid shape.
[[nodiscard]] std::optional<std::size_t> KeyPointNumbersOf(std::int64_t points,
                                                           std::int64_t each);

// Parses --kpt_shape: "17,3" as kpt_shape in data.yaml, or "none", which is 0.
// Throws UsageError.
[[nodiscard]] std::size_t ParseKptShape(std::string_view text);

// Whether the lines of a YOLO data set that are read as polygons may be boxes
// with key points instead: all have the same count of numbers, and in at least
// nine of ten lines the first four may be a box around the points that follow.
class KeyPointSigns {
 public:
  // numbers: of a line, the class included.
  void Add(std::span<const double> numbers);
  void Add(const KeyPointSigns& other);

  [[nodiscard]] bool AreFound() const;
  // "all 7 lines have 9 numbers". Requires: AreFound().
  [[nodiscard]] std::string Text() const;

 private:
  std::int64_t lines_ = 0;
  std::int64_t fitting_ = 0;
  std::size_t count_ = 0;  // of numbers in each line; 0: there is no line
  bool differ_ = false;    // lines have different counts
};

}  // namespace infeed
