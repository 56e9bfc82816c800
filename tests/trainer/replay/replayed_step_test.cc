// The batches of recorded runs, made again.

#include "trainer/replay/replayed_step.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"
#include "trainer/feed/run_input.h"
#include "trainer/feed/sized_input.h"
#include "trainer/params/stream_identity.h"
#include "trainer/replay/shard_identities.h"

namespace infeed::replayed_step_test {

constexpr int kSteps = 14;

// Twenty-two records in two shards.
const TestShards& Shards() {
  static const TestShards kShards(TestPayloads(22));
  return kShards;
}

std::string RanksText(int ranks) {
  return RankPlace{.world_size = ranks, .local_world_size = ranks}.Describe();
}

RecordedRun RunWith(const InputOptions& input, int ranks = 1) {
  RecordedRun run = {.model_dir = "M", .steps = kSteps};
  run.params.values.input = input;
  run.params.values.input.label_offset = 1;
  run.starts = {
      {.last_step = kSteps,
       .origin = {{"data_dir", Shards().folder()},
                  {"data_identity", "train " + Shards().index().identity() +
                                        ", validation 0123"},
                  {std::string(kShardIdentitiesKey),
                   ShardIdentities(Shards().index())},
                  {"ranks", RanksText(ranks)}},
       .batch_size = input.batch_size}};
  return run;
}

// The one of step 7.
Checkpoint CheckpointAt(const StreamPosition& place,
                        const RunIdentity& identity = {}) {
  Checkpoint checkpoint;
  checkpoint.step = 7;
  checkpoint.stream = place;
  checkpoint.identity = identity;
  return checkpoint;
}

InputOptions With(LastBatch last_batch, int batch_size = 4,
                  RankShare share = RankShare::kContiguous) {
  InputOptions options = SmallTraining();
  options.last_batch = last_batch;
  options.batch_size = batch_size;
  options.rank_share = share;
  return options;
}

// The batches of one rank's training, as Training takes them.
std::vector<BatchCopy> Trained(const RecordedRun& run, int rank, int ranks) {
  const TrainParams& params = run.params.values;
  InputOptions input =
      PartOf(params.input, {.rank = rank, .world_size = ranks});
  SizedInput stream(&Shards().index(), input,
                    ImageSizeSchedule(params.image_size_schedule,
                                      params.input.preprocess.image_size));
  std::vector<BatchCopy> batches;
  for (int step = 0; step < kSteps; ++step) {
    batches.push_back(CopyOf(*stream.Next()));
  }
  return batches;
}

// The shares of a step's batch that a replay makes.
std::vector<BatchCopy> Replayed(const RecordedInput& input, std::int64_t step,
                                std::optional<int> rank = {}) {
  std::vector<BatchCopy> shares;
  (void)ReplayStep(input, step, rank, [&](const BatchHandle& batch) {
    shares.push_back(CopyOf(*batch));
    return std::vector<ImageResult>(static_cast<std::size_t>(batch->size()));
  });
  return shares;
}

void ExpectEveryStepAsTrained(const RecordedRun& run, int ranks = 1) {
  const RecordedInput input(run);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<BatchCopy> trained = Trained(run, rank, ranks);
    for (int step = 1; step <= kSteps; ++step) {
      const std::vector<BatchCopy> shares = Replayed(input, step);
      ASSERT_THAT(shares, SizeIs(ranks));
      EXPECT_EQ(shares[static_cast<std::size_t>(rank)],
                trained[static_cast<std::size_t>(step - 1)])
          << "rank " << rank << ", step " << step;
    }
  }
}

TEST(ReplayedStepTest, HasTheBatchesOfTheTraining) {
  for (const LastBatch last :
       {LastBatch::kDrop, LastBatch::kPad, LastBatch::kRepeat}) {
    ExpectEveryStepAsTrained(RunWith(With(last)));
  }
  InputOptions repeated = With(LastBatch::kDrop);
  repeated.repeat_augment = 2;
  ExpectEveryStepAsTrained(RunWith(repeated));
}

