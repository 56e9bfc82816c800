#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace infeed {

// Reads unsigned integers at any place of some bytes, never beyond their end.
class ByteFields {
 public:
  ByteFields(std::span<const std::byte> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  [[nodiscard]] std::optional<std::int64_t> Find(std::size_t place,
                                                 std::size_t count) const {
    if (place > bytes_.size() || count > bytes_.size() - place) {
      return std::nullopt;
    }
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t next = big_endian_ ? i : count - 1 - i;
      value = value << 8 | std::to_integer<int>(bytes_[place + next]);
    }
    return value;
  }
  // 0 beyond the end.
  [[nodiscard]] std::int64_t At(std::size_t place, std::size_t count) const {
    return Find(place, count).value_or(0);
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

// The first directory of a TIFF structure, which EXIF data is, too. Borrows the
// bytes, and reads nothing outside of them.
class TiffDirectory {
 public:
  // One without entries if the bytes are not a TIFF structure.
  explicit TiffDirectory(std::span<const std::byte> tiff);

  // Returns the values of a tag, at most 16, whichever integer type they have;
  // of a tag that is there twice, the values of both entries. Empty: none.
  [[nodiscard]] std::vector<std::int64_t> Integers(int tag) const;

 private:
  void AddValues(std::size_t entry, std::vector<std::int64_t>& values) const;

  ByteFields fields_;
  std::size_t first_entry_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace infeed
