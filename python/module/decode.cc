#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "base/choices.h"
#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/packed_copy.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/pixels/simd_target.h"
#include "preprocess/resize/side.h"
#include "preprocess/resize/sink.h"

#include "python/module/module.h"
#include "python/module/unlocked.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Corner = std::tuple<int, int, int, int>;  // y, x, height, width
using HeightAndWidth = std::tuple<int, int>;
using SizeArgument = std::variant<int, HeightAndWidth>;  // an int: both sides
using Pixels = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<3>>;

// The names of Interpolation's that are of one kernel.
constexpr Choices<ResizeKernel, 4> kKernels = {
    {{"bicubic", ResizeKernel::kBicubic},
     {"bilinear", ResizeKernel::kBilinear},
     {"antialias", ResizeKernel::kAntialias},
     {"antialias_bicubic", ResizeKernel::kAntialiasBicubic}}};

void CheckWindow(const Window& window, int height, int width) {
  if (window.y < 0 || window.x < 0 || window.height < 1 || window.width < 1 ||
      window.height > height - window.y || window.width > width - window.x) {
    throw UsageError("the window is not inside the image of " +
                     std::to_string(height) + " x " + std::to_string(width));
  }
}

void CopyWindow(const RgbView& source, RgbImage& image) {
  image.Resize(source.width, source.height);
  for (int y = 0; y < source.height; ++y) {
    std::copy_n(source.row(y), static_cast<std::ptrdiff_t>(source.width) * 3,
                image.row(y));
  }
}

// Decodes a window of a JPEG, row by row, by the thread's own decoder: to
// allocate its memory anew costs a window 3 % of its time.
void DecodeJpeg(std::span<const std::byte> bytes,
                const std::optional<Window>& window, RowSink& sink) {
  thread_local JpegDecoder decoder;
  const JpegInfo info = decoder.ReadHeader(bytes);
  const Window part =
      window.value_or(Window{.height = info.height, .width = info.width});
  CheckWindow(part, info.height, info.width);
  decoder.DecodeWindow(part, sink);
}

void DecodeInto(std::span<const std::byte> bytes,
                const std::optional<Window>& window, RgbImage& image) {
  if (IsJpeg(bytes)) {
    ImageSink sink(image);
    return DecodeJpeg(bytes, window, sink);
  }
  ImageDecoder decoder;
  if (!window) {
    decoder.Decode(bytes, image);
    return;
  }
  RgbImage whole;
  decoder.Decode(bytes, whole);
  CheckWindow(*window, whole.height(), whole.width());
  CopyWindow(whole.view(*window), image);
}

ImageSize CheckedSize(const SizeArgument& given) {
  constexpr int kMostSide = 1 << 14;
  const int* const side = std::get_if<int>(&given);
  const ImageSize size =
      side != nullptr
          ? ImageSize(*side)
          : std::make_from_tuple<ImageSize>(std::get<HeightAndWidth>(given));
  if (size.shorter() < 1 || size.longer() > kMostSide) {
    throw UsageError("size is " + std::to_string(size.height) + " x " +
                     std::to_string(size.width) + ": give sides from 1 to " +
                     std::to_string(kMostSide));
  }
  return size;
}

void DecodeResized(std::span<const std::byte> bytes,
                   const std::optional<Window>& window, const ImageSize& size,
                   ResizeKernel kernel, RgbImage& image) {
  const auto memory =
      std::make_unique_for_overwrite<std::uint32_t[]>(size.pixels());
  const std::span packed(memory.get(), size.pixels());
  const auto sink = MakeResizeSink(kernel, size);
  sink->Aim(packed, false);
  if (IsJpeg(bytes)) {
    DecodeJpeg(bytes, window, *sink);
  } else {
    RgbImage source;
    DecodeInto(bytes, window, source);
    PutImage(source.view(), *sink);
  }
  image.Resize(size.width, size.height);
  UnpackPixels(packed, image.pixels());
}

Pixels Decode(const nb::bytes& data, const std::optional<Corner>& window,
              const std::optional<SizeArgument>& size,
              std::string_view interpolation) {
  std::optional<Window> part;
  if (window) {
    const auto [y, x, height, width] = *window;
    part = Window{.y = y, .x = x, .height = height, .width = width};
  }
  std::optional<ImageSize> resized;
  if (size) {
    resized = CheckedSize(*size);
  }
  const ResizeKernel kernel =
      ParseChoice("interpolation", interpolation, kKernels);
  auto image = std::make_unique<RgbImage>();
  {
    const Unlocked unlocked;
    const std::span bytes(static_cast<const std::byte*>(data.data()),
                          data.size());
    if (resized) {
      DecodeResized(bytes, part, *resized, kernel, *image);
    } else {
      DecodeInto(bytes, part, *image);
    }
  }
  const auto height = static_cast<std::size_t>(image->height());
  const auto width = static_cast<std::size_t>(image->width());
  std::uint8_t* const pixels = image->pixels().data();
  const nb::capsule owner(image.release(), [](void* owned) noexcept {
    delete static_cast<RgbImage*>(owned);
  });
  return Pixels(pixels, {height, width, 3}, owner);
}

}  // namespace

void AddDecode(nb::module_& module) {
  module.def(
      "decode_image", &Decode, nb::arg("data"), nb::arg("window") = nb::none(),
      nb::arg("size") = nb::none(), nb::arg("interpolation") = "antialias",
      "Decodes a JPEG, PNG or WebP to uint8 [H, W, 3], RGB. window: (y, x, "
      "height, width), the only part that is decoded. size: (height, width), "
      "or an int for both, to which that part is resized by the "
      "interpolation. Threads may decode at once.");
  module.def("simd_targets", &SupportedSimdTargets,
             "The instruction sets that this CPU supports, best first.");
  module.def(
      "use_simd_target", [](const std::string& name) { UseSimdTarget(name); },
      nb::arg("name"),
      "Decodes and resizes by one of simd_targets() from now on, by the best "
      "if the name is empty. For benchmarks, while no other thread decodes.");
}

}  // namespace infeed::python
