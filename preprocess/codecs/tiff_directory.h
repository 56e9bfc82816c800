#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/codecs/byte_fields.h"

namespace infeed {

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
