#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pixel_statistics.h"
#include "trainer/feed/step_record.h"
#include "trainer/model/flat_chunks.h"

// The trainer's kernels for GPUs, for everything around the network. Their
// arithmetic is in headers that are also compiled for the CPU (*_math.h), and
// gives the CPU's bits: nothing is contracted to a fused multiply-add.
//
// A launch only enqueues work: it does not wait or allocate, so that it can be
// captured. Pointers are to dense device memory aligned to 16 bytes, unless
// stated otherwise, and must stay valid until the work is done. Thread-safe.
// Each launch throws IoError when CUDA rejects it.
namespace infeed {

enum class ImageType { kFloat32, kBfloat16, kFloat16 };

// ---- Batches ----

struct PackedImages {
  const std::uint32_t* pixels = nullptr;  // [images, height, width]
  const std::int32_t* labels = nullptr;   // [images]
  const float* weights = nullptr;         // [images]
};

// A pixel has the size of a vector load that way, 8 bytes in 16-bit types. The
// last channel is 0.
constexpr int kImageChannels = 4;

struct UnpackedImages {
  // [images, height, width, kImageChannels]: [images, kImageChannels, height,
  // width] in channels_last order.
  void* pixels = nullptr;
  std::int64_t* labels = nullptr;  // [images]
  float* weights = nullptr;        // [images]
  // The pixels are those of SpaceToDepth() (trainer/network/convolution.h),
  // [images, height / 2 + kMoreSquares, width / 2 + kMoreSquares, 2, 2,
  // kImageChannels]. Requires: height and width are even.
  bool space_to_depth = false;
};

// Squares of zeros at both ends of a row of SpaceToDepth(), and before the
// first one.
constexpr int kMoreSquares = 3;
constexpr int kSquaresBefore = 2;

// Unpacks pixels, normalises them, (value - mean) / std in float32, and rounds
// them to `type`; copies labels and weights. Requires: images > 0, size > 0.
void LaunchUnpack(const PackedImages& from, int images, const ImageSize& size,
                  const PixelStatistics& statistics, ImageType type,
                  const UnpackedImages& to, cudaStream_t stream);

// ---- Steps ----

// Copies row clock->index of a table [steps, columns] to row [columns]: the
// inputs of the current step (its learning rate and more), at a fixed address.
void LaunchSelectRow(const float* table, int columns, const StepClock* clock,
                     float* row, cudaStream_t stream);

// The results of a step; scalars.
struct StepScalars {
  const float* loss = nullptr;
  const float* top_1 = nullptr;
  const float* rate = nullptr;
  const float* images = nullptr;
  const float* loss_scale = nullptr;  // with skipped_steps, or both nullptr
  const std::int64_t* skipped_steps = nullptr;
};

// Where results are written: a ring in pinned, mapped host memory, by its
// device address.
struct StepRing {
  StepRecord* records = nullptr;
  std::int64_t count = 0;
};

// Writes the record of the current step, number s = first + index, to records[s
// % count], and advances the clock. The host can read the record while the loop
// runs. Requires: the host has read the slot's previous record.
void LaunchEndStep(const StepScalars& scalars, const StepRing& ring,
                   StepClock* clock, cudaStream_t stream);

// ---- Optimizers, over flat buffers (flat_chunks.h) ----

struct FlatBuffers {
  float* weights = nullptr;
  float* averages = nullptr;
  const float* gradients = nullptr;
  // Not 0: weights and averages keep their bits; or nullptr.
  const float* refused = nullptr;
};

// The plan of MakeFlatPlan(), copied to the device.
struct DevicePlan {
  const FlatChunk* chunks = nullptr;
  std::int32_t chunk_count = 0;
  const std::int32_t* first_chunks = nullptr;  // [parameter_count + 1]
  std::int32_t parameter_count = 0;
};

struct MomentumUpdate {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool nesterov = true;
};

// A step of MomentumOptimizer (trainer/optimizer/momentum.cc); rate is on the
// device. Sets *l2 to the L2 term of the old weights, always summed in the same
// order. workspace: chunk_count doubles.
void LaunchMomentum(const FlatBuffers& buffers, const DevicePlan& plan,
                    const MomentumUpdate& update, const float* rate,
                    double* workspace, float* l2, cudaStream_t stream);

struct LarsUpdate {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double trust = 0.001;
};

// A step of LarsOptimizer (trainer/optimizer/lars.cc); rate is on the device.
// workspace: 2 * chunk_count + parameter_count doubles.
void LaunchLars(const FlatBuffers& buffers, const DevicePlan& plan,
                const LarsUpdate& update, const float* rate, double* workspace,
                cudaStream_t stream);

}  // namespace infeed