TEST(ReplayedStepTest, HasThemWhereBatchesGoOnInTheNextEpoch) {
  ExpectEveryStepAsTrained(RunWith(With(LastBatch::kCarry)));
}

TEST(ReplayedStepTest, HasTheImageSizeOfTheStepsEpoch) {
  RecordedRun run = RunWith(With(LastBatch::kCarry));
  run.params.values.image_size_schedule = "1:24x17,2:8";
  ExpectEveryStepAsTrained(run);
}

TEST(ReplayedStepTest, HasTheSharesOfFourRanksOnOneMachine) {
  ExpectEveryStepAsTrained(RunWith(With(LastBatch::kCarry, 8), 4), 4);
  ExpectEveryStepAsTrained(
      RunWith(With(LastBatch::kDrop, 8, RankShare::kStrided), 4), 4);
}

TEST(ReplayedStepTest, HasThemAlsoAfterAResumeWithOtherRanks) {
  RecordedRun run = RunWith(With(LastBatch::kCarry, 8));
  HistoryRun second = run.starts[0];
  second.first_step = 5;
  second.origin.back().second = RanksText(4);
  run.starts.push_back(second);
  const RecordedInput input(run);
  const std::vector<BatchCopy> alone = Trained(run, 0, 1);
  EXPECT_EQ(Replayed(input, 5).front(), alone[4]);
  for (const int rank : {0, 3}) {
    EXPECT_EQ(Replayed(input, 6)[static_cast<std::size_t>(rank)],
              Trained(run, rank, 4)[5]);
  }
}

TEST(ReplayedStepTest, FollowsACheckpointsPlace) {
  RecordedRun run = RunWith(With(LastBatch::kDrop));
  run.checkpoints = {CheckpointAt({.epoch = 2, .position = 8})};
  const ReplayedStep step = ReplayStep(RecordedInput(run), 8);
  EXPECT_EQ(step.place.epoch, 2U);
  EXPECT_EQ(step.place.number, 2);
}

TEST(ReplayedStepTest, NamesEachImageAndItsSlot) {
  const RecordedInput input(RunWith(With(LastBatch::kDrop, 8), 4));
  const ReplayedStep all = ReplayStep(input, 2);
  ASSERT_THAT(all.images, SizeIs(8));
  EXPECT_EQ(all.world_size, 4);
  const ReplayedStep of_rank = ReplayStep(input, 2, 3);
  ASSERT_THAT(of_rank.images, SizeIs(2));
  for (const std::size_t i : {0, 1}) {
    const ReplayedImage& image = of_rank.images[i];
    EXPECT_EQ(image.slot, static_cast<int>(6 + i));
    EXPECT_EQ(image.rank, 3);
    EXPECT_EQ(image.sample.record, all.images[6 + i].sample.record);
    EXPECT_EQ(image.sample.label, image.sample.record);  // As TestPayload().
    EXPECT_EQ(image.sample.file_name, "image.JPEG");
    EXPECT_EQ(image.seen.type, "image/png");
    EXPECT_EQ(image.record.type, "image/jpeg");
    EXPECT_EQ(image.partner, -1);
    EXPECT_FALSE(image.result);
  }
}

// Of 300 images the page shows 256.
TEST(ReplayedStepTest, MakesOnlyThePicturesThatAreShown) {
  constexpr std::size_t kNotShown = 44;
  const TestShards data(TestPayloads(300));
  RecordedRun run = RunWith(With(LastBatch::kDrop, 300));
  run.starts[0].origin.clear();  // It was of other data.
  const RecordedInput input(run, data.folder());
  const ReplayedStep in_order = ReplayStep(input, 1);
  const ReplayedStep worst_first =
      ReplayStep(input, 1, {}, [](const BatchHandle& batch) {
        std::vector<ImageResult> results;
        for (int slot = 0; slot < batch->size(); ++slot) {
          results.push_back({.loss = static_cast<float>(slot)});
        }
        return results;
      });
  ASSERT_THAT(in_order.images, SizeIs(300));
  ASSERT_THAT(worst_first.images, SizeIs(300));
  EXPECT_EQ(ShownImages(worst_first).front(), 299U);
  for (std::size_t i = 0; i < 300; ++i) {
    for (const auto& [step, is_shown] :
         {std::pair(&in_order, i < 300 - kNotShown),
          {&worst_first, i >= kNotShown}}) {
      EXPECT_EQ(step->images[i].seen.type, is_shown ? "image/png" : "") << i;
      EXPECT_EQ(step->images[i].record.type, is_shown ? "image/jpeg" : "") << i;
    }
  }
}

