#include "trainer/device_loop_train.h"

#include <cstddef>
#include <vector>

#include <ATen/ATen.h>

namespace infeed {

std::int64_t TrainLoop::Run(std::int64_t first_step, std::int64_t steps,
                            const BatchUnpacker& unpacker, Infeed& infeed,
                            Outfeed& outfeed) {
  const StepInputs inputs =
      step_.Upload(first_step, steps, infeed.image_size());
  // [rate, loss, top-1] of each step.
  const torch::Tensor results =
      torch::empty({3, steps}, torch::device(device_));
  results[0].copy_(inputs.rates);
  std::vector<std::int64_t> images;  // that count, of each step
  const auto report = [&](const torch::Tensor& host, std::int64_t i) {
    const auto* values = host.data_ptr<float>() + i;
    outfeed.Put({.step = first_step + i + 1,
                 .loss = values[steps],
                 .top_1 = values[2 * steps],
                 .learning_rate = values[0],
                 .images = images[static_cast<std::size_t>(i)]});
  };
  std::int64_t done = 0;
  for (; done < steps; ++done) {
    BatchHandle batch = infeed.Next();
    if (!batch) {
      break;
    }
    const DeviceBatch on_device = unpacker.Unpack(*batch);
    images.push_back(CountedImages(*batch, step_.classes()));
    batch.reset();  // Its memory is free for the pipeline while we compute.
    step_.Begin(first_step + done);
    const auto [loss, top_1] = step_.Run(on_device, inputs.Of(done));
    results[1][done].copy_(loss);
    results[2][done].copy_(top_1);
    if (device_.is_cpu()) {
      report(results, done);
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
