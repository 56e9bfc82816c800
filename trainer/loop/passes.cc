#include "trainer/loop/passes.h"

#include <cmath>

#include <ATen/ATen.h>

#include "trainer/loop/eval.h"

namespace infeed {
namespace {

class EagerPasses final : public DevicePasses {
 public:
  explicit EagerPasses(const DeviceModel& model)
      : model_(model), unpacker_(model.device, model.options.normalization) {}

  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) override {
    return unpacker_.Hold(shape);
  }

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override {
    return TrainEagerly(model_.step, first_step, steps, unpacker_, infeed,
                        outfeed);
  }

  [[nodiscard]] EvalSums Evaluate(Infeed& infeed) override {
    EvalCounter counter(model_.device, static_cast<int>(model_.step.classes()),
                        model_.label_smoothing);
    while (BatchHandle batch = infeed.Next()) {
      const DeviceBatch on_device = unpacker_.Unpack(*batch);
      batch.reset();
      const EvalViews& views = model_.options.eval_views;
      counter.Add(MeanLogits(model_.forward, on_device.images, views),
                  LabelsOfImages(on_device, views.crops));
    }
    return counter.Read();
  }

  [[nodiscard]] std::string Describe() const override { return ""; }
  [[nodiscard]] BatchMemory batch_memory() const override { return {}; }
  [[nodiscard]] std::int64_t host_syncs() const override { return 0; }
  [[nodiscard]] int warm_up_steps() const override { return 1; }

 private:
  DeviceModel model_;
  BatchUnpacker unpacker_;
};

}  // namespace

std::int64_t TrainEagerly(TrainStep& step, std::int64_t first_step,
                          std::int64_t steps, const BatchUnpacker& unpacker,
                          Infeed& infeed, Outfeed& outfeed) {
  const StepInputs inputs = step.Upload(first_step, steps, infeed.image_size());
  std::int64_t done = 0;
  for (bool is_ending = false; done < steps && !is_ending; ++done) {
    BatchHandle batch = infeed.Next();
    if (!batch) {
      break;
    }
    const DeviceBatch on_device = unpacker.Unpack(*batch);
    batch.reset();  // The pipeline refills it while the step computes.
    step.Begin(first_step + done);
    const StepResults results =
        step.Run(on_device, inputs.Of(done), infeed.end_requested());
    const float loss = *results.loss.data_ptr<float>();
    StepResult result = {.step = first_step + done + 1,
                         .loss = loss,
                         .top_1 = *results.top_1.data_ptr<float>(),
                         .learning_rate = *inputs.rates[done].data_ptr<float>(),
                         .images = static_cast<std::int64_t>(
                             *results.counted.data_ptr<float>())};
    if (results.loss_scale.defined()) {
      result.loss_scale = *results.loss_scale.data_ptr<float>();
      result.skipped_steps = *results.skipped_steps.data_ptr<std::int64_t>();
    }
    outfeed.Put(result);
    is_ending = !std::isfinite(loss) || (results.votes.defined() &&
                                         *results.votes.data_ptr<float>() > 0);
  }
  return done;
}

std::unique_ptr<DevicePasses> MakeEagerPasses(const DeviceModel& model) {
  return std::make_unique<EagerPasses>(model);
}

}  // namespace infeed
