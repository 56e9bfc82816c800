#include "tools/input/input_flags.h"

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/cli/flags.h"

namespace infeed {
namespace {

// The options of a command line with these arguments.
InputOptions Resolved(std::vector<std::string> arguments) {
  CLI::App app("A tool.");
  InputOptions options;
  AddStreamFlags(app, options);
  AddPerformanceFlags(app, options);
  arguments.insert(arguments.begin(), "bin/tool");
  ArgumentVector argv(std::move(arguments));
  EXPECT_TRUE(ParseFlags(app, argv.argc(), argv.argv()));
  return options;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return MessageOf<UsageError>([&] { (void)Resolved(arguments); });
}

TEST(InputFlagsTest, TakeEachValueThatCompletionOffers) {
  CLI::App app("A tool.");
  InputOptions options;
  AddStreamFlags(app, options);
  AddPerformanceFlags(app, options);
  int values = 0;
  for (const CLI::Option* const option : app.get_options()) {
    const std::string flag = option->get_name();
    for (const std::string& word : ChoicesOf(*option)) {
      EXPECT_NO_THROW((void)Resolved({flag, word})) << flag << word;
      ++values;
    }
  }
  EXPECT_GT(values, 20);
}

TEST(InputFlagsTest, FlagsHaveTheOptionsDefaults) {
  const InputOptions made = Resolved({});
  const InputOptions own;
  EXPECT_EQ(made.batch_size, own.batch_size);
  EXPECT_EQ(made.preprocess.recipe, own.preprocess.recipe);
  EXPECT_EQ(made.preprocess.interpolation, own.preprocess.interpolation);
  EXPECT_EQ(made.preprocess.augment, own.preprocess.augment);
  EXPECT_EQ(made.shuffle, own.shuffle);
  EXPECT_EQ(made.rank_share, own.rank_share);
  EXPECT_EQ(made.last_batch, own.last_batch);
  EXPECT_EQ(made.on_bad_record, own.on_bad_record);
  EXPECT_EQ(made.graph, own.graph);
  EXPECT_EQ(made.memory_limit, own.memory_limit);
}

TEST(InputFlagsTest, SetTheFieldsOfTheTable) {
  const InputOptions made = Resolved(
      {"--batch_size=8", "--seed=18446744073709551615", "--max_bad_rate=0.5",
       "--random_erasing=0.25", "--memory_limit=512MB", "--no_lenient",
       "--seek_index=off", "--no_random_flip", "--scaled_decode",
       "--bad_record_report=bad.jsonl", "--max_pixels=1000", "--layout=rgb"});
  EXPECT_EQ(made.batch_size, 8);
  EXPECT_EQ(made.layout, BatchContent::kRgb);
  EXPECT_EQ(made.seed, 18446744073709551615U);
  EXPECT_EQ(made.max_bad_rate, 0.5);
  EXPECT_EQ(made.preprocess.augment.erasing, 0.25F);
  EXPECT_EQ(made.memory_limit, 512'000'000);
  EXPECT_FALSE(made.preprocess.lenient);
  EXPECT_EQ(made.seek_index, SeekIndexes::kOff);
  EXPECT_FALSE(made.preprocess.random_flip);
  EXPECT_TRUE(made.preprocess.scaled_decode);
  EXPECT_EQ(made.bad_record_report, "bad.jsonl");
  EXPECT_EQ(made.preprocess.limits.max_pixels, 1000);
}

TEST(InputFlagsTest, RefuseWhatTheTableDoesNotAllow) {
  EXPECT_THAT(ErrorOf({"--batches_in_pool=1"}),
              HasSubstr("batches_in_pool=1: must be at least 2"));
  EXPECT_THAT(ErrorOf({"--batch_size=010"}),
              HasSubstr("without a leading zero"));
  EXPECT_THAT(ErrorOf({"--graph=best"}),
              HasSubstr("graph='best': must be flow or basic"));
}

TEST(InputFlagsTest, ResolveNamesOfChoices) {
  const InputOptions made = Resolved(
      {"--recipe=plain", "--interpolation=antialias", "--augment=autoaugment",
       "--shuffle=window", "--rank_share=strided", "--last_batch=repeat",
       "--on_bad_record=skip", "--graph=basic"});
  EXPECT_EQ(made.preprocess.recipe, Recipe::kPlain);
  EXPECT_EQ(made.preprocess.interpolation, Interpolation::kAntialias);
  EXPECT_EQ(made.preprocess.augment.policy, AugmentPolicy::kAutoAugment);
  EXPECT_EQ(made.shuffle, Shuffle::kWindow);
  EXPECT_EQ(made.rank_share, RankShare::kStrided);
  EXPECT_EQ(made.last_batch, LastBatch::kRepeat);
  EXPECT_EQ(made.on_bad_record, OnBadRecord::kSkip);
  EXPECT_EQ(made.graph, GraphKind::kBasic);
}

TEST(InputFlagsTest, AutoShuffleFollowsTheMode) {
  EXPECT_EQ(ShuffleOf(Resolved({})), Shuffle::kGlobal);
  EXPECT_EQ(ShuffleOf(Resolved({"--eval"})), Shuffle::kNone);
  EXPECT_EQ(ShuffleOf(Resolved({"--eval", "--shuffle=global"})),
            Shuffle::kGlobal);
}

TEST(InputFlagsTest, TakeTheFourFactorsOfAColorJitter) {
  const AugmentOptions augment = Resolved({"--brightness=0.1", "--contrast=0.2",
                                           "--saturation=0.3", "--hue=0.4"})
                                     .preprocess.augment;
  EXPECT_THAT((std::vector{augment.brightness, augment.contrast,
                           augment.saturation, augment.hue}),
              ElementsAre(0.1F, 0.2F, 0.3F, 0.4F));
  EXPECT_THROW(Resolved({"--hue=0.6"}), UsageError);
}

}  // namespace
}  // namespace infeed
