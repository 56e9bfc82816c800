#include "base/error.h"
#include "pipeline/options/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_options_test {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

auto Refuses(const char* why) {
  return Throws<UsageError>(Property(&UsageError::what, HasSubstr(why)));
}

TEST(InputOptionsTest, ParsesShuffles) {
  EXPECT_EQ(ParseChoice("shuffle", "none", kShuffles), Shuffle::kNone);
  EXPECT_EQ(ParseChoice("shuffle", "global", kShuffles), Shuffle::kGlobal);
  EXPECT_THAT([] { (void)ParseChoice("shuffle", "some", kShuffles); },
              Refuses("shuffle is \"some\": give auto, none, global, window "
                      "or torch"));
}

TEST(InputOptionsTest, ParsesPolicies) {
  EXPECT_EQ(ParseChoice("on_bad_record", "fail", kOnBadRecords),
            OnBadRecord::kFail);
  EXPECT_EQ(ParseChoice("on_bad_record", "replace", kOnBadRecords),
            OnBadRecord::kReplace);
  EXPECT_EQ(ParseChoice("on_bad_record", "skip", kOnBadRecords),
            OnBadRecord::kSkip);
  EXPECT_THAT(
      [] { (void)ParseChoice("on_bad_record", "", kOnBadRecords); },
      Refuses("on_bad_record is \"\": give auto, fail, replace or skip"));
}

TEST(InputOptionsTest, WorksTheThreadsOut) {
  EXPECT_GE(CheckedInputOptions({}).threads, 1);
  EXPECT_EQ(CheckedInputOptions({.threads = 5}).threads, 5);
}

TEST(InputOptionsTest, NamesTheFieldThatIsOutOfRange) {
  const auto check = [](const InputOptions& options) {
    return [options] { (void)CheckedInputOptions(options); };
  };
  EXPECT_THAT(check({.batch_size = 0}),
              Refuses("batch_size=0: must be at least 1"));
  EXPECT_THAT(check({.rank = 2, .world_size = 2}),
              Refuses("rank=2: must be at most 1"));
  EXPECT_THAT(check({.world_size = 0}),
              Refuses("world_size=0: must be at least 1"));
  EXPECT_THAT(check({.preprocess = {.image_size = 1 << 20}}),
              Refuses("image_size=1048576: must be at most 16384"));
  EXPECT_THAT(check({.threads = -1}),
              Refuses("threads=-1: must be at least 0"));
  EXPECT_THAT(check({.max_records = -1}),
              Refuses("max_records=-1: must be at least 0"));
  EXPECT_THAT(check({.batches_in_pool = 1}),
              Refuses("batches_in_pool=1: must be at least 2"));
  EXPECT_THAT(check({.max_lent = -1}),
              Refuses("max_lent=-1: must be at least 0"));
  EXPECT_THAT(check({.batches_in_pool = 4, .max_lent = 4}),
              Refuses("max_lent=4: must be at most 3, as batches_in_pool=4"));
  EXPECT_THAT(check({.preprocess = {.limits = {.max_pixels = 0}}}),
              Refuses("max_pixels=0: must be at least 1"));
}

TEST(InputOptionsTest, RepeatsImagesInAnOrderShuffledAsAWholeOnly) {
  const auto check = [](const InputOptions& options) {
    return [options] { (void)CheckedInputOptions(options); };
  };
  EXPECT_THAT(check({.repeat_augment = 0}),
              Refuses("repeat_augment=0: must be at least 1"));
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kWindow}) {
    EXPECT_THAT(check({.shuffle = shuffle, .repeat_augment = 3}),
                Refuses("repeat_augment=3 and shuffle="));
    EXPECT_NO_THROW(check({.shuffle = shuffle, .repeat_augment = 1})());
  }
  EXPECT_NO_THROW(check({.shuffle = Shuffle::kTorch, .repeat_augment = 3})());
  // Nothing is random in an evaluation.
  EXPECT_EQ(
      CheckedInputOptions(
          {.training = false, .shuffle = Shuffle::kNone, .repeat_augment = 3})
          .repeat_augment,
      1);
}

TEST(InputOptionsTest, RefusesAnEvaluationThatWouldLeaveOutImages) {
  const auto check = [](bool training) {
    return [training] {
      (void)CheckedInputOptions(
          {.last_batch = LastBatch::kCarry, .training = training});
    };
  };
  EXPECT_THAT(check(false), Refuses("last_batch=carry and training=false"));
  EXPECT_NO_THROW(check(true)());
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

TEST(InputOptionsTest, RefusesALayoutWithoutImages) {
  EXPECT_EQ(CheckedInputOptions({.layout = BatchContent::kRgb}).layout,
            BatchContent::kRgb);
  EXPECT_THAT(
      [] { (void)CheckedInputOptions({.layout = BatchContent::kChoices}); },
      Refuses("layout: must be words or rgb"));
}

TEST(InputOptionsTest, RefusesImpossibleFields) {
  const auto check = [](const InputOptions& options) {
    return [options] { (void)CheckedInputOptions(options); };
  };
  EXPECT_THAT(check({.fields = {{.key = ""}}}),
              Refuses("fields: each needs a key and one of the kinds bytes, "
                      "float and int64"));
  EXPECT_THAT(check({.fields = {{.key = "a", .kind = FeatureKind::kNone}}}),
              Refuses("fields: each needs a key"));
  EXPECT_THAT(check({.fields = {{.key = "a"}, {.key = "b"}, {.key = "a"}}}),
              Refuses("fields: 'a' is given twice"));
  EXPECT_THAT(check({.max_field_bytes = 0}),
              Refuses("max_field_bytes=0: must be from 1 to 1073741824"));
}

TEST(InputOptionsTest, RefusesABatchThatRanksCannotShare) {
  EXPECT_THAT(
      [] { (void)CheckedInputOptions({.batch_size = 10, .world_size = 4}); },
      Refuses("batch_size 10 is not a multiple of world_size 4: every rank"));
  // The crops of an image are not shared either.
  EXPECT_THAT(
      [] {
        (void)CheckedInputOptions({.batch_size = 20,
                                   .world_size = 4,
                                   .preprocess = {.crop = {.eval_crops = 10}},
                                   .training = false});
      },
      Refuses("batch_size 20 is not a multiple of world_size 4 times "
              "eval_crops 10"));
}

}  // namespace input_options_test
}  // namespace infeed
