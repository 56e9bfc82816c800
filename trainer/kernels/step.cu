#include "trainer/kernels/kernels.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

__global__ void SelectRowKernel(const float* table, int columns,
                                const StepClock* clock, float* row) {
  const float* const from = table + clock->index * columns;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += blockDim.x) {
    row[i] = from[i];
  }
}

// The host may read at any time: once it sees `done`, it must see the other
// members.
__device__ void WriteRecord(const StepRecord& record, StepRecord* slot) {
  slot->loss = record.loss;
  slot->top_1 = record.top_1;
  slot->rate = record.rate;
  slot->images = record.images;
  slot->loss_scale = record.loss_scale;
  slot->skipped_steps = record.skipped_steps;
  __threadfence_system();
  *static_cast<volatile std::int64_t*>(&slot->done) = record.done;
}

__global__ void EndStepKernel(StepScalars scalars, StepRing ring,
                              StepClock* clock) {
  const std::int64_t step = clock->first + clock->index;
  StepRecord record;
  record.done = step + 1;
  record.loss = *scalars.loss;
  record.top_1 = *scalars.top_1;
  record.rate = *scalars.rate;
  record.images = *scalars.images;
  if (scalars.loss_scale != nullptr) {
    record.loss_scale = *scalars.loss_scale;
    record.skipped_steps = static_cast<float>(*scalars.skipped_steps);
  }
  WriteRecord(record, ring.records + step % ring.count);
  ++clock->index;
}

}  // namespace

void LaunchSelectRow(const float* table, int columns, const StepClock* clock,
                     float* row, cudaStream_t stream) {
  SelectRowKernel<<<1, 32, 0, stream>>>(table, columns, clock, row);
  CheckLaunch("SelectRowKernel");
}

void LaunchEndStep(const StepScalars& scalars, const StepRing& ring,
                   StepClock* clock, cudaStream_t stream) {
  EndStepKernel<<<1, 1, 0, stream>>>(scalars, ring, clock);
  CheckLaunch("EndStepKernel");
}

}  // namespace infeed
