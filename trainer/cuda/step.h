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

// Code that the training loops on a GPU share.
namespace infeed {

// Results that may wait for a slow outfeed before the host waits: 128 KiB.
inline constexpr std::size_t kCudaRecords = 4096;

// Enqueues a whole step in the current stream, from a packed batch on the
// device to its record; a graph captures this.
void RunCudaStep(const DeviceModel& model, const PackedImages& batch,
                 const BatchShape& shape, const CudaStepInputs& inputs,
                 const MappedRecords& records);

// The parts of a training loop on a GPU.
struct CudaLoopParts {
  const c10::cuda::CUDAStream& stream;
  CudaWaits& waits;
  const CudaStatus& status;
  CudaIdle& idle;
  ResultRing& results;
  Infeed& infeed;
};

// Runs a loop of `steps` steps from first_step on: launch(done) launches some
// more steps and returns how many, 0 at the end of the stream. Then waits for
// the device and for the results, and adds the device's idle time to the
// infeed's waits. Returns how many steps ran: fewer than were launched only
// where the device itself ended the loop, once the infeed was stopped. Throws
// DeviceFailure() if the device failed, else what launch or the outfeed threw,
// after the steps launched before have ended and their results are in the
// outfeed.
std::int64_t RunCudaLoop(
    std::int64_t first_step, std::int64_t steps, const CudaLoopParts& parts,
    const std::function<std::int64_t(std::int64_t done)>& launch);

}  // namespace infeed
