#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "pipeline/options/options.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::input_options_test {

TEST(InputOptionsTest, ParsesChoices) {
  EXPECT_EQ(ParseChoice("shuffle", "none", kShuffles), Shuffle::kNone);
  EXPECT_EQ(ParseChoice("on_bad_record", "skip", kOnBadRecords),
            OnBadRecord::kSkip);
  EXPECT_THAT(MessageOf<UsageError>(
                  [] { (void)ParseChoice("shuffle", "some", kShuffles); }),
              HasSubstr("shuffle is \"some\": give auto, none, global, window "
                        "or torch"));
  EXPECT_THAT(MessageOf<UsageError>([] {
                (void)ParseChoice("on_bad_record", "", kOnBadRecords);
              }),
              HasSubstr("on_bad_record is \"\": give auto, fail, replace or "
                        "skip"));
}

TEST(InputOptionsTest, WorksTheThreadsOut) {
  EXPECT_GE(CheckedInputOptions({}).threads, 1);
  EXPECT_EQ(CheckedInputOptions({.threads = 5}).threads, 5);
}

std::string Refusal(const InputOptions& options) {
  return MessageOf<UsageError>([&] { (void)CheckedInputOptions(options); });
}

TEST(InputOptionsTest, NamesWhatIsOutOfRangeOrDoesNotGoTogether) {
  const std::pair<InputOptions, const char*> rows[] = {
      {{.batch_size = 0}, "batch_size=0: must be at least 1"},
      {{.rank = 2, .world_size = 2}, "rank=2: must be at most 1"},
      {{.world_size = 0}, "world_size=0: must be at least 1"},
      {{.preprocess = {.image_size = 1 << 20}},
       "image_size=1048576: must be at most 16384"},
      {{.threads = -1}, "threads=-1: must be at least 0"},
      {{.max_records = -1}, "max_records=-1: must be at least 0"},
      {{.batches_in_pool = 1}, "batches_in_pool=1: must be at least 2"},
      {{.max_lent = -1}, "max_lent=-1: must be at least 0"},
      {{.graph = GraphKind::kBasic, .workers = "a:9410"},
       "workers and graph=basic: "},
      {{.workers_in_flight = -1}, "workers_in_flight=-1: must be at least 0"},
      {{.workers_check = -1}, "workers_check=-1: must be at least 0"},
      {{.batches_in_pool = 4, .max_lent = 4},
       "max_lent=4: must be at most 3, as batches_in_pool=4"},
      {{.preprocess = {.limits = {.max_pixels = 0}}},
       "max_pixels=0: must be at least 1"},
      {{.batch_size = 10, .world_size = 4},
       "batch_size 10 is not a multiple of world_size 4: every rank"},
      // The crops of an image are not shared either.
      {{.batch_size = 20,
        .world_size = 4,
        .preprocess = {.crop = {.eval_crops = 10}},
        .training = false},
       "batch_size 20 is not a multiple of world_size 4 times eval_crops 10"},
      {{.layout = BatchContent::kChoices},
       "layout: must be words, rgb or none"},
      {{.label_offset = 2}, "label_offset=2: must be 0 or 1"},
      {{.label_offset = -1}, "label_offset=-1: must be 0 or 1"},
      {{.batch_memory = {.pin = [](std::span<std::byte>) {}}},
       "batch_memory: pin and unpin must both be set"},
      {{.last_batch = LastBatch::kCarry, .training = false},
       "last_batch=carry and training=false"},
      {{.fields = {{.key = ""}}},
       "fields: each needs a key and one of the kinds bytes, float and int64"},
      {{.fields = {{.key = "a", .kind = FeatureKind::kNone}}},
       "fields: each needs a key"},
      {{.fields = {{.key = "a"}, {.key = "b"}, {.key = "a"}}},
       "fields: 'a': the key is given twice"},
      {{.max_field_bytes = 0}, "max_field_bytes=0: must be at least 1"},
      {{.label_key = ""}, "label_key is empty: give a key of the records"},
      {{.repeat_augment = 0}, "repeat_augment=0: must be at least 1"},
      {{.shuffle = Shuffle::kNone, .repeat_augment = 3},
       "repeat_augment=3 and shuffle="},
      {{.shuffle = Shuffle::kWindow, .repeat_augment = 3},
       "repeat_augment=3 and shuffle="}};
  for (const auto& [options, message] : rows) {
    EXPECT_THAT(Refusal(options), HasSubstr(message));
  }
  for (const InputOptions& options :
       {InputOptions{.last_batch = LastBatch::kCarry},
        {.shuffle = Shuffle::kNone, .repeat_augment = 1},
        {.shuffle = Shuffle::kTorch, .repeat_augment = 3},
        {.layout = BatchContent::kRgb}}) {
    EXPECT_EQ(Refusal(options), "");
  }
  // Nothing is random in an evaluation.
  EXPECT_EQ(
      CheckedInputOptions(
          {.training = false, .shuffle = Shuffle::kNone, .repeat_augment = 3})
          .repeat_augment,
      1);
}

TEST(InputOptionsTest, RefusesWhatHasNoEffect) {
  InputOptions options;
  options.window_shards = 3;
  EXPECT_EQ(Refusal(options), "window_shards=3: needs shuffle=window");
  options.shuffle = Shuffle::kWindow;
  EXPECT_EQ(Refusal(options), "");
  options.preprocess.augment.layers = 5;
  options.preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
  EXPECT_EQ(Refusal(options),
            "augment_layers=5: needs augment=randaugment, "
            "torchvision_randaugment or timm_randaugment");
  options.preprocess.augment.policy = AugmentPolicy::kRandAugment;
  options.preprocess.augment.jitter_probability = 0.5F;
  EXPECT_EQ(Refusal(options),
            "jitter_probability=0.5: needs brightness, contrast, saturation "
            "or hue");
  options.preprocess.augment.contrast = 0.5F;
  EXPECT_EQ(Refusal(options), "");
}

TEST(InputOptionsTest, SetsWhatFollowsFromTheMode) {
  const InputOptions training = CheckedInputOptions({});
  EXPECT_EQ(training.shuffle, Shuffle::kGlobal);
  EXPECT_EQ(training.on_bad_record, OnBadRecord::kReplace);
  EXPECT_EQ(training.last_batch, LastBatch::kDrop);
  const InputOptions evaluation = CheckedInputOptions({.training = false});
  EXPECT_EQ(evaluation.shuffle, Shuffle::kNone);
  EXPECT_EQ(evaluation.on_bad_record, OnBadRecord::kSkip);
  EXPECT_EQ(evaluation.last_batch, LastBatch::kPad);
  EXPECT_EQ(
      CheckedInputOptions({.training = false, .shuffle = Shuffle::kGlobal})
          .shuffle,
      Shuffle::kGlobal);
}

}  // namespace infeed::input_options_test
