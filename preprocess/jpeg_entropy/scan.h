#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// A Huffman table as stored in a JPEG.
struct HuffmanSpec {
  std::array<std::uint8_t, 17> counts{};   // codes of each length, from [1]
  std::array<std::uint8_t, 256> values{};  // in the order of the codes
  bool defined = false;

  friend bool operator==(const HuffmanSpec&, const HuffmanSpec&) = default;
};

// How samples are converted to R G B.
enum class JpegColor { kGray, kYcc, kRgb };

struct JpegComponent {
  int horizontal = 1;  // sampling factors
  int vertical = 1;
  int width = 0;  // samples within the image, of the coded ones
  int height = 0;
  int quantiser = 0;  // index of its table
  int dc_table = 0;
  int ac_table = 0;
};

// The contents of a plain JPEG's markers. Our own decoder decodes plain JPEGs:
// 8-bit baseline or extended sequential Huffman, one scan with all components,
// gray with 1x1, or three components of which the last two have 1x1 and the
// first 1x1, 2x1, 1x2 or 2x2; R G B with 1x1 only.
struct JpegScan {
  int width = 0;
  int height = 0;
  JpegColor color = JpegColor::kGray;
  int component_count = 1;
  std::array<JpegComponent, 3> components{};
  int mcus_per_row = 0;  // an MCU has 8 * the first component's factors
  int mcu_rows = 0;
  int restart_interval = 0;                                   // MCUs; 0: none
  std::array<std::array<std::uint16_t, 64>, 4> quantisers{};  // zigzag order
  std::array<HuffmanSpec, 4> dc_tables{};
  std::array<HuffmanSpec, 4> ac_tables{};
  std::size_t entropy_begin = 0;  // offset of the scan's first coded byte

  [[nodiscard]] int mcu_width() const { return 8 * components[0].horizontal; }
  [[nodiscard]] int mcu_height() const { return 8 * components[0].vertical; }
};

// Reads the markers up to the first scan. Returns nullopt for a JPEG that is
// not plain, and for one whose scan libjpeg would warn of, or fail. Reads
// nothing outside of bytes.
[[nodiscard]] std::optional<JpegScan> ReadPlainJpeg(
    std::span<const std::byte> bytes);

}  // namespace infeed
