#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "preprocess/pixels/image.h"
#include "records/bytes/byte_source.h"
#include "records/store/image_tree.h"

namespace infeed {

// The layout of one image's bytes in a raw file.
enum class PixelLayout {
  kGray,             // row by row
  kPlanes,           // the red rows, then the green and the blue ones
  kColumnwisePlanes  // red column by column, then green and blue
};

// The images of one raw file: all of one size, at equal distances.
struct RawPart {
  std::shared_ptr<const ByteSource> bytes;
  PixelLayout layout = PixelLayout::kGray;
  int width = 0;
  int height = 0;
  std::int64_t count = 0;
  std::int64_t version = 0;  // of the file: ByteSource::version()
  std::int64_t first = 0;    // offset of the first image's pixels
  std::int64_t stride = 0;   // bytes from one image to the next

  [[nodiscard]] std::int64_t image_bytes() const {
    return std::int64_t{width} * height *
           (layout == PixelLayout::kGray ? 1 : 3);
  }
};

// Uncompressed images, stored one after the other in raw files. They are
// numbered through all parts: ImageFile::raw_index.
//
// Shares ownership of the files. Const members may be called from several
// threads at once; others need one thread at a time. Throws IoError.
class RawImages {
 public:
  // Requires: there is a part.
  explicit RawImages(std::vector<RawPart> parts);

  // Reads a file's image as RGB; gray is copied to all three channels.
  // Requires: raw_index is 0..size() - 1.
  void Read(const ImageFile& file, RgbImage& image) const;

  // Announces that Read() will be called for the file soon. Never fails.
  void WillRead(const ImageFile& file) const;

  // The version of the raw file that holds the image; it changes with the file.
  [[nodiscard]] std::int64_t VersionOf(const ImageFile& file) const;

  [[nodiscard]] std::int64_t size() const { return ends_.back(); }

 private:
  struct Place {
    const RawPart& part;
    std::int64_t offset;  // of the pixels in its file
  };
  [[nodiscard]] Place PlaceOf(const ImageFile& file) const;

  std::vector<RawPart> parts_;
  std::vector<std::int64_t> ends_;  // the number after each part's last image
};

// An array of bytes in MNIST's IDX format.
struct IdxFile {
  std::shared_ptr<const ByteSource> bytes;  // unpacked
  std::vector<std::int64_t> sizes;          // of each dimension, all > 0
  std::int64_t first = 0;                   // offset of the first value
};

// Reads the header of an IDX file with a given number of dimensions. A gzip
// file, recognized by content, is decompressed into memory. Throws IoError, and
// DataError when the file is not such a file or has more or fewer bytes than
// its header requires; this is checked before memory is allocated.
[[nodiscard]] IdxFile OpenIdx(std::shared_ptr<const ByteSource> source,
                              int dimensions);

}  // namespace infeed
