#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/feed/step_record.h"
#include "trainer/model/pixel_statistics.h"
#include "trainer/optimizer/flat_chunks.h"

// The trainer's kernels for GPUs: those around the network. Their arithmetic
// is that of headers which the CPU compiles too (*_math.h), and has the CPU's
// bits: nothing is contracted to a fused multiply-add.
//
// A launch only enqueues: nothing waits, nothing is allocated, so that all of
// them can be captured. Pointers are to the device's memory unless said
// otherwise, aligned to 16 bytes, dense, and must stay until the work is done.
// Thread-safe. Each throws IoError when the launch is refused.
namespace infeed {

enum class ImageType { kFloat32, kBfloat16 };

// ---- Batches ----

struct PackedImages {
  const std::uint32_t* pixels = nullptr;  // [images, side, side]
  const std::int32_t* labels = nullptr;   // [images]
  const float* weights = nullptr;         // [images]
};

struct UnpackedImages {
  // [images, side, side, 3]: [images, 3, side, side] in channels_last order.
  void* pixels = nullptr;
  std::int64_t* labels = nullptr;  // [images]
  float* weights = nullptr;        // [images]
};

// Takes packed pixels apart, normalises them, (value - mean) / std in float32,
// and rounds them to `type`; copies labels and weights. Requires: images > 0,
// side > 0.
void LaunchUnpack(const PackedImages& from, int images, int side,
                  const PixelStatistics& statistics, ImageType type,
                  const UnpackedImages& to, cudaStream_t stream);

// ---- Steps ----

// Copies row clock->index of a table [steps, columns] to row [columns]: what
// the step at hand is told (its learning rate and more), at a fixed address.
void LaunchSelectRow(const float* table, int columns, const StepClock* clock,
                     float* row, cudaStream_t stream);

// What a step ends with; scalars. loss is the sum of loss and loss_part where
// that is there; images may be nullptr, a 0 then.
struct StepScalars {
  const float* loss = nullptr;
  const float* loss_part = nullptr;  // or nullptr: the L2 term
  const float* top_1 = nullptr;
  const float* rate = nullptr;
  const float* images = nullptr;
};

// Where records go: `results`, [3, steps] as rate, loss, top-1, and a ring in
// pinned, mapped host memory (its address for the device).
struct StepSinks {
  float* results = nullptr;  // or nullptr
  std::int64_t steps = 0;
  StepRecord* ring = nullptr;  // or nullptr
  std::int64_t ring_records = 0;
};

// Writes the record of the step at hand, step number s = first + index, to
// ring[s % ring_records] and to column `index` of results, and advances the
// clock. The host sees the record while the loop runs. Requires: the host has
// read what a slot held before.
void LaunchEndStep(const StepScalars& scalars, const StepSinks& sinks,
                   StepClock* clock, cudaStream_t stream);

// ---- Optimizers, over flat buffers (flat_chunks.h) ----

struct FlatBuffers {
  float* weights = nullptr;
  float* averages = nullptr;
  float* gradients = nullptr;
  std::uint16_t* bfloat16 = nullptr;  // or nullptr: where rounded weights go
  bool clear_gradients = false;       // leaves zeros in gradients
  // What gradients are multiplied by, on the device; nullptr: 1.
  const float* gradient_scale = nullptr;
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

// A step of MomentumOptimizer (trainer/optimizer/momentum.h); rate is on the
// device. Sets *l2 to the L2 term of the weights before, summed in one order
// always. workspace: chunk_count doubles.
void LaunchMomentum(const FlatBuffers& buffers, const DevicePlan& plan,
                    const MomentumUpdate& update, const float* rate,
                    double* workspace, float* l2, cudaStream_t stream);

struct LarsUpdate {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double trust = 0.001;
};

// A step of LarsOptimizer (trainer/optimizer/lars.h); rate is on the device.
// workspace: 2 * chunk_count + parameter_count doubles.
void LaunchLars(const FlatBuffers& buffers, const DevicePlan& plan,
                const LarsUpdate& update, const float* rate, double* workspace,
                cudaStream_t stream);

}  // namespace infeed
