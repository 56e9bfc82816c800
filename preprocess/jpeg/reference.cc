#include "preprocess/jpeg/reference.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "base/error.h"
#include "preprocess/jpeg/error.h"

namespace infeed {
namespace {

// The columns of the image that libjpeg outputs.
struct Columns {
  int first = 0;
  int width = 0;
};

void CheckLimits(const JpegLimits& limits) {
  const auto require = [](bool positive, const char* field) {
    if (!positive) {
      throw UsageError(std::string(field) + " must be above 0");
    }
  };
  require(limits.max_pixels > 0, "JpegLimits::max_pixels");
  require(limits.max_scans > 0, "JpegLimits::max_scans");
  require(limits.max_memory_bytes > 0, "JpegLimits::max_memory_bytes");
}

// Converts CMYK to RGB with TensorFlow's integer arithmetic. With Adobe's
// marker the inks are stored inverted.
void CmykToRgb(const std::uint8_t* cmyk, int width, bool adobe,
               std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int black = adobe ? cmyk[3] : 255 - cmyk[3];
    for (int i = 0; i < 3; ++i) {
      const int ink = adobe ? cmyk[i] : 255 - cmyk[i];
      rgb[i] = static_cast<std::uint8_t>(black * ink / 255);
    }
  }
}

}  // namespace

