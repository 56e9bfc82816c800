#include "preprocess/pixels/image_size.h"
#include "trainer/feed/pixel_math.h"
#include "trainer/kernels/kernels.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

// Pixels in 16 bytes, which a thread writes at once.
template <typename T>
constexpr int kPixels = Vector<T>::kSize / kImageChannels;

// Vectors per thread.
constexpr int kVectors = 4;

__device__ void CopyLabels(const PackedImages& from, int images,
                           const UnpackedImages& to) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
       i < images; i += threads) {
    to.labels[i] = from.labels[i];
    to.weights[i] = from.weights[i];
  }
}

__device__ float ChannelOf(std::uint32_t pixel, int channel,
                           const PixelStatistics& statistics) {
  return channel < 3 ? Normalized(pixel, channel, statistics) : 0;
}

// The packed pixel of a pixel of SpaceToDepth(); -1: none, it is 0.
__device__ std::int64_t PixelInSquares(std::int64_t at, const ImageSize& size) {
  const int rows = size.height / 2 + kMoreSquares;
  const int pixels = 4 * (size.width / 2 + kMoreSquares);  // in a row
  const std::int64_t line = at / pixels;
  const auto in_line = static_cast<int>(at - line * pixels);
  const auto image = static_cast<int>(line / rows);
  const auto square = static_cast<int>(line - std::int64_t{image} * rows);
  const int row = 2 * (square - kSquaresBefore) + in_line / 2 % 2;
  const int column = 2 * (in_line / 4 - kSquaresBefore) + in_line % 2;
  if (row < 0 || row >= size.height || column < 0 || column >= size.width) {
    return -1;
  }
  return (std::int64_t{image} * size.height + row) * size.width + column;
}

// pixels: of all unpacked images.
template <typename T, bool kSpaceToDepth>
__global__ void __launch_bounds__(kThreads)
    UnpackKernel(PackedImages from, int images, ImageSize size,
                 std::int64_t pixels, PixelStatistics statistics,
                 UnpackedImages to) {
  CopyLabels(from, images, to);
  T* const out = static_cast<T*>(to.pixels);
  const std::int64_t first = std::int64_t{blockIdx.x} * kVectors * kThreads;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const std::int64_t pixel =
        (first + k * kThreads + threadIdx.x) * kPixels<T>;
    // Both pixels of a vector are side by side in a packed image, too.
    const std::int64_t source =
        kSpaceToDepth ? PixelInSquares(pixel, size) : pixel;
    Vector<T> vector;
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      const int next = i / kImageChannels;
      vector.at[i] = source >= 0 && pixel + next < pixels
                         ? ChannelOf(from.pixels[source + next],
                                     i % kImageChannels, statistics)
                         : 0;
    }
    if (pixel + kPixels<T> <= pixels) {
      StoreVector(out + pixel * kImageChannels, vector);
      continue;
    }
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      if (pixel + i / kImageChannels < pixels) {
        StoreOne(out + pixel * kImageChannels + i, vector.at[i]);
      }
    }
  }
}

template <typename T>
void Launch(const PackedImages& from, int images, const ImageSize& size,
            const PixelStatistics& statistics, const UnpackedImages& to,
            cudaStream_t stream) {
  constexpr std::int64_t kBlockPixels = kVectors * kThreads * kPixels<T>;
  const int more = to.space_to_depth ? 2 * kMoreSquares : 0;
  const std::int64_t pixels =
      std::int64_t{images} * (size.height + more) * (size.width + more);
  const auto blocks =
      static_cast<unsigned>((pixels + kBlockPixels - 1) / kBlockPixels);
  const auto kernel =
      to.space_to_depth ? UnpackKernel<T, true> : UnpackKernel<T, false>;
  kernel<<<blocks, kThreads, 0, stream>>>(from, images, size, pixels,
                                          statistics, to);
  CheckLaunch("UnpackKernel");
}

}  // namespace

void LaunchUnpack(const PackedImages& from, int images, const ImageSize& size,
                  const PixelStatistics& statistics, ImageType type,
                  const UnpackedImages& to, cudaStream_t stream) {
  WithElement(type, [&]<typename T>(std::type_identity<T>) {
    Launch<T>(from, images, size, statistics, to, stream);
  });
}

}  // namespace infeed
