#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/idle.h"
#include "trainer/cuda/memory.h"
#include "trainer/cuda/slots.h"
#include "trainer/cuda/step_inputs.h"
#include "trainer/cuda/stream.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/result_ring.h"
#include "trainer/kernels/kernels.h"
#include "trainer/loop/passes.h"

// What the training loops on a GPU share.
namespace infeed {

// Steps that may wait for a slow outfeed before the host does: 128 KiB.
inline constexpr std::size_t kCudaRecords = 4096;

// All of a step, from a packed batch on the device to its record, in the stream
// that is current: what a graph of it holds.
void RunCudaStep(const DeviceModel& model, const PackedBatch& batch,
                 const BatchShape& shape, const CudaStepInputs& inputs,
                 const MappedRecords& records);

// Where a loop's steps run, and who is told of them.
struct CudaLoopParts {
  const c10::cuda::CUDAStream& stream;
  CudaWaits& waits;
  CudaIdle& idle;
  ResultRing& results;
  Infeed& infeed;
};

// Runs a loop of `steps` steps: launch(done) has some more launched and returns
// how many, 0 at the end of the stream. Then waits for the device and for the
// results, and tells the infeed how long the device had nothing to do. Returns
// how many ran. Throws what launch, the device or the outfeed did, once what
// was launched before is done and told.
std::int64_t RunCudaLoop(
    std::int64_t steps, const CudaLoopParts& parts,
    const std::function<std::int64_t(std::int64_t done)>& launch);

}  // namespace infeed
