#include "preprocess/codecs/pnm_codec.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxValue = 65535;
constexpr int kPam = 7;

[[noreturn]] void FailPnm(const std::string& why) {
  throw DataError("cannot read the PNM image: " + why);
}

// Reads words and numbers of a text; blanks and comments may be before each.
class PnmText {
 public:
  explicit PnmText(std::string_view text) : text_(text) {}

  // Returns an empty word at the end.
  std::string_view Word() {
    SkipBlanks();
    const std::size_t first = place_;
    while (place_ < text_.size() && !IsBlank(text_[place_])) {
      ++place_;
    }
    return text_.substr(first, place_ - first);
  }
  // Returns -1 if no number that fits 32 bits follows.
  std::int64_t Number() {
    SkipBlanks();
    const std::size_t first = place_;
    std::int64_t value = 0;
    for (; IsDigit() && value <= std::numeric_limits<std::int32_t>::max();
         ++place_) {
      value = value * 10 + (text_[place_] - '0');
    }
    return place_ > first && value <= std::numeric_limits<std::int32_t>::max()
               ? value
               : -1;
  }
  // A digit of a bitmap, which need not have blanks beside it; -1: none.
  int Bit() {
    SkipBlanks();
    return IsDigit() && text_[place_] <= '1' ? text_[place_++] - '0' : -1;
  }
  // Skips one blank, or a comment to the end of its line.
  void EndHeader() {
    if (place_ < text_.size() && text_[place_] == '#') {
      SkipComment();
    }
    place_ += place_ < text_.size() ? 1 : 0;
  }
  [[nodiscard]] std::size_t place() const { return place_; }

