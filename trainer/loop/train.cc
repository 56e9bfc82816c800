#include "trainer/loop/train.h"

#include <cmath>

namespace infeed {

std::int64_t TrainLoop::Run(std::int64_t first_step, std::int64_t steps,
                            const BatchUnpacker& unpacker, Infeed& infeed,
                            Outfeed& outfeed) {
  const StepInputs inputs =
      step_.Upload(first_step, steps, infeed.image_size());
  std::int64_t done = 0;
  for (bool is_ending = false; done < steps && !is_ending; ++done) {
    BatchHandle batch = infeed.Next();
    if (!batch) {
      break;
    }
    const DeviceBatch on_device = unpacker.Unpack(*batch);
    batch.reset();  // Its memory is free for the pipeline while we compute.
    step_.Begin(first_step + done);
    const StepResults step =
        step_.Run(on_device, inputs.Of(done), infeed.end_requested());
    const float loss = *step.loss.data_ptr<float>();
    outfeed.Put(
        {.step = first_step + done + 1,
         .loss = loss,
         .top_1 = *step.top_1.data_ptr<float>(),
         .learning_rate = *inputs.rates[done].data_ptr<float>(),
         .images = static_cast<std::int64_t>(*step.counted.data_ptr<float>())});
    is_ending = !std::isfinite(loss) ||
                (step.votes.defined() && *step.votes.data_ptr<float>() > 0);
  }
  return done;
}

}  // namespace infeed
