#include "trainer/replay/replayed_step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/store/record_store.h"
#include "trainer/model/mix_plan.h"
#include "trainer/replay/record_picture.h"

namespace infeed {
namespace {

constexpr std::size_t kMostShown = 256;

// The greater, the worse.
double Badness(const ReplayedImage& image) {
  if (!image.result || image.sample.label < 0) {
    return -std::numeric_limits<double>::infinity();
  }
  return std::isnan(image.result->loss)
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(image.result->loss);
}

void AddRecordPictures(const RecordIndex& index, const InputOptions& options,
                       ReplayedStep& step) {
  const std::vector<std::size_t> shown = ShownImages(step);
  std::vector<std::int64_t> records;
  records.reserve(shown.size());
  for (const std::size_t at : shown) {
    records.push_back(step.images[at].sample.record);
  }
  const RecordStore store(index, {.image_key = options.image_key});
  store.ReadMany(
      records,
      [&](std::size_t place, std::span<const std::byte> payload) {
        ReplayedImage& image = step.images[shown[place]];
        image.record =
            RecordPicture(payload, options.image_key, image.sample.geometry,
                          options.preprocess.image_size);
      },
      [](std::size_t /*place*/, const DataError& /*error*/) {});
}

// How the step mixed the images of this rank on its device: each with its
// neighbour, if both count.
void AddMix(const Batch& batch, const TrainParams& params, std::int64_t step,
            int first_slot, std::span<ReplayedImage> images) {
  const MixOptions options = {.mixup_alpha = params.optimizer.mixup_alpha,
                              .cutmix_alpha = params.optimizer.cutmix_alpha,
                              .seed = params.input.seed};
  if (!options.any()) {
    return;
  }
  const Mix mix = DrawMix(step - 1, batch.image_size(), options);
  for (ReplayedImage& image : images) {
    const int slot = image.slot - first_slot;
    const int partner = slot ^ 1;
    if (partner < batch.size() &&
        batch.weights()[static_cast<std::size_t>(slot)] != 0 &&
        batch.weights()[static_cast<std::size_t>(partner)] != 0) {
      image.partner = first_slot + partner;
      image.share = mix.label_share;
    }
  }
}

// Adds one rank's share of the step.
void AddShare(const RecordedInput& input, InputOptions options, int rank,
              const BatchJudge& judge, ReplayedStep& step) {
  options.rank = rank;
  BatchLookup lookup(input.index(), options);
  const BatchHandle batch =
      lookup.At(step.place.epoch, step.place.number, step.place.begin);
  std::vector<SampleDescription> samples = lookup.Describe(*batch);
  const int first_slot = rank * batch->size();
  const std::size_t before = step.images.size();
  for (int slot = 0; slot < batch->size(); ++slot) {
    SampleDescription& sample = samples[static_cast<std::size_t>(slot)];
    if (sample.record >= 0) {
      step.images.push_back({.slot = first_slot + slot,
                             .rank = rank,
                             .sample = std::move(sample)});
    }
  }
  const std::span images = std::span(step.images).subspan(before);
  AddMix(*batch, input.run().params.values, step.place.step, first_slot,
         images);
  if (judge) {
    const std::vector<ImageResult> results =
        judge(BatchHandle(batch->Clone().release()));
    for (ReplayedImage& image : images) {
      image.result = results[static_cast<std::size_t>(image.slot - first_slot)];
    }
  }
  for (const std::size_t at : ShownImages(step)) {
    if (at >= before) {
      ReplayedImage& image = step.images[at];
      image.seen = PictureForWeb(*batch, image.slot - first_slot);
    }
  }
}

}  // namespace

std::vector<std::size_t> ShownImages(const ReplayedStep& step) {
  std::vector<std::size_t> shown(step.images.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::ranges::stable_sort(shown, std::ranges::greater{}, [&](std::size_t at) {
    return Badness(step.images[at]);
  });
  shown.resize(std::min(shown.size(), kMostShown));
  return shown;
}

ReplayedStep ReplayStep(const RecordedInput& input, std::int64_t step,
                        std::optional<int> rank, const BatchJudge& judge) {
  const StepInput at = input.At(step);
  const int ranks = at.options.world_size;
  if (rank && (*rank < 0 || *rank >= ranks)) {
    throw UsageError(fmt::format(
        "rank={}: step {} was made by {}, numbered from 0", *rank, step,
        ranks == 1 ? "one rank" : fmt::format("{} ranks", ranks)));
  }
  ReplayedStep replayed = {.place = at.place,
                           .image_size = at.options.preprocess.image_size,
                           .world_size = ranks};
  for (int i = rank.value_or(0); i < (rank ? *rank + 1 : ranks); ++i) {
    AddShare(input, at.options, i, judge, replayed);
  }
  AddRecordPictures(input.index(), at.options, replayed);
  return replayed;
}

}  // namespace infeed
