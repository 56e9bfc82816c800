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

template <typename T>
__global__ void __launch_bounds__(kThreads)
    UnpackKernel(PackedImages from, int images, std::int64_t pixels,
                 PixelStatistics statistics, UnpackedImages to) {
  CopyLabels(from, images, to);
  T* const out = static_cast<T*>(to.pixels);
  const std::int64_t first = std::int64_t{blockIdx.x} * kVectors * kThreads;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const std::int64_t pixel =
        (first + k * kThreads + threadIdx.x) * kPixels<T>;
    Vector<T> vector;
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      const std::int64_t at = pixel + i / kImageChannels;
      vector.at[i] = at < pixels ? ChannelOf(from.pixels[at],
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
  const std::int64_t pixels = std::int64_t{images} * size.height * size.width;
  const auto blocks =
      static_cast<unsigned>((pixels + kBlockPixels - 1) / kBlockPixels);
  UnpackKernel<T>
      <<<blocks, kThreads, 0, stream>>>(from, images, pixels, statistics, to);
  CheckLaunch("UnpackKernel");
}

}  // namespace

void LaunchUnpack(const PackedImages& from, int images, const ImageSize& size,
                  const PixelStatistics& statistics, ImageType type,
                  const UnpackedImages& to, cudaStream_t stream) {
  switch (type) {
    case ImageType::kFloat32:
      return Launch<float>(from, images, size, statistics, to, stream);
    case ImageType::kBfloat16:
      return Launch<__nv_bfloat16>(from, images, size, statistics, to, stream);
    case ImageType::kFloat16:
      return Launch<__half>(from, images, size, statistics, to, stream);
  }
}

}  // namespace infeed