// libjpeg's object is made anew for each image: a reused one would decode an
// image without Huffman or quantisation tables with those of the previous
// image.
struct ReferenceJpegDecoder::State {
  State(const JpegLimits& limits_in, JpegWarnings warnings)
      : limits(limits_in) {
    CheckLimits(limits);
    errors.TolerateWarnings(warnings == JpegWarnings::kTolerated);
    codec.err = errors.manager();
    codec.client_data = this;
    progress.progress_monitor = OnProgress;
  }
  ~State() { jpeg_destroy_decompress(&codec); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static void OnProgress(j_common_ptr common);
  void Begin(std::span<const std::byte> bytes);
  void SetScale(int eighths);
  void DecodeRows(const Window& window, RowSink& sink);
  void KeepWarning();
  [[nodiscard]] Columns Start(const Window& window);
  void SkipRowsAbove(const Window& window);
  void ReadRows(const Window& window, const Columns& columns, RowSink& sink);
  void ReadRow(const Window& window, const Columns& columns,
               std::uint8_t* destination);

  JpegErrorTrap errors;
  jpeg_decompress_struct codec{};
  jpeg_progress_mgr progress{};
  JpegLimits limits;
  std::vector<std::uint8_t> row;  // one row of `columns`, as libjpeg gives it
  bool header_read = false;
  std::string warning;
};

// Called by libjpeg for every few rows of input and output.
void ReferenceJpegDecoder::State::OnProgress(j_common_ptr common) {
  const auto* codec = reinterpret_cast<j_decompress_ptr>(common);
  const auto* state = static_cast<const State*>(common->client_data);
  if (codec->input_scan_number > state->limits.max_scans) {
    char message[80];
    std::snprintf(message, sizeof message, "more than %d scans in the JPEG",
                  state->limits.max_scans);
    JpegErrorTrap::Fail(common, message);
  }
}

void ReferenceJpegDecoder::State::Begin(std::span<const std::byte> bytes) {
  jpeg_destroy_decompress(&codec);
  jpeg_create_decompress(&codec);
  codec.progress = &progress;
  codec.mem->max_memory_to_use = limits.max_memory_bytes;
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_read_header(&codec, TRUE);
}

void ReferenceJpegDecoder::State::SetScale(int eighths) {
  Check(eighths >= 1 && eighths <= DCTSIZE, "a scale is in eighths");
  Check(header_read, "a header is read before each decode");
  errors.Run([&] {
    codec.scale_num = static_cast<unsigned int>(eighths);
    codec.scale_denom = DCTSIZE;
    jpeg_calc_output_dimensions(&codec);
  });
}

void ReferenceJpegDecoder::State::DecodeRows(const Window& window,
                                             RowSink& sink) {
  header_read = false;
  // Frees libjpeg's memory for the image, also after an exception.
  const std::unique_ptr<jpeg_decompress_struct,
                        decltype(&jpeg_abort_decompress)>
      abort(&codec, jpeg_abort_decompress);

  sink.Begin(window.width, window.height);
  Columns columns;
  errors.Run([&] { columns = Start(window); });
  row.resize(static_cast<std::size_t>(columns.width) * codec.output_components);
  errors.Run([&] { SkipRowsAbove(window); });
  ReadRows(window, columns, sink);
  if (codec.output_scanline == codec.output_height) {
    // Reads on to the end marker.
    errors.Run([&] { jpeg_finish_decompress(&codec); });
  }
  KeepWarning();
}

void ReferenceJpegDecoder::State::KeepWarning() {
  std::string latest = errors.TakeWarning();
  if (warning.empty()) {
    warning = std::move(latest);
  }
}

// Starts the decode of the columns that the window needs. With subsampled
// chroma libjpeg makes its first and last output columns without their
// neighbours, so the window gets a margin of one MCU. For an image of several
// scans libjpeg holds the whole image and smooths coefficients that the scans
// leave open by means of neighbouring blocks: such an image is decoded over its
// whole width.
Columns ReferenceJpegDecoder::State::Start(const Window& window) {
  const bool four =
      codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
  codec.out_color_space = four ? JCS_CMYK : JCS_RGB;
  codec.dct_method = JDCT_ISLOW;
  codec.do_fancy_upsampling = TRUE;
  const bool several_scans = jpeg_has_multiple_scans(&codec) != FALSE;
  jpeg_start_decompress(&codec);

  const int width = static_cast<int>(codec.output_width);
  const int margin = codec.max_h_samp_factor * DCTSIZE;
  const int first = std::max(0, window.x - margin);
  const int end = std::min(width, window.x + window.width + margin);
  if (several_scans || (first == 0 && end == width)) {
    return {0, width};
  }
  JDIMENSION crop_first = static_cast<JDIMENSION>(first);
  JDIMENSION crop_width = static_cast<JDIMENSION>(end - first);
  // Aligns both arguments.
  jpeg_crop_scanline(&codec, &crop_first, &crop_width);
  return {static_cast<int>(crop_first), static_cast<int>(crop_width)};
}

// Skipped rows are only entropy decoded.
void ReferenceJpegDecoder::State::SkipRowsAbove(const Window& window) {
  if (window.y > 0) {
    jpeg_skip_scanlines(&codec, static_cast<JDIMENSION>(window.y));
  }
}

void ReferenceJpegDecoder::State::ReadRows(const Window& window,
                                           const Columns& columns,
                                           RowSink& sink) {
  for (int y = 0; y < window.height;) {
    const int count = std::min(RowSink::kMaxRows, window.height - y);
    const RgbRows rows = sink.Next(count);
    errors.Run([&] {
      for (int i = 0; i < count; ++i) {
        ReadRow(window, columns, rows.row(i));
      }
    });
    sink.Filled();
    y += count;
  }
}

void ReferenceJpegDecoder::State::ReadRow(const Window& window,
                                          const Columns& columns,
                                          std::uint8_t* destination) {
  const int components = codec.output_components;
  const bool straight = components == 3 && columns.first == window.x &&
                        columns.width == window.width;
  JSAMPROW target = straight ? destination : row.data();
  jpeg_read_scanlines(&codec, &target, 1);
  const std::uint8_t* const source =
      row.data() +
      static_cast<std::ptrdiff_t>(window.x - columns.first) * components;
  if (components == 4) {
    CmykToRgb(source, window.width, codec.saw_Adobe_marker != FALSE,
              destination);
  } else if (!straight) {
    std::memcpy(destination, source,
                static_cast<std::size_t>(window.width) * 3);
  }
}

void CheckPixels(std::int64_t width, std::int64_t height,
                 const JpegLimits& limits) {
  if (width * height > limits.max_pixels) {
    throw DataError("a JPEG of " + std::to_string(width) + "x" +
                    std::to_string(height) + " pixels is over the limit of " +
                    std::to_string(limits.max_pixels));
  }
}

ReferenceJpegDecoder::ReferenceJpegDecoder(const JpegLimits& limits,
                                           JpegWarnings warnings)
    : state_(std::make_unique<State>(limits, warnings)) {}
ReferenceJpegDecoder::~ReferenceJpegDecoder() = default;
ReferenceJpegDecoder::ReferenceJpegDecoder(ReferenceJpegDecoder&&) noexcept =
    default;
ReferenceJpegDecoder& ReferenceJpegDecoder::operator=(
    ReferenceJpegDecoder&&) noexcept = default;

JpegInfo ReferenceJpegDecoder::ReadHeader(std::span<const std::byte> bytes) {
  State& state = *state_;
  state.header_read = false;
  state.warning = {};
  // Drops a failed image's warning.
  static_cast<void>(state.errors.TakeWarning());
  state.errors.RunHeader([&] { state.Begin(bytes); });
  state.KeepWarning();
  CheckPixels(state.codec.image_width, state.codec.image_height, state.limits);
  state.header_read = true;
  return {.width = static_cast<int>(state.codec.image_width),
          .height = static_cast<int>(state.codec.image_height),
          .components = state.codec.num_components,
          .progressive = state.codec.progressive_mode != FALSE};
}

void ReferenceJpegDecoder::DecodeWindow(const Window& window, RowSink& sink) {
  DecodeScaledWindow(1, window, sink);
}

void ReferenceJpegDecoder::DecodeScaledWindow(int denominator,
                                              const Window& window,
                                              RowSink& sink) {
  state_->SetScale(DCTSIZE / denominator);
  const auto width = static_cast<int>(state_->codec.output_width);
  const auto height = static_cast<int>(state_->codec.output_height);
  Check(window.x >= 0 && window.y >= 0 && window.width > 0 &&
            window.height > 0 && window.width <= width - window.x &&
            window.height <= height - window.y,
        "the window lies inside the image");
  state_->DecodeRows(window, sink);
}

void ReferenceJpegDecoder::DecodeScaled(int eighths, RowSink& sink) {
  State& state = *state_;
  state.SetScale(eighths);
  state.DecodeRows({.y = 0,
                    .x = 0,
                    .height = static_cast<int>(state.codec.output_height),
                    .width = static_cast<int>(state.codec.output_width)},
                   sink);
}

const std::string& ReferenceJpegDecoder::warning() const {
  return state_->warning;
}

}  // namespace infeed
