#include "trainer/device_loop_train.h"

#include <ATen/ATen.h>

namespace infeed {

std::int64_t TrainLoop::Run(std::int64_t first_step, std::int64_t steps,
                            const BatchUnpacker& unpacker, Infeed& infeed,
                            Outfeed& outfeed) {
  const StepInputs inputs =
      step_.Upload(first_step, steps, infeed.image_size());
  // [rate, loss, top-1, images that count] of each step.
  const torch::Tensor results =
      torch::empty({4, steps}, torch::device(device_));
  results[0].copy_(inputs.rates);
  const auto report = [&](const torch::Tensor& host, std::int64_t i) {
    const auto* values = host.data_ptr<float>() + i;
    outfeed.Put({.step = first_step + i + 1,
                 .loss = values[steps],
                 .top_1 = values[2 * steps],
                 .learning_rate = values[0],
                 .images = static_cast<std::int64_t>(values[3 * steps])});
  };
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
    results[1][done].copy_(step.loss);
    results[2][done].copy_(step.top_1);
    results[3][done].copy_(step.counted);
    if (device_.is_cpu()) {
      report(results, done);
      is_ending = step.votes.defined() && *step.votes.data_ptr<float>() > 0;
    }
  }
  if (!device_.is_cpu()) {
    // Reading a result earlier would make the host wait for the device.
    const torch::Tensor host = results.to(torch::kCPU);
    for (std::int64_t i = 0; i < done; ++i) {
      report(host, i);
    }
  }
  return done;
}

}  // namespace infeed
