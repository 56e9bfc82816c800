#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace infeed {

// The code of the marker behind which the first coded byte is (ITU-T T.81,
// table B.1).
inline constexpr int kStartOfScan = 0xDA;

struct JpegMarker {
  int code = 0;                          // its second byte
  std::span<const std::byte> data = {};  // its segment, behind the length field
};

// Reads the markers of a JPEG's header in order, where libjpeg finds them: it
// skips bytes between segments, and fill bytes. Borrows the bytes, and reads
// nothing outside of them.
class JpegHeader {
 public:
  explicit JpegHeader(std::span<const std::byte> jpeg);

  // Returns nullopt if no marker with a whole segment follows, and for one that
  // has none. Not to be called behind a start of scan.
  [[nodiscard]] std::optional<JpegMarker> Next();

  // The offset in the JPEG of the first byte behind the last segment.
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  [[nodiscard]] int NextCode();

  std::span<const std::byte> jpeg_;
  std::size_t position_;
};

}  // namespace infeed
