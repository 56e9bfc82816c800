#include "preprocess/jpeg_entropy/scan.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/rounding.h"

namespace infeed {
namespace {

constexpr int kMaxSide = 65500;  // libjpeg's limit

// The codes of markers (ITU-T T.81, table B.1).
constexpr int kStartOfFrame0 = 0xC0;  // baseline
constexpr int kStartOfFrame1 = 0xC1;  // extended sequential
constexpr int kHuffmanTables = 0xC4;
constexpr int kQuantisers = 0xDB;
constexpr int kRestartInterval = 0xDD;
constexpr int kApp0 = 0xE0;
constexpr int kApp14 = 0xEE;
constexpr int kApp15 = 0xEF;
constexpr int kComment = 0xFE;

constexpr std::byte kPrefix{0xFF};
constexpr std::byte kStartOfImage{0xD8};

// TEM, the restarts, the start and the end of an image (ITU-T T.81, B.1.1.3).
bool HasSegment(int code) {
  return code > 0x01 && (code < 0xD0 || code > 0xD9);
}

// Reads the bytes of one segment, behind its length field, in order. Reading
// past the end gives zeros and sets ok() to false.
class JpegSegment {
 public:
  explicit JpegSegment(std::span<const std::byte> bytes) : bytes_(bytes) {}

  int Byte() {
    if (bytes_.empty()) {
      ok_ = false;
      return 0;
    }
    const int value = std::to_integer<int>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return value;
  }
  int Two() {
    const int high = Byte();
    return high << 8 | Byte();
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }
  // Whether all bytes were read, and none beyond the end.
  [[nodiscard]] bool consumed() const { return ok_ && bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool StartsWith(std::string_view text) const {
    return bytes_.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes_.begin(),
                      [](char a, std::byte b) {
                        return static_cast<std::byte>(a) == b;
                      });
  }
  [[nodiscard]] int At(std::size_t i) const {
    return std::to_integer<int>(bytes_[i]);
  }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

// Reads markers in order. Every Take...() returns false for data that is not
// plain or not regular.
class ScanReader {
 public:
  std::optional<JpegScan> Read(std::span<const std::byte> bytes);

 private:
  bool TakeSegment(int marker, JpegSegment segment);
  bool TakeFrame(JpegSegment segment);
  bool TakeQuantisers(JpegSegment segment);
  bool TakeHuffmanTables(JpegSegment segment);
  bool TakeRestartInterval(JpegSegment segment);
  void TakeJfif(JpegSegment segment);
  void TakeAdobe(JpegSegment segment);
  bool TakeScan(JpegSegment segment);
  bool ChooseColor();
  bool HasPlainSampling() const;
  void FindSizes();

