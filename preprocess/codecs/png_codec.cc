#include "preprocess/codecs/png_codec.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "preprocess/codecs/stored_size.h"

namespace infeed {
namespace {

constexpr std::size_t kSignatureBytes = 8;

// OpenCV's settings, for speed: zlib's Z_BEST_SPEED and Z_RLE.
constexpr int kCompressionLevel = 1;
constexpr int kCompressionStrategy = 3;

// libpng is C: an exception must not pass through its frames, so an error jumps
// out of it to Run().
class PngErrors {
 protected:
  // Returns false after an error. Requires: nothing in body, nor in what it
  // calls, has a destructor to run.
  template <typename Body>
  [[nodiscard]] bool Run(Body body) {
    static_assert(std::is_trivially_destructible_v<Body>);
    if (setjmp(place_) == 0) {
      body();
      return true;
    }
    return false;
  }

  // Takes a pointer to this object, as libpng passes it on.
  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    auto* const errors = static_cast<PngErrors*>(png_get_error_ptr(png));
    const std::size_t length =
        std::min(std::strlen(message), errors->message_.size() - 1);
    std::memcpy(errors->message_.data(), message, length);
    errors->message_[length] = '\0';
    std::longjmp(errors->place_, 1);
  }
  static void OnWarning(png_structp /*png*/, png_const_charp /*message*/) {}

  [[nodiscard]] const char* message() const { return message_.data(); }

 private:
  std::array<char, 200> message_{};
  std::jmp_buf place_{};
};

class PngReader : private PngErrors {
 public:
  explicit PngReader(std::span<const std::byte> bytes)
      : left_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING,
                                    static_cast<PngErrors*>(this), OnError,
                                    OnWarning)) {
    if (png_ != nullptr) {
      info_ = png_create_info_struct(png_);
    }
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, OnRead);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void Decode(RgbImage& image) {
    RunOrThrow("image", [this] { ReadRgbHeader(); });
    const int height = this->height();
    image.Resize(width(), height);
    std::vector<png_bytep> rows;
    rows.reserve(static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y) {
      rows.push_back(image.row(y));
    }
    RunOrThrow("image",
               [this, places = rows.data()] { png_read_image(png_, places); });
  }

  void DecodeLabels(LabelImage& labels) {
    RunOrThrow("mask", [this] { ReadLabelHeader(); });
    CheckHasLabels(png_get_color_type(png_, info_));
    labels.width = width();
    labels.height = height();
    labels.values.resize(static_cast<std::size_t>(labels.width) *
                         static_cast<std::size_t>(labels.height));
    RunOrThrow("mask", [this, &labels] { ReadLabels(labels); });
    if (png_get_bit_depth(png_, info_) < 16) {
      Widen(labels);
    }
  }

 private:
  [[nodiscard]] int width() const {
    return static_cast<int>(png_get_image_width(png_, info_));
  }
  [[nodiscard]] int height() const {
    return static_cast<int>(png_get_image_height(png_, info_));
  }

  template <typename Body>
  void RunOrThrow(const char* name, Body body) {
    if (!Run(body)) {
      throw DataError(std::string("libpng cannot read the ") + name + ": " +
                      message());
    }
  }

  static void CheckHasLabels(int color_type) {
    if (color_type == PNG_COLOR_TYPE_RGB ||
        color_type == PNG_COLOR_TYPE_RGB_ALPHA) {
      throw DataError("the mask has colours, expected grey or a palette");
    }
    if (color_type == PNG_COLOR_TYPE_GRAY_ALPHA) {
      throw DataError(
          "the mask has an alpha channel, expected grey or a palette");
    }
  }

  void ReadLabelHeader() {
    png_read_info(png_, info_);
    png_set_packing(png_);  // 1, 2 and 4 bits to bytes of the same value
    if (std::endian::native == std::endian::little) {
      png_set_swap(png_);
    }
  }

  // Bytes go to the second half of their row. libpng needs its own rows again
  // in each pass of an interlaced file.
  void ReadLabels(LabelImage& labels) {
    const int passes = png_set_interlace_handling(png_);
    png_start_read_image(png_);
    const std::size_t width = png_get_image_width(png_, info_);
    const std::size_t row_bytes = width * sizeof(std::uint16_t);
    const std::size_t unused =
        png_get_bit_depth(png_, info_) < 16 ? row_bytes - width : 0;
    auto* const bytes = reinterpret_cast<png_bytep>(labels.values.data());
    const std::size_t end = static_cast<std::size_t>(labels.height) * row_bytes;
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t row = 0; row < end; row += row_bytes) {
        png_read_row(png_, bytes + row + unused, nullptr);
      }
    }
  }

  // A value never reaches the bytes that are still to be read.
  static void Widen(LabelImage& labels) {
    const auto width = static_cast<std::size_t>(labels.width);
    for (std::size_t first = 0; first < labels.values.size(); first += width) {
      std::uint16_t* const row = &labels.values[first];
      const auto* const bytes = reinterpret_cast<png_const_bytep>(row) + width;
      for (std::size_t x = 0; x < width; ++x) {
        row[x] = bytes[x];
      }
    }
  }

  void ReadRgbHeader() {
    png_read_info(png_, info_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) !=
        3 * std::size_t{png_get_image_width(png_, info_)}) {
      png_error(png_, "its rows are not R G B");
    }
  }

  static void OnRead(png_structp png, png_bytep destination,
                     std::size_t count) {
    auto* const reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->left_.size()) {
      png_error(png, "it ends too early");
    }
    std::memcpy(destination, reader->left_.data(), count);
    reader->left_ = reader->left_.subspan(count);
  }

  std::span<const std::byte> left_;  // not read yet
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