TEST(ReplayedStepTest, SaysWithWhichSlotTheStepMixedAnImage) {
  RecordedRun run = RunWith(With(LastBatch::kPad, 4));
  run.params.values.optimizer.mixup_alpha = 1;
  const RecordedInput input(run);
  const ReplayedStep step = ReplayStep(input, 1);
  ASSERT_THAT(step.images, SizeIs(4));
  for (const ReplayedImage& image : step.images) {
    EXPECT_EQ(image.partner, image.slot ^ 1);
    EXPECT_EQ(image.share, step.images[0].share);
  }
  EXPECT_GT(step.images[0].share, 0);
  EXPECT_LT(step.images[0].share, 1);
  EXPECT_NE(ReplayStep(input, 2).images[0].share, step.images[0].share);
}

TEST(ReplayedStepTest, RefusesAStepOrARankThatTheRunHasNot) {
  const RecordedInput input(RunWith(With(LastBatch::kDrop, 8), 4));
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)ReplayStep(input, 15); }),
              HasSubstr("step=15: the run in M has 14 steps"));
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)ReplayStep(input, 1, 4); }),
              HasSubstr("rank=4: step 1 was made by 4 ranks"));
}

TEST(RecordedInputTest, RefusesOtherDataByTheShard) {
  std::vector<std::string> payloads = TestPayloads(22);
  payloads[15] += std::string(2, '\0');
  const TestShards others(payloads);
  const RecordedInput input(RunWith(With(LastBatch::kDrop)), others.folder());
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)input.At(1); }),
              AllOf(HasSubstr("data_dir=" + others.folder() +
                              ": it is not the data of the run in M: "),
                    HasSubstr("the shard train-00001-of-00002")));
}

TEST(RecordedInputTest, RefusesStepsOfOtherParameters) {
  RecordedRun run = RunWith(With(LastBatch::kDrop));
  const RunIdentity theirs =
      MakeStreamIdentity(run.params.values, Shards().index(), 1);
  run.checkpoints = {CheckpointAt({.epoch = 1, .position = 8}, theirs)};
  EXPECT_NO_THROW((void)RecordedInput(run).At(1));
  run.params.values.input.seed += 1;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)RecordedInput(run).At(1); }),
      HasSubstr("step=1: it was made with other parameters (mode replay takes "
                "them as flags): seed is 8, the checkpoint has 7"));
  run.checkpoints.clear();
  run.starts[0].batch_size = 64;
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)RecordedInput(run).At(1); }),
              HasSubstr("train_batch_size is 4, the step had 64"));
}

TEST(RecordedInputTest, NamesDataThatIsNotThereOrWasMadeUp) {
  RecordedRun run = RunWith(With(LastBatch::kDrop));
  run.starts[0].origin[0].second = "/nowhere/shards";
  EXPECT_THAT(MessageOf<IoError>([&] { (void)RecordedInput(run); }),
              AllOf(HasSubstr("/nowhere/shards"), HasSubstr("give data_dir")));
  EXPECT_NO_THROW((void)RecordedInput(run, Shards().folder()));
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)RecordedInput(run, "null"); }),
              HasSubstr("data_dir=null: fake data is not the data"));
  run.starts[0].origin[0].second = "null";
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)RecordedInput(run); }),
              HasSubstr("was trained on fake data"));
}

}  // namespace infeed::replayed_step_test