 private:
  static bool IsBlank(char c) {
    return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
  }
  [[nodiscard]] bool IsDigit() const {
    return place_ < text_.size() && text_[place_] >= '0' &&
           text_[place_] <= '9';
  }
  void SkipComment() {
    while (place_ < text_.size() && text_[place_] != '\n' &&
           text_[place_] != '\r') {
      ++place_;
    }
  }
  void SkipBlanks() {
    // The end of a comment is a blank, or the text's end.
    while (place_ < text_.size()) {
      if (text_[place_] == '#') {
        SkipComment();
      } else if (IsBlank(text_[place_])) {
        ++place_;
      } else {
        break;
      }
    }
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// "P6 WIDTH HEIGHT MAXIMUM", and one blank; bitmaps have no maximum.
void ReadPlainHeader(PnmText& text, PnmHeader& header) {
  header.width = text.Number();
  header.height = text.Number();
  header.channels = header.type % 3 == 0 ? 3 : 1;
  if (header.type % 3 != 1) {
    header.max_value = static_cast<int>(
        std::clamp<std::int64_t>(text.Number(), -1, kMaxValue + 1));
  }
  text.EndHeader();
}

// Lines with a name and a value, up to ENDHDR. The type of a tuple only names
// what the channels are.
void ReadPamHeader(PnmText& text, PnmHeader& header) {
  const auto small = [&] {
    return static_cast<int>(
        std::clamp<std::int64_t>(text.Number(), -1, kMaxValue + 1));
  };
  header.channels = 0;
  header.max_value = 0;
  for (std::string_view name = text.Word(); name != "ENDHDR";
       name = text.Word()) {
    if (name == "WIDTH") {
      header.width = text.Number();
    } else if (name == "HEIGHT") {
      header.height = text.Number();
    } else if (name == "DEPTH") {
      header.channels = small();
    } else if (name == "MAXVAL") {
      header.max_value = small();
    } else if (name == "TUPLTYPE") {
      const std::string_view type = text.Word();
      if (!type.starts_with("BLACKANDWHITE") &&
          !type.starts_with("GRAYSCALE") && !type.starts_with("RGB")) {
        header.channels = 0;
        return;
      }
    } else {
      header.channels = 0;
      return;
    }
  }
  text.EndHeader();
}

bool IsValid(const PnmHeader& header) {
  return header.width > 0 && header.height > 0 && header.channels >= 1 &&
         header.channels <= 4 && header.max_value >= 1 &&
         header.max_value <= kMaxValue;
}

// Reads the samples of an image in order, row by row.
class PnmSamples {
 public:
  PnmSamples(std::span<const std::byte> bytes, const PnmHeader& header)
      : header_(header),
        samples_(bytes.subspan(header.first)),
        text_(TextOf(samples_)) {
    if (samples_.size() < FewestBytes()) {
      FailPnm("it ends too early");
    }
  }

  // Reads the samples of a row.
  void Read(std::span<int> row) {
    switch (header_.type) {
      case 1:
        // In bitmaps 1 is black.
        std::ranges::generate(row, [&] { return Checked(text_.Bit()) ^ 1; });
        break;
      case 2:
      case 3:
        std::ranges::generate(row, [&] { return Checked(text_.Number()); });
        break;
      case 4:
        for (std::size_t x = 0; x < row.size(); ++x) {
          const int eight = std::to_integer<int>(samples_[x / 8]);
          row[x] = (eight >> (7 - x % 8) & 1) ^ 1;
        }
        samples_ = samples_.subspan((row.size() + 7) / 8);
        break;
      default:
        std::ranges::generate(row, [&] { return Checked(Binary()); });
    }
  }

 private:
  [[nodiscard]] std::size_t FewestBytes() const {
    const auto width = static_cast<std::size_t>(header_.width);
    const auto height = static_cast<std::size_t>(header_.height);
    if (header_.type == 4) {
      return (width + 7) / 8 * height;
    }
    const std::size_t samples = width * height * header_.channels;
    const bool is_binary = header_.type > 4;
    return is_binary && header_.max_value > 255 ? 2 * samples : samples;
  }
  int Binary() {
    const auto byte = [&] {
      const int value = std::to_integer<int>(samples_.front());
      samples_ = samples_.subspan(1);
      return value;
    };
    const int high = byte();
    return header_.max_value > 255 ? high << 8 | byte() : high;
  }
  [[nodiscard]] int Checked(std::int64_t sample) const {
    if (sample < 0) {
      FailPnm("a sample is missing or damaged");
    }
    if (sample > header_.max_value) {
      FailPnm("a sample of " + std::to_string(sample) +
              " is above the maximum of " + std::to_string(header_.max_value));
    }
    return static_cast<int>(sample);
  }

  PnmHeader header_;
  std::span<const std::byte> samples_;
  PnmText text_;
};

}  // namespace

std::optional<PnmHeader> ReadPnmHeader(std::span<const std::byte> bytes) {
  const std::string_view all = TextOf(bytes);
  if (all.size() <= 2 || all[0] != 'P' || all[1] < '1' || all[1] > '7') {
    return std::nullopt;
  }
  constexpr std::size_t kTypeBytes = 2;
  PnmHeader header = {.type = all[1] - '0'};
  PnmText text(all.substr(kTypeBytes));
  if (header.type == kPam) {
    ReadPamHeader(text, header);
  } else {
    ReadPlainHeader(text, header);
  }
  header.first = kTypeBytes + text.place();
  return IsValid(header) ? std::optional(header) : std::nullopt;
}

void DecodePnm(std::span<const std::byte> bytes, const PnmHeader& header,
               RgbImage& image) {
  PnmSamples samples(bytes, header);
  image.Resize(static_cast<int>(header.width), static_cast<int>(header.height));
  std::vector<int> row(static_cast<std::size_t>(header.width) *
                       header.channels);
  const int green = header.channels >= 3 ? 1 : 0;
  for (int y = 0; y < image.height(); ++y) {
    samples.Read(row);
    for (int& sample : row) {
      sample = (sample * 255 + header.max_value / 2) / header.max_value;
    }
    std::uint8_t* to = image.row(y);
    for (std::size_t x = 0; x < row.size(); x += header.channels, to += 3) {
      for (int i = 0; i < 3; ++i) {
        to[i] = static_cast<std::uint8_t>(row[x + i * green]);
      }
    }
  }
}

}  // namespace infeed
