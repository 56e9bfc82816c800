#include "trainer/replay/recorded_input.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/sample_order.h"
#include "records/files/shard_set.h"
#include "trainer/feed/run_input.h"
#include "trainer/model/image_size_schedule.h"
#include "trainer/params/stream_identity.h"
#include "trainer/replay/shard_identities.h"

namespace infeed {
namespace {

DataSet OpenTrainingData(const RecordedRun& run, const std::string& data_dir,
                         bool is_given) {
  RequireRecords(run);
  if (data_dir.empty()) {
    throw UsageError(fmt::format(
        "data_dir: the run in {} has not recorded where its data was; give it",
        run.model_dir));
  }
  if (IsFakeData(data_dir)) {
    throw UsageError(
        fmt::format("data_dir={}: fake data is not the data of the run in {}",
                    data_dir, run.model_dir));
  }
  const TrainParams& params = run.params.values;
  const auto ignore = [](const ShardSetFaults&) {};
  try {
    return DataSet(data_dir,
                   {.counts_labels = false,
                    .label_offset = params.input.label_offset,
                    .keys = {params.input.image_key, params.input.label_key},
                    .selection = params.selection,
                    .on_train_faults = params.allow_missing_shards
                                           ? OnShardSetFaults(ignore)
                                           : OnShardSetFaults(RefuseFaults),
                    .on_eval_faults = ignore});
  } catch (const IoError& error) {
    if (is_given) {
      throw;
    }
    throw IoError(fmt::format("{}: the run's data was there; give data_dir",
                              error.what()));
  }
}

}  // namespace

RecordedInput::RecordedInput(RecordedRun run, const std::string& data_dir)
    : run_(std::move(run)),
      data_dir_(data_dir.empty() ? RecordedDataDir(run_) : data_dir),
      data_(OpenTrainingData(run_, data_dir_, !data_dir.empty())) {
  if (!data_.has_train()) {
    throw UsageError("data_dir=" + data_dir_ +
                     ": no data of the split train in it");
  }
  TrainParams& params = run_.params.values;
  params.input.selection = data_.selection();
  params.input.workers.clear();  // Batches are the same without them.
}

void RecordedInput::RequireSameData(const StepsOfStart& steps) const {
  const std::string theirs =
      TrainIdentity(OriginValue(steps.start.origin, "data_identity"));
  if (theirs.empty() || theirs == index().identity()) {
    return;
  }
  const std::string shards = OtherShardsText(
      index(), OriginValue(steps.start.origin, kShardIdentitiesKey));
  throw UsageError(fmt::format(
      "data_dir={}: it is not the data of the run in {}: {}",
      WithoutUrlSecrets(data_dir_), run_.model_dir,
      shards.empty() ? fmt::format("data_identity is {}, the run had {}",
                                   index().identity(), theirs)
                     : shards));
}

void RecordedInput::RequireSameStream(std::int64_t step,
                                      const StepsOfStart& steps) const {
  const TrainParams& params = run_.params.values;
  const auto refuse = [&](const std::string& difference) {
    throw UsageError(
        fmt::format("step={}: it was made with other parameters (mode replay "
                    "takes them as flags): {}",
                    step, difference));
  };
  if (steps.start.batch_size > 0 &&
      steps.start.batch_size != params.input.batch_size) {
    refuse(fmt::format("train_batch_size is {}, the step had {}",
                       params.input.batch_size, steps.start.batch_size));
  }
  const RunIdentity here =
      MakeStreamIdentity(params, index(), steps.world_size);
  for (const Checkpoint& checkpoint : run_.checkpoints) {
    if (checkpoint.step <= steps.start.first_step ||
        checkpoint.step > steps.last_step) {
      continue;
    }
    if (const std::string difference =
            DescribeDifferences(here, checkpoint.identity);
        !difference.empty()) {
      refuse(difference);
    }
  }
}

StepInput RecordedInput::At(std::int64_t step) const {
  const StepsOfStart steps = FindStart(run_, step);
  RequireSameData(steps);
  RequireSameStream(step, steps);
  const TrainParams& params = run_.params.values;
  StepInput input = {
      .options = PartOf(params.input, {.world_size = steps.world_size})};
  const InputOptions checked = CheckedInputOptions(input.options);
  const SampleOrder order(ShardSizes(index(), checked.max_records), checked);
  input.place = PlaceOfStep(step, EpochBatchesOf(order.places(), checked),
                            FindKnownPlace(run_, steps));
  input.options.preprocess.image_size =
      ImageSizeSchedule(params.image_size_schedule,
                        params.input.preprocess.image_size)
          .SizeAt(input.place.epoch);
  return input;
}

}  // namespace infeed