  JpegScan scan_;
  std::array<int, 3> ids_{};
  std::array<bool, 4> has_quantiser_{};
  bool has_frame_ = false;
  bool is_jfif_ = false;
  int adobe_transform_ = -1;
};

std::optional<JpegScan> ScanReader::Read(std::span<const std::byte> bytes) {
  JpegHeader header(bytes);
  while (const std::optional<JpegMarker> marker = header.Next()) {
    if (!TakeSegment(marker->code, JpegSegment(marker->data))) {
      return std::nullopt;
    }
    if (marker->code == kStartOfScan) {
      scan_.entropy_begin = header.position();
      return scan_;
    }
  }
  return std::nullopt;
}

bool ScanReader::TakeSegment(int marker, JpegSegment segment) {
  switch (marker) {
    case kStartOfFrame0:
    case kStartOfFrame1:
      return TakeFrame(segment);
    case kHuffmanTables:
      return TakeHuffmanTables(segment);
    case kQuantisers:
      return TakeQuantisers(segment);
    case kRestartInterval:
      return TakeRestartInterval(segment);
    case kApp0:
      TakeJfif(segment);
      return true;
    case kApp14:
      TakeAdobe(segment);
      return true;
    case kStartOfScan:
      return TakeScan(segment);
    default:
      return (marker > kApp0 && marker <= kApp15) || marker == kComment;
  }
}

bool ScanReader::TakeFrame(JpegSegment segment) {
  if (has_frame_ || segment.Byte() != 8) {
    return false;
  }
  has_frame_ = true;
  scan_.height = segment.Two();
  scan_.width = segment.Two();
  scan_.component_count = segment.Byte();
  if (scan_.height < 1 || scan_.height > kMaxSide || scan_.width < 1 ||
      scan_.width > kMaxSide ||
      (scan_.component_count != 1 && scan_.component_count != 3)) {
    return false;
  }
  for (int i = 0; i < scan_.component_count; ++i) {
    JpegComponent& component = scan_.components[i];
    ids_[i] = segment.Byte();
    const int factors = segment.Byte();
    component.horizontal = factors >> 4;
    component.vertical = factors & 15;
    component.quantiser = segment.Byte();
    if (component.quantiser > 3) {
      return false;
    }
  }
  const bool distinct =
      scan_.component_count == 1 ||
      (ids_[0] != ids_[1] && ids_[0] != ids_[2] && ids_[1] != ids_[2]);
  return segment.consumed() && distinct && HasPlainSampling();
}

bool ScanReader::HasPlainSampling() const {
  const auto is = [](const JpegComponent& component, int horizontal,
                     int vertical) {
    return component.horizontal == horizontal && component.vertical == vertical;
  };
  const JpegComponent& first = scan_.components[0];
  if (scan_.component_count == 1) {
    return is(first, 1, 1);
  }
  return (first.horizontal == 1 || first.horizontal == 2) &&
         (first.vertical == 1 || first.vertical == 2) &&
         is(scan_.components[1], 1, 1) && is(scan_.components[2], 1, 1);
}

bool ScanReader::TakeQuantisers(JpegSegment segment) {
  while (!segment.empty()) {
    const int table = segment.Byte();  // The high half: 1 for 16-bit values.
    if (table > 3) {
      return false;
    }
    for (std::uint16_t& value : scan_.quantisers[table]) {
      value = static_cast<std::uint16_t>(segment.Byte());
    }
    has_quantiser_[table] = true;
  }
  return segment.ok();
}

bool ScanReader::TakeHuffmanTables(JpegSegment segment) {
  while (!segment.empty()) {
    const int table = segment.Byte();  // The high half: 1 for AC.
    if ((table & 0xEC) != 0) {
      return false;
    }
    HuffmanSpec& spec =
        (table >= 16 ? scan_.ac_tables : scan_.dc_tables)[table & 3];
    spec = {};
    for (int length = 1; length <= 16; ++length) {
      spec.counts[length] = static_cast<std::uint8_t>(segment.Byte());
    }
    const int codes =
        std::accumulate(spec.counts.begin(), spec.counts.end(), 0);
    if (codes > 256) {
      return false;
    }
    for (int i = 0; i < codes; ++i) {
      spec.values[i] = static_cast<std::uint8_t>(segment.Byte());
    }
    spec.defined = true;
  }
  return segment.ok();
}

bool ScanReader::TakeRestartInterval(JpegSegment segment) {
  scan_.restart_interval = segment.Two();
  return segment.consumed();
}

void ScanReader::TakeJfif(JpegSegment segment) {
  using std::string_view_literals::operator""sv;
  if (segment.size() >= 14 && segment.StartsWith("JFIF\0"sv)) {
    is_jfif_ = true;
  }
}

void ScanReader::TakeAdobe(JpegSegment segment) {
  if (segment.size() >= 12 && segment.StartsWith("Adobe")) {
    adobe_transform_ = segment.At(11);
  }
}

bool ScanReader::TakeScan(JpegSegment segment) {
  if (!has_frame_ || segment.Byte() != scan_.component_count) {
    return false;
  }
  for (int i = 0; i < scan_.component_count; ++i) {
    JpegComponent& component = scan_.components[i];
    const bool in_order = segment.Byte() == ids_[i];
    const int tables = segment.Byte();
    component.dc_table = tables >> 4;
    component.ac_table = tables & 15;
    if (!in_order || component.dc_table > 3 || component.ac_table > 3 ||
        !scan_.dc_tables[component.dc_table].defined ||
        !scan_.ac_tables[component.ac_table].defined ||
        !has_quantiser_[component.quantiser]) {
      return false;
    }
  }
  const bool whole_spectrum =
      segment.Byte() == 0 && segment.Byte() == 63 && segment.Byte() == 0;
  FindSizes();
  return whole_spectrum && segment.consumed() && ChooseColor();
}

// Guesses the colour space as libjpeg does.
bool ScanReader::ChooseColor() {
  const bool rgb_ids = ids_ == std::array{'R' + 0, 'G' + 0, 'B' + 0};
  if (scan_.component_count == 1) {
    scan_.color = JpegColor::kGray;
  } else if (is_jfif_ || (adobe_transform_ < 0 && !rgb_ids)) {
    scan_.color = JpegColor::kYcc;
  } else if (adobe_transform_ < 0) {
    scan_.color = JpegColor::kRgb;
  } else {
    scan_.color = adobe_transform_ == 0 ? JpegColor::kRgb : JpegColor::kYcc;
  }
  const JpegComponent& first = scan_.components[0];
  return scan_.color != JpegColor::kRgb ||
         (first.horizontal == 1 && first.vertical == 1);
}

void ScanReader::FindSizes() {
  const JpegComponent first = scan_.components[0];
  scan_.mcus_per_row = CeilDiv(scan_.width, scan_.mcu_width());
  scan_.mcu_rows = CeilDiv(scan_.height, scan_.mcu_height());
  for (JpegComponent& component : scan_.components) {
    component.width =
        CeilDiv(scan_.width * component.horizontal, first.horizontal);
    component.height =
        CeilDiv(scan_.height * component.vertical, first.vertical);
  }
}

}  // namespace

JpegHeader::JpegHeader(std::span<const std::byte> jpeg)
    : jpeg_(jpeg), position_(2) {
  if (jpeg.size() < 2 || jpeg[0] != kPrefix || jpeg[1] != kStartOfImage) {
    position_ = jpeg.size();
  }
}

std::optional<JpegMarker> JpegHeader::Next() {
  const int code = NextCode();
  if (!HasSegment(code) || jpeg_.size() - position_ < 2) {
    return std::nullopt;
  }
  const auto length = std::to_integer<std::size_t>(jpeg_[position_]) << 8 |
                      std::to_integer<std::size_t>(jpeg_[position_ + 1]);
  if (length < 2 || jpeg_.size() - position_ < length) {
    return std::nullopt;
  }
  const JpegMarker marker = {.code = code,
                             .data = jpeg_.subspan(position_ + 2, length - 2)};
  position_ += length;
  return marker;
}

// Moves behind the next marker and returns its code; 0: there is none. A zero
// byte behind the prefix makes it no marker.
int JpegHeader::NextCode() {
  std::byte before{};
  while (position_ < jpeg_.size()) {
    const std::byte next = jpeg_[position_++];
    if (before == kPrefix && next != kPrefix && next != std::byte{0}) {
      return std::to_integer<int>(next);
    }
    before = next;
  }
  return 0;
}

std::optional<JpegScan> ReadPlainJpeg(std::span<const std::byte> bytes) {
  return ScanReader().Read(bytes);
}

}  // namespace infeed
