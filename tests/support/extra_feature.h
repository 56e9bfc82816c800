#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Serialized features to append to the bytes of an Example: parsers merge them
// with the Example's own, and of a key given twice the last counts.
namespace infeed {

inline std::string WireNumber(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) {
    bytes += static_cast<char>(value % 128 + 128);
  }
  return bytes + static_cast<char>(value);
}

inline std::string WireText(int field, std::string_view text) {
  return WireNumber(static_cast<std::uint64_t>(field) << 3 | 2) +
         WireNumber(text.size()) + std::string(text);
}

// A feature with a serialized list: 1 is a BytesList, 2 a FloatList, 3 an
// Int64List.
inline std::string ExtraFeature(std::string_view key, int kind,
                                std::string_view list) {
  return WireText(
      1, WireText(1, WireText(1, key) + WireText(2, WireText(kind, list))));
}

inline std::string ExtraInt64s(std::string_view key,
                               const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) {
    packed += WireNumber(static_cast<std::uint64_t>(value));
  }
  return ExtraFeature(key, 3, WireText(1, packed));
}

inline std::string ExtraFloats(std::string_view key,
                               const std::vector<float>& values) {
  std::string packed;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (const int shift : {0, 8, 16, 24}) {
      packed += static_cast<char>(bits >> shift);
    }
  }
  return ExtraFeature(key, 2, WireText(1, packed));
}

inline std::string ExtraBytes(std::string_view key,
                              const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    list += WireText(1, value);
  }
  return ExtraFeature(key, 1, list);
}

// xmin, ymin, xmax and ymax, as parts of the image's sides.
using TestBox = std::array<float, 4>;

// Boxes and their labels, by the keys of TensorFlow's Object Detection API.
inline std::string ExtraBoxes(const std::vector<TestBox>& boxes,
                              const std::vector<std::int64_t>& labels) {
  std::string features = ExtraInt64s("image/object/class/label", labels);
  constexpr const char* kSides[] = {"xmin", "ymin", "xmax", "ymax"};
  for (std::size_t side = 0; side < 4; ++side) {
    std::vector<float> places;
    for (const TestBox& box : boxes) {
      places.push_back(box[side]);
    }
    features +=
        ExtraFloats(std::string("image/object/bbox/") + kSides[side], places);
  }
  return features;
}

// One box in the middle of the image and its label.
inline std::string ExtraBox() {
  return ExtraBoxes({TestBox{0.25F, 0.25F, 0.75F, 0.75F}}, {1});
}

}  // namespace infeed
