#include "trainer/replay/step_place.h"

#include <string>

#include "base/count_text.h"
#include "base/error.h"
#include "base/rounding.h"

namespace infeed {

StepPlace PlaceOfStep(std::int64_t step, const EpochBatches& batches,
                      const KnownPlace& known) {
  const std::int64_t size = batches.batch_size;
  // An epoch's samples as its batches count them: where each epoch begins with
  // a batch, a partial last one counts as full.
  const std::int64_t epoch_samples =
      batches.carries ? batches.samples : batches.Within(1) * size;
  if (epoch_samples == 0) {
    throw DataError("an epoch of the data has no batch of " +
                    CountText(size, "image"));
  }
  const std::int64_t known_samples =
      RoundUp(known.stream.position, batches.carries ? std::int64_t{1} : size);
  const std::int64_t samples = known.stream.epoch * epoch_samples +
                               known_samples + (step - 1 - known.step) * size;
  if (samples < 0) {
    throw DataError(
        "step " + std::to_string(step) +
        " is before the stream's beginning: " + "the recorded place of step " +
        std::to_string(known.step) + " is another stream's");
  }
  const std::int64_t epoch = samples / epoch_samples;
  const std::int64_t position = samples % epoch_samples;
  return {
      .step = step,
      .epoch = static_cast<std::uint32_t>(epoch),
      .number = position / size,
      .begin = {.epoch = static_cast<std::uint32_t>(epoch),
                .position = position,
                .past_epochs = static_cast<std::uint32_t>(
                    known.stream.past_epochs + epoch - known.stream.epoch)}};
}

}  // namespace infeed
