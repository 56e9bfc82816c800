#pragma once

#include "trainer/loop/device_loop.h"
#include "trainer/params/params.h"
#include "trainer/params/run_options.h"
#include "trainer/ranks/ranks.h"

// Selects the precision of a training run on a CPU for precision=auto. Whether
// bfloat16 is faster depends on the processor, the model and the image size, so
// both precisions are timed.
namespace infeed {

// The speed of training a model in each precision, in images/s.
struct PrecisionSpeeds {
  double float32 = 0;
  double bfloat16 = 0;
};

// Replaces precision=auto of a training run on a CPU by bfloat16 or float32,
// and prints why. Rank 0 decides for all ranks. A resumed run keeps the
// precision in its params.yaml; a run that is too short for a trial, or on a
// CPU without usable units for bfloat16, gets float32.
void SettlePrecision(const RunOptions& options, Ranks& ranks,
                     RunParams& resolved);

// Throws UsageError if the precision is bfloat16 and the CPU cannot compute in
// it; the library's own error would come in the first step.
void RequireUsablePrecision(const TrainParams& params,
                            const std::string& device);

// Images in a trial's batch: at most a rank's part of the run's batch, and so
// few that a step takes about a tenth of a second on `cores` cores.
[[nodiscard]] int TrialBatch(const TrainParams& params, int ranks, int cores);
// Whether the run is so long that a trial with such a batch is a small part of
// it.
[[nodiscard]] bool IsWorthATrial(const TrainParams& params, int batch);

// Trains temporary copies of the model on made-up images. Takes a second or
// two; does not change the random draws or weights of other models.
[[nodiscard]] PrecisionSpeeds TimePrecisions(const TrainParams& params,
                                             const DeviceOptions& device,
                                             int batch);

// kBfloat16 where it is faster by clearly more than noise.
[[nodiscard]] Precision ClearlyFaster(const PrecisionSpeeds& speeds);

}  // namespace infeed
