#include "trainer/run/memory.h"

#include <algorithm>

#include "base/error.h"
#include "pipeline/memory/memory_limit.h"
#ifdef INFEED_CUDA
#include "trainer/loop/gpu_cards.h"
#endif
#include "trainer/model/cost.h"
#include "trainer/model/image_size_schedule.h"
#include "trainer/params/station_options.h"
#include "trainer/params/table.h"
#include "trainer/run/job.h"

namespace infeed {
namespace {

// The part that training and evaluation share.
MemoryNeed NeedOfBatch(const RunOptions& options, const TrainParams& params,
                       int batch_size) {
  MemoryNeed need;
  need.images = batch_size / options.place.world_size;
  need.image_size = params.input.preprocess.image_size;
  need.precision = PrecisionOf(params, options.device);
  need.on_gpu = IsGpu(options.device);
  need.processes = options.place.local_world_size;
  return need;
}

}  // namespace

MemoryNeed TrainingNeed(const RunOptions& options, const TrainParams& params,
                        std::int64_t input) {
  MemoryNeed need = NeedOfBatch(options, params, params.input.batch_size);
  need.step = "a training step";
  need.batch_parameter = NameOf(params, &params.input.batch_size);
  need.image_size = ImageSizeSchedule(params.image_size_schedule,
                                      params.input.preprocess.image_size)
                        .largest();
  need.in_parts = true;
  const OptimizerOptions optimizer = MakeOptimizerOptions(params);
  need.device =
      TrainingBytes(ComputeCost(MakeModelOptions(params), need.image_size),
                    optimizer, need.images, Has16Bits(need.precision));
  if (params.teacher) {
    need.device +=
        ForwardBytes(ComputeCost(*params.teacher, need.image_size),
                     need.images / std::max(1, optimizer.accumulation_steps),
                     Has16Bits(need.precision));
  }
  need.input = input;
  return need;
}

MemoryNeed EvaluationNeed(const RunOptions& options, const TrainParams& params,
                          std::int64_t input) {
  const bool predicts =
      options.mode == Mode::kPredict && options.predict_batch_size > 0;
  MemoryNeed need = NeedOfBatch(
      options, params,
      predicts ? options.predict_batch_size : params.eval_batch_size);
  need.step = "an evaluation";
  need.batch_parameter = predicts ? "predict_batch_size" : "eval_batch_size";
  if (!predicts) {  // Whole images on each rank.
    const int crops = EvalViewsOf(params).crops;
    need.images = std::max(1, need.images / crops) * crops;
  }
  need.device =
      ForwardBytes(ComputeCost(MakeModelOptions(params), need.image_size),
                   need.images, Has16Bits(need.precision));
  need.input = input;
  return need;
}

MemoryNeed EstimateNeed(const RunOptions& options, const TrainParams& params,
                        std::int64_t input) {
  return Trains(options.mode) ? TrainingNeed(options, params, input)
                              : EvaluationNeed(options, params, input);
}

MemoryThere FindMemory() {
  try {
    return {.machine = MachineMemory(), .available = AvailableMemory()};
  } catch (const IoError&) {
    return {};
  }
}

MemoryThere WithGpu(MemoryThere there,
                    [[maybe_unused]] const MemoryNeed& need) {
#ifdef INFEED_CUDA
  there.gpu = need.on_gpu ? FreeCardMemory() : 0;
#endif
  return there;
}

void WarnOfMemory(const MemoryNeed& need, const MemoryThere& there) {
  const std::string warning = MemoryWarning(need, there);
  if (!warning.empty()) {
    Say("warning: " + warning);
  }
}

OutOfMemoryText MakeOutOfMemoryText(MemoryNeed need, MemoryThere there) {
  return [need = std::move(need), there](const std::string& refused) {
    return MemoryRanOut(need, there, refused);
  };
}

}  // namespace infeed