// Appends to a string.
class PngWriter : private PngErrors {
 public:
  PngWriter()
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING,
                                     static_cast<PngErrors*>(this), OnError,
                                     OnWarning)) {
    if (png_ != nullptr) {
      info_ = png_create_info_struct(png_);
    }
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png_, &bytes_, OnWrite, nullptr);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::string Encode(const RgbView& image) {
    if (!Run([this, &image] { Write(image); })) {
      throw std::bad_alloc();  // Nothing else can fail.
    }
    return std::move(bytes_);
  }

 private:
  void Write(const RgbView& image) {
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_compression_level(png_, kCompressionLevel);
    png_set_compression_strategy(png_, kCompressionStrategy);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width),
                 static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (int y = 0; y < image.height; ++y) {
      png_write_row(png_, image.row(y));
    }
    png_write_end(png_, info_);
  }

  static void OnWrite(png_structp png, png_bytep bytes, std::size_t count) {
    try {
      static_cast<std::string*>(png_get_io_ptr(png))
          ->append(reinterpret_cast<const char*>(bytes), count);
      return;
    } catch (const std::exception&) {
    }
    png_error(png, "out of memory");
  }

  std::string bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

bool IsPng(std::span<const std::byte> bytes) {
  return bytes.size() >= kSignatureBytes &&
         png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0,
                     kSignatureBytes) == 0;
}

void DecodePng(std::span<const std::byte> bytes, RgbImage& image) {
  PngReader(bytes).Decode(image);
}

void DecodePngLabels(std::span<const std::byte> png, std::int64_t max_pixels,
                     LabelImage& labels) {
  if (!IsPng(png)) {
    throw DataError("the mask is no PNG");
  }
  const std::optional<StoredSize> size = ReadStoredSize(png);
  if (!size) {
    throw DataError("the mask has no size in its header");
  }
  CheckPixelLimit(*size, max_pixels, "a mask");
  PngReader(png).DecodeLabels(labels);
}

std::string EncodePng(const RgbView& image) {
  Check(image.width > 0 && image.height > 0, "an image has pixels");
  return PngWriter().Encode(image);
}

}  // namespace infeed
