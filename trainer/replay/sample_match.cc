#include "trainer/replay/sample_match.h"

#include <algorithm>
#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "records/files/open_source.h"

namespace infeed {
namespace {

// The batches of steps that are in memory at once, about.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMostSteps = 16;

// A sample of a step, and its pixels, which are the batch's.
struct StepSample {
  std::int64_t position = 0;
  SampleDescription description = {};
  std::uint64_t fingerprint = 0;
  std::span<const std::byte> pixels = {};
};

// A step's samples, of all ranks, in the order of their positions.
struct StepSamples {
  std::vector<BatchHandle> batches = {};
  std::vector<StepSample> samples = {};
};

void AddBatch(const BatchLookup& lookup, BatchHandle batch,
              StepSamples& samples) {
  std::vector<SampleDescription> descriptions = lookup.Describe(*batch);
  const std::span<const std::byte> pixels = batch->image_bytes();
  const std::size_t bytes = pixels.size() / descriptions.size();
  for (std::size_t slot = 0; slot < descriptions.size(); ++slot) {
    if (batch->positions()[slot] >= 0) {  // Others are padding.
      samples.samples.push_back(
          {.position = batch->positions()[slot],
           .description = std::move(descriptions[slot]),
           .fingerprint = batch->fingerprints()[slot],
           .pixels = pixels.subspan(slot * bytes, bytes)});
    }
  }
  samples.batches.push_back(std::move(batch));
}

// The lookups of a training's ranks, for one image size. Thread-safe.
class RankLookups {
 public:
  RankLookups(const RecordedInput& input, const InputOptions& options)
      : options_(options) {
    for (int rank = 0; rank < options.world_size; ++rank) {
      InputOptions of_rank = options;
      of_rank.rank = rank;
      lookups_.push_back(std::make_unique<BatchLookup>(input.index(), of_rank));
    }
  }

  // Whether the ranks of a step with these options are these.
  [[nodiscard]] bool Fits(const InputOptions& options) const {
    return options.world_size == options_.world_size &&
           options.preprocess.image_size == options_.preprocess.image_size;
  }

  [[nodiscard]] StepSamples At(const StepPlace& place) const {
    StepSamples samples;
    for (const std::unique_ptr<BatchLookup>& lookup : lookups_) {
      AddBatch(*lookup, lookup->At(place.epoch, place.number, place.begin),
               samples);
    }
    std::ranges::stable_sort(samples.samples, {}, &StepSample::position);
    return samples;
  }

 private:
  InputOptions options_;
  std::vector<std::unique_ptr<BatchLookup>> lookups_;
};

// One training's batches, by step.
class TrainingSteps {
 public:
  explicit TrainingSteps(const RecordedInput& input) : input_(input) {}

  // A function that makes the step's batches, in any thread.
  [[nodiscard]] std::function<StepSamples()> Maker(std::int64_t step) {
    const StepInput at = input_.At(step);
    if (lookups_ == nullptr || !lookups_->Fits(at.options)) {
      lookups_ = std::make_shared<RankLookups>(input_, at.options);
    }
    return
        [lookups = lookups_, place = at.place] { return lookups->At(place); };
  }

  [[nodiscard]] std::int64_t BytesOfStep() const {
    const InputOptions& options = input_.run().params.values.input;
    return static_cast<std::int64_t>(options.preprocess.image_size.pixels() *
                                     sizeof(std::uint32_t)) *
           options.batch_size;
  }

 private:
  const RecordedInput& input_;
  std::shared_ptr<const RankLookups> lookups_;
};

// The folders of the data may differ.
bool IsSame(const SampleDescription& a, const SampleDescription& b) {
  return a.record == b.record && a.number == b.number &&
         FileNameOf(a.shard) == FileNameOf(b.shard) &&
         a.file_name == b.file_name && a.label == b.label &&
         a.geometry == b.geometry && a.augmentations == b.augmentations;
}

// Adds a sample to a difference; a batch may have fewer.
void Set(const StepSamples& samples, std::size_t place,
         std::optional<SampleDescription>& description,
         std::uint64_t& fingerprint) {
  if (place < samples.samples.size()) {
    description = samples.samples[place].description;
    fingerprint = samples.samples[place].fingerprint;
  }
}

StepsMatch CompareStep(std::int64_t step, const StepSamples& a,
                       const StepSamples& b) {
  const std::size_t most = std::max(a.samples.size(), b.samples.size());
  StepsMatch match;
  for (std::size_t place = 0; place < most; ++place) {
    SampleDifference of = {.step = step,
                           .place = static_cast<std::int64_t>(place)};
    Set(a, place, of.a, of.fingerprint_a);
    Set(b, place, of.b, of.fingerprint_b);
    const bool is_described_alike = of.a && of.b && IsSame(*of.a, *of.b);
    of.has_other_pixels =
        is_described_alike &&
        !std::ranges::equal(a.samples[place].pixels, b.samples[place].pixels);
    if (!is_described_alike || of.has_other_pixels ||
        of.fingerprint_a != of.fingerprint_b) {
      match.difference = std::move(of);
      return match;
    }
    match.fed += of.fingerprint_a;
  }
  return match;
}

}  // namespace

StepsMatch FindSampleDifference(
    const RecordedInput& a, const RecordedInput& b, std::int64_t first,
    std::int64_t last, const std::function<void(std::int64_t step)>& on_step) {
  TrainingSteps of_a(a);
  TrainingSteps of_b(b);
  const std::int64_t bytes = of_a.BytesOfStep() + of_b.BytesOfStep();
  const std::int64_t most = std::clamp<std::int64_t>(
      std::min<std::int64_t>(std::thread::hardware_concurrency(),
                             kMostBytes / std::max<std::int64_t>(bytes, 1)),
      1, kMostSteps);
  StepsMatch all;
  // Most differences are in the first step; then more and more are made at
  // once.
  for (std::int64_t step = first, ahead = 1; step <= last;) {
    const std::int64_t end = std::min(last + 1, step + ahead);
    std::vector<std::future<StepsMatch>> matches;
    for (std::int64_t of = step; of < end; ++of) {
      matches.push_back(
          std::async(std::launch::async,
                     [of, make_a = of_a.Maker(of), make_b = of_b.Maker(of)] {
                       return CompareStep(of, make_a(), make_b());
                     }));
    }
    for (std::future<StepsMatch>& future : matches) {
      StepsMatch match = future.get();
      if (match.difference) {
        return match;
      }
      all.fed += match.fed;
      on_step(step++);
    }
    ahead = std::min(most, 2 * ahead);
  }
  return all;
}

}  // namespace infeed
