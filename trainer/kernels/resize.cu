#include "base/error.h"
#include "trainer/feed/resize_math.h"
#include "trainer/kernels/resize.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

// A block computes a tile of the output, each warp a row.
constexpr int kTileColumns = 32;
constexpr int kTileRows = kThreads / kTileColumns;

struct Tile {
  FourTaps columns[kTileColumns];
  FourTaps rows[kTileRows];
};

// Computes the taps of a tile's columns and rows, once each. Beyond the edge,
// those at the edge are used.
__device__ void SetTile(const ResizeWindow& window, ResizeKernel kernel,
                        int side, int x, int y, Tile& tile) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < kTileColumns) {
    const int column = min(x + i, side - 1);
    tile.columns[i] = TapsAt(kernel, window.width, side,
                             window.mirrored != 0 ? side - 1 - column : column);
  } else if (i < kTileColumns + kTileRows) {
    const int row = min(y + i - kTileColumns, side - 1);
    tile.rows[i - kTileColumns] = TapsAt(kernel, window.height, side, row);
  }
  __syncthreads();
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    ResizeKernelOf(PackedWindows from, int side, int tiles, ResizeKernel kernel,
                   PixelStatistics statistics, UnpackedImages to) {
  __shared__ Tile tile;
  __shared__ std::uint32_t pixels[kTileRows][kTileColumns];
  const int tiles_across = (side + kTileColumns - 1) / kTileColumns;
  const auto block = static_cast<int>(blockIdx.x);
  const int image = block / tiles;
  const int x = block % tiles % tiles_across * kTileColumns;
  const int y = block % tiles / tiles_across * kTileRows;
  const auto thread = static_cast<int>(threadIdx.x);
  const ResizeWindow window = from.windows[image];
  SetTile(window, kernel, side, x, y, tile);
  pixels[thread / kTileColumns][thread % kTileColumns] = ResizedPixel(
      from.pixels + std::int64_t{window.offset} * kWindowAlignment,
      window.width, window.height, tile.rows[thread / kTileColumns],
      tile.columns[thread % kTileColumns]);
  __syncthreads();
  // Adjacent threads write adjacent values.
  const int columns = 3 * min(kTileColumns, side - x);
  T* const out = static_cast<T*>(to.pixels) +
                 3 * ((std::int64_t{image} * side + y) * side + x);
  for (int i = thread % kTileColumns; i < columns; i += kTileColumns) {
    const int row = thread / kTileColumns;
    if (y + row < side) {
      StoreOne(out + std::int64_t{3} * row * side + i,
               Normalized(pixels[row][i / 3], i % 3, statistics));
    }
  }
  if (block % tiles == 0 && thread == 0) {
    to.labels[image] = from.labels[image];
    to.weights[image] = from.weights[image];
  }
}

}  // namespace

void LaunchResize(const PackedWindows& from, int images, int side,
                  ResizeKernel kernel, const PixelStatistics& statistics,
                  ImageType type, const UnpackedImages& to,
                  cudaStream_t stream) {
  Check(kernel != ResizeKernel::kAntialias, "a kernel of four taps");
  const int tiles = (side + kTileColumns - 1) / kTileColumns *
                    ((side + kTileRows - 1) / kTileRows);
  const auto blocks = static_cast<unsigned>(images) * tiles;
  if (type == ImageType::kBfloat16) {
    ResizeKernelOf<__nv_bfloat16><<<blocks, kThreads, 0, stream>>>(
        from, side, tiles, kernel, statistics, to);
  } else {
    ResizeKernelOf<float><<<blocks, kThreads, 0, stream>>>(
        from, side, tiles, kernel, statistics, to);
  }
  CheckLaunch("ResizeKernelOf");
}

}  // namespace infeed
