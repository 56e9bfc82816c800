#pragma once

#include <string>

#include "trainer/job/run_options.h"
#include "trainer/loop/options.h"
#include "trainer/params/params.h"
#include "trainer/ranks/ranks.h"

// What precision=auto is for a training on a CPU: whether bfloat16 pays depends
// on the processor, the model and the image size, so both are timed.
namespace infeed {

// What a model trains at, in images/s.
struct PrecisionSpeeds {
  double float32 = 0;
  double bfloat16 = 0;
};

// Replaces precision=auto of a training on a CPU by bfloat16 or float32, and
// says why. Rank 0 decides for all ranks. A run that goes on keeps what its
// params.yaml has; one that is too short to be worth a trial, or on a CPU
// without units for bfloat16, is float32.
void SettlePrecision(const RunOptions& options, Ranks& ranks,
                     RunParams& resolved);

// How many images a trial's batch has: a part of the run's, and so few that a
// step takes some tenth of a second on so many cores.
[[nodiscard]] int TrialBatch(const TrainParams& params, int ranks, int cores);
// Whether a run lasts so long that a trial with such a batch is a small part of
// it.
[[nodiscard]] bool IsWorthATrial(const TrainParams& params, int batch);

// Trains copies of the model that nobody else sees, on made images. Takes a
// second or two; draws and weights of other models stay as they are.
[[nodiscard]] PrecisionSpeeds TimePrecisions(const TrainParams& params,
                                             const DeviceOptions& device,
                                             int batch);

// "bfloat16" where it is clearly faster, by more than what noise makes.
[[nodiscard]] std::string ClearlyFaster(const PrecisionSpeeds& speeds);

}  // namespace infeed
