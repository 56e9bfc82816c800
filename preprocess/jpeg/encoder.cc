#include <array>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "base/error.h"
#include "preprocess/jpeg/error.h"
#include "preprocess/jpeg/jpeg.h"

namespace infeed {
namespace {

// Collects libjpeg's output in a string, a block at a time.
class StringDestination {
 public:
  StringDestination() {
    manager_.base.init_destination = Rewind;
    manager_.base.empty_output_buffer = Flush;
    manager_.base.term_destination = Finish;
    manager_.owner = this;
  }
  ~StringDestination() = default;
  StringDestination(const StringDestination&) = delete;
  StringDestination& operator=(const StringDestination&) = delete;

  [[nodiscard]] jpeg_destination_mgr* manager() { return &manager_.base; }
  [[nodiscard]] std::string& output() { return output_; }

 private:
  // libjpeg's interface is the first member, so that a pointer to it also
  // points to the Manager.
  struct Manager {
    jpeg_destination_mgr base{};
    StringDestination* owner = nullptr;
  };

  static StringDestination& Of(j_compress_ptr codec) {
    return *reinterpret_cast<Manager*>(codec->dest)->owner;
  }

  static void Rewind(j_compress_ptr codec) {
    StringDestination& self = Of(codec);
    self.manager_.base.next_output_byte = self.block_.data();
    self.manager_.base.free_in_buffer = self.block_.size();
  }

  static boolean Flush(j_compress_ptr codec) {
    StringDestination& self = Of(codec);
    Append(codec, self.block_.size());
    Rewind(codec);
    return TRUE;
  }

  static void Finish(j_compress_ptr codec) {
    StringDestination& self = Of(codec);
    Append(codec, self.block_.size() - self.manager_.base.free_in_buffer);
  }

  static void Append(j_compress_ptr codec, std::size_t size) {
    if (!Of(codec).TryAppend(size)) {
      JpegErrorTrap::Fail(reinterpret_cast<j_common_ptr>(codec),
                          "no memory for the encoded JPEG");
    }
  }

  // An exception must not pass through libjpeg.
  bool TryAppend(std::size_t size) noexcept {
    try {
      output_.append(reinterpret_cast<const char*>(block_.data()), size);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  Manager manager_;
  std::array<JOCTET, 65536> block_{};
  std::string output_;
};

// Owns the compressor. On the heap with its destination, since none of its
// members may be a local of a function that libjpeg jumps out of.
struct Encoder {
  Encoder() { codec.err = errors.manager(); }
  ~Encoder() { jpeg_destroy_compress(&codec); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  JpegErrorTrap errors;
  StringDestination destination;
  jpeg_compress_struct codec{};
};

void Start(const RgbView& image, const JpegEncodeOptions& options,
           jpeg_compress_struct& codec) {
  codec.image_width = static_cast<JDIMENSION>(image.width);
  codec.image_height = static_cast<JDIMENSION>(image.height);
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, options.quality, TRUE);
  codec.dct_method = JDCT_ISLOW;
  if (!options.subsample) {
    codec.comp_info[0].h_samp_factor = 1;
    codec.comp_info[0].v_samp_factor = 1;
  }
  if (options.progressive) {
    jpeg_simple_progression(&codec);
  }
  // The reference converter's density: 300 dots per inch.
  codec.density_unit = 1;
  codec.X_density = 300;
  codec.Y_density = 300;
  jpeg_start_compress(&codec, TRUE);
}

void WriteRows(const RgbView& image, jpeg_compress_struct& codec) {
  for (int y = 0; y < image.height; ++y) {
    // libjpeg only reads it.
    JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
    jpeg_write_scanlines(&codec, &row, 1);
  }
}

}  // namespace

std::string EncodeJpeg(const RgbView& image, const JpegEncodeOptions& options) {
  if (options.quality < 1 || options.quality > 100) {
    throw UsageError("JpegEncodeOptions::quality must be in 1..100, not " +
                     std::to_string(options.quality));
  }
  const auto encoder = std::make_unique<Encoder>();
  jpeg_compress_struct& codec = encoder->codec;
  encoder->errors.Run([&] {
    jpeg_create_compress(&codec);
    codec.dest = encoder->destination.manager();
    Start(image, options, codec);
    WriteRows(image, codec);
    jpeg_finish_compress(&codec);
  });
  return std::move(encoder->destination.output());
}

}  // namespace infeed
