#include "preprocess/codecs/png_image.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::size_t kSignatureBytes = 8;

// libpng is C: an exception must not pass through its frames, so an error jumps
// out of it to Run(), which throws.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes)
      : left_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError,
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
    Run([this] { ReadHeader(); });
    const auto height = static_cast<int>(png_get_image_height(png_, info_));
    image.Resize(static_cast<int>(png_get_image_width(png_, info_)), height);
    std::vector<png_bytep> rows;
    for (int y = 0; y < height; ++y) {
      rows.push_back(image.row(y));
    }
    Run([this, places = rows.data()] {
      png_read_image(png_, places);
      png_read_end(png_, nullptr);
    });
  }

 private:
  // Requires: nothing in body, nor in what it calls, has a destructor to run.
  template <typename Body>
  void Run(Body body) {
    static_assert(std::is_trivially_destructible_v<Body>);
    if (setjmp(place_) == 0) {
      body();
      return;
    }
    throw DataError(std::string("libpng cannot read the image: ") +
                    message_.data());
  }

  void ReadHeader() {
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

  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    auto* const reader = static_cast<PngReader*>(png_get_error_ptr(png));
    const std::size_t length =
        std::min(std::strlen(message), reader->message_.size() - 1);
    std::memcpy(reader->message_.data(), message, length);
    reader->message_[length] = '\0';
    std::longjmp(reader->place_, 1);
  }
  static void OnWarning(png_structp /*png*/, png_const_charp /*message*/) {}

  std::span<const std::byte> left_;  // not read yet
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::array<char, 200> message_{};
  std::jmp_buf place_{};
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

}  // namespace infeed
