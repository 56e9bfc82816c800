#pragma once

#include <cstddef>
#include <exception>

#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda_kernels.h"
#include "trainer/cuda_memory.h"
#include "trainer/cuda_slots.h"
#include "trainer/cuda_step_inputs.h"
#include "trainer/cuda_stream.h"
#include "trainer/device_passes.h"
#include "trainer/result_ring.h"

// What the training loops on a GPU share.
namespace infeed {

// Steps that may wait for a slow outfeed before the host does: 128 KiB.
inline constexpr std::size_t kCudaRecords = 4096;

// All of a step, from a packed batch on the device to its record, in the stream
// that is current: what a graph of it holds.
void RunCudaStep(const DeviceModel& model, const PackedImages& batch,
                 const BatchShape& shape, const CudaStepInputs& inputs,
                 const MappedRecords& records);

// A loop's end: waits for the device and for the results. Throws `error`, where
// that is one, or what the device or the outfeed did.
void EndCudaLoop(std::exception_ptr error, const c10::cuda::CUDAStream& stream,
                 CudaWaits& waits, ResultRing& results);

}  // namespace infeed
