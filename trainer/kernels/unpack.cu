#include "trainer/feed/pixel_math.h"
#include "trainer/kernels/kernels.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

// Pixels for each thread: their channels fill three vectors.
template <typename T>
constexpr int kPixels = Vector<T>::kSize;

__device__ void CopyLabels(const PackedImages& from, int images,
                           const UnpackedImages& to) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
       i < images; i += threads) {
    to.labels[i] = from.labels[i];
    to.weights[i] = from.weights[i];
  }
}

// The pixels of a thread, normalised: three vectors.
template <typename T>
__device__ void NormalizePixels(const std::uint32_t* pixels,
                                const PixelStatistics& statistics,
                                uint4* vectors) {
  float values[3 * kPixels<T>];
#pragma unroll
  for (int i = 0; i < kPixels<T>; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(pixels + i);
    const std::uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 12; ++k) {
      values[3 * i + k] = Normalized(words[k / 3], k % 3, statistics);
    }
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    Vector<T> vector;
#pragma unroll
    for (int k = 0; k < Vector<T>::kSize; ++k) {
      vector.at[k] = values[i * Vector<T>::kSize + k];
    }
    vectors[i] = Packed(vector);
  }
}

// A block's pixels are consecutive; shared memory makes the vectors that a warp
// writes at once consecutive too.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    UnpackKernel(PackedImages from, int images, std::int64_t pixels,
                 PixelStatistics statistics, UnpackedImages to) {
  constexpr int kBlockPixels = kThreads * kPixels<T>;
  __shared__ uint4 vectors[3 * kThreads];
  CopyLabels(from, images, to);
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlockPixels;
  T* const out = static_cast<T*>(to.pixels) + 3 * first;
  if (first + kBlockPixels <= pixels) {
    NormalizePixels<T>(from.pixels + first + threadIdx.x * kPixels<T>,
                       statistics, vectors + 3 * threadIdx.x);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const int at = i * kThreads + static_cast<int>(threadIdx.x);
      reinterpret_cast<uint4*>(out)[at] = vectors[at];
    }
    return;
  }
  for (std::int64_t i = threadIdx.x; i < 3 * (pixels - first); i += kThreads) {
    StoreOne(out + i, Normalized(from.pixels[first + i / 3],
                                 static_cast<int>(i % 3), statistics));
  }
}

template <typename T>
void Launch(const PackedImages& from, int images, int side,
            const PixelStatistics& statistics, const UnpackedImages& to,
            cudaStream_t stream) {
  constexpr std::int64_t kBlockPixels = kThreads * kPixels<T>;
  const std::int64_t pixels = std::int64_t{images} * side * side;
  const auto blocks =
      static_cast<unsigned>((pixels + kBlockPixels - 1) / kBlockPixels);
  UnpackKernel<T>
      <<<blocks, kThreads, 0, stream>>>(from, images, pixels, statistics, to);
  CheckLaunch("UnpackKernel");
}

}  // namespace

void LaunchUnpack(const PackedImages& from, int images, int side,
                  const PixelStatistics& statistics, ImageType type,
                  const UnpackedImages& to, cudaStream_t stream) {
  if (type == ImageType::kBfloat16) {
    Launch<__nv_bfloat16>(from, images, side, statistics, to, stream);
  } else {
    Launch<float>(from, images, side, statistics, to, stream);
  }
}

}  // namespace infeed
