#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// The keys of an image and its class.
inline constexpr std::string_view kImageKey = "image/encoded";
inline constexpr std::string_view kLabelKey = "image/class/label";

// The label of a record without a label, or of an unreadable record.
inline constexpr std::int64_t kNoLabel = -1;

// The keys under which the records of a data set hold these two. Borrowed.
struct ExampleKeys {
  std::string_view image = kImageKey;
  std::string_view label = kLabelKey;
};

// The contents of the tf.train.Example of an ImageNet-style record. The keys
// are those of the reference converter; docs/formats.md lists them.
struct ImagenetExample {
  std::int64_t height = 0;        // image/height, pixels
  std::int64_t width = 0;         // image/width, pixels
  std::int64_t label = -1;        // image/class/label, from 1
  std::string synset = {};        // image/class/synset: the class's folder
  std::string text = {};          // image/class/text: its readable name
  std::string filename = {};      // image/filename: base name
  std::string_view encoded = {};  // image/encoded: the JPEG's bytes, borrowed
  // image/packed: height * width little-endian uint32, borrowed; if not empty,
  // it replaces image/encoded.
  std::string_view packed = {};
  // image/seek_index: sealed (seek_feature.h), borrowed; if empty, omitted.
  std::string_view seek_index = {};
  std::string_view colorspace = "RGB";  // image/colorspace
  std::int64_t channels = 3;            // image/channels
  std::string_view format = "JPEG";     // image/format
};

// Returns the serialized Example, with keys in a fixed order, so that equal
// input gives equal bytes.
[[nodiscard]] std::string BuildImagenetExample(const ImagenetExample& example);

// A parsed Example. Its views point into the record's bytes, which must outlive
// it: nothing is copied. Absent keys have the defaults below, as in the
// reference's input function.
struct ImagenetExampleView {
  std::span<const std::byte> encoded;  // ExampleKeys::image, '' when absent
  std::int64_t label = -1;             // ExampleKeys::label
  std::span<const std::byte> packed;   // image/packed, '' when absent
  // image/seek_index, '' when absent. Optional, as it only saves time: one with
  // another kind of list or not exactly one value counts as absent.
  std::span<const std::byte> seek_index;
  std::string_view format = "jpeg";  // image/format
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::string_view synset;
  std::string_view text;
  std::string_view filename;
};

// How a label list with zero or several entries is treated: as an error (kOne)
// or as no label (kAny).
enum class LabelList { kOne, kAny };

// Parses a record's payload. Unknown keys and fields are skipped; of a key
// given twice the last counts; lists may be packed or not. Throws DataError
// when the bytes are not an Example, when a known key holds another kind of
// list, or not exactly one value (of the label unless labels is kAny).
[[nodiscard]] ImagenetExampleView ParseImagenetExample(
    std::span<const std::byte> payload, LabelList labels = LabelList::kOne,
    const ExampleKeys& keys = {});

// Returns the one value of bytes under a key, a view into the payload. Throws
// DataError that names the keys of a record without it.
[[nodiscard]] std::span<const std::byte> ImageUnder(
    std::span<const std::byte> payload, std::string_view key);

// For a record without an image: throws DataError that names the keys it has,
// unless it has the image's key. advice: what to do.
void RequireImageKey(std::span<const std::byte> payload,
                     std::string_view image_key,
                     std::string_view advice = "give image_key");

}  // namespace infeed
