#include "trainer/loop/passes.h"

#include <ATen/ATen.h>

#include "trainer/loop/batch.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/train.h"

namespace infeed {
namespace {

class EagerPasses final : public DevicePasses {
 public:
  explicit EagerPasses(const DeviceModel& model)
      : model_(model),
        unpacker_(model.device, model.options.normalization),
        training_(model.step) {}

  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) override {
    return unpacker_.Hold(shape);
  }

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override {
    return training_.Run(first_step, steps, unpacker_, infeed, outfeed);
  }

  [[nodiscard]] EvalSums Evaluate(Infeed& infeed) override {
    EvalCounter counter(model_.device, static_cast<int>(model_.step.classes()),
                        model_.label_smoothing);
    while (BatchHandle batch = infeed.Next()) {
      const DeviceBatch on_device = unpacker_.Unpack(*batch);
      batch.reset();
      counter.Add(model_.forward(on_device.images), on_device);
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
  TrainLoop training_;
};

}  // namespace

std::unique_ptr<DevicePasses> MakeEagerPasses(const DeviceModel& model) {
  return std::make_unique<EagerPasses>(model);
}

}  // namespace infeed
