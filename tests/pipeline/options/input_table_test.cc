#include "pipeline/options/input_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/overloaded.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

#include "gtest/gtest.h"

namespace infeed::input_table_test {

// Options that change what a consumer gets and are none of the stream's, since
// they only choose its form, share, length and policy for bad records.
constexpr std::array<std::string_view, 6> kOfTheConsumer = {
    "layout", "rank",           "world_size",
    "repeat", "require_labels", "num_label_classes"};

std::vector<std::string> NumbersBeside(double value, const OptionRange& range) {
  std::vector<std::string> texts;
  for (const double other : {value + 1, value * 2, value / 2, value + 0.5}) {
    if (other != value && other >= range.min && other <= range.max) {
      texts.push_back(fmt::format("{}", other));
    }
  }
  return texts;
}

// Some values that are not the option's own, as text.
std::vector<std::string> OtherValues(const InputOption& row,
                                     InputOptions options) {
  const OptionRef field = row.at(options);
  const std::string own = ValueText(row, field);
  if (!row.choices.empty()) {
    std::vector<std::string> names;
    std::string_view rest = row.choices;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('|'));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (name != own) {
        names.emplace_back(name);
      }
    }
    return names;
  }
  return std::visit(
      Overloaded{[](const ChoiceRef&) { return std::vector<std::string>(); },
                 [](const std::string*) { return std::vector<std::string>(); },
                 [](const ImageSize*) {
                   return std::vector<std::string>{"20", "16x20"};
                 },
                 [](const bool* value) {
                   return std::vector<std::string>{*value ? "false" : "true"};
                 },
                 [&](const auto* value) {
                   return NumbersBeside(static_cast<double>(*value), row.range);
                 }},
      field);
}

// The first batches of a stream; none where these options do not go together.
std::vector<BatchCopy> BatchesOf(const RecordIndex& index,
                                 const InputOptions& options) {
  try {
    return Stream(index, options, 5);
  } catch (const UsageError&) {
    return {};
  }
}

bool GivesTheSame(const RecordIndex& index, const InputOptions& options,
                  const InputOption& row) {
  const std::vector<BatchCopy> batches = BatchesOf(index, options);
  return std::ranges::all_of(
      OtherValues(row, options), [&](const std::string& value) {
        InputOptions changed = options;
        try {
          SetOption(row, {std::string(row.name), value, ""}, row.at(changed));
        } catch (const UsageError&) {
          return true;
        }
        const std::vector<BatchCopy> others = BatchesOf(index, changed);
        return others.empty() || others == batches;
      });
}

std::vector<InputOptions> Streams() {
  const InputOptions usual = {.batch_size = 4,
                              .preprocess = {.image_size = 16},
                              .seed = 7,
                              .threads = 2};
  InputOptions window = usual;
  window.shuffle = Shuffle::kWindow;
  window.window_shards = 2;
  window.window_records = 4;
  InputOptions augmented = usual;
  augmented.preprocess.recipe = Recipe::kTorchvision;
  augmented.preprocess.augment = {.policy = AugmentPolicy::kRandAugment,
                                  .erasing = 1};
  InputOptions evaluation = usual;
  evaluation.preprocess.recipe = Recipe::kTorchvision;
  evaluation.training = false;
  evaluation.last_batch = LastBatch::kPad;
  return {usual, window, augmented, evaluation};
}

// Whoever forgets to mark a row resumes with other data without a word.
TEST(InputTableTest, NoOptionOutsideTheStreamChangesBatches) {
  const TestShards shards(TestPayloads(10));
  for (const InputOption& row : InputOptionTable()) {
    if (row.affects_batches ||
        std::ranges::find(kOfTheConsumer, row.name) != kOfTheConsumer.end()) {
      continue;
    }
    for (const InputOptions& options : Streams()) {
      EXPECT_TRUE(GivesTheSame(shards.index(), options, row))
          << row.name << " changes batches: its row must be kOfStream";
    }
  }
}

// The test above finds such an option: these are known to change batches.
TEST(InputTableTest, OptionsOfTheStreamChangeBatches) {
  const TestShards shards(TestPayloads(10));
  for (const std::string_view name :
       {"batch_size", "image_size", "recipe", "shuffle", "seed", "random_flip",
        "interpolation", "training"}) {
    const InputOption& row = FindInputOption(name);
    EXPECT_TRUE(row.affects_batches) << name;
    EXPECT_FALSE(GivesTheSame(shards.index(), Streams()[0], row)) << name;
  }
}

// Of "a|b".
std::string First(std::string_view choices) {
  return std::string(choices.substr(0, choices.find('|')));
}

// Options that go with other values of the row.
InputOptions OptionsWith(std::string_view row) {
  InputOptions options = {
      .batch_size = 4,
      .preprocess = {.recipe = Recipe::kTorchvision, .image_size = 16},
      .seed = 7};
  options.preprocess.crop.eval_resize = row == "eval_resize" ? 20 : 0;
  if (row == "iou_crop") {
    options.preprocess.recipe = Recipe::kPlain;
    options.objects = ObjectsPreset("tf");
  }
  if (row.starts_with("fit_")) {
    options.preprocess.recipe = Recipe::kFit;
  }
  if (row.starts_with("scale_jitter_")) {
    options.preprocess.recipe = Recipe::kFit;
    options.preprocess.fit = {.scale_min = 1, .scale_max = 2};
  }
  const InputNeed& need = FindInputOption(row).need;
  if (!need.others.empty()) {
    const InputOption& other = FindInputOption(First(need.others));
    SetOption(other,
              {std::string(other.name),
               need.values.empty() ? "0.5" : First(need.values), ""},
              other.at(options));
  }
  return options;
}

// A stream is not resumed with another value, and the message names its row.
TEST(InputTableTest, OptionsOfTheStreamAreInItsState) {
  std::vector<std::string> payloads = TestPayloads(8);
  payloads[0] += ExtraBox();
  const TestShards shards(payloads);
  for (const InputOption& row : InputOptionTable()) {
    const InputOptions there = OptionsWith(row.name);
    const std::string state =
        BuildStreamState(StateOf(shards.index(), there, {}));
    const std::vector<std::string> values = OtherValues(row, there);
    std::string refusals;
    for (const std::string& value : values) {
      InputOptions here = there;
      refusals += MessageOf<UsageError>([&] {
        SetOption(row, {std::string(row.name), value, ""}, row.at(here));
        (void)ResumePosition(state, shards.index(), here);
      });
    }
    const std::string named = std::string(row.name) + " is ";
    EXPECT_EQ(refusals.find(named) != std::string::npos,
              row.affects_batches && !values.empty())
        << named << refusals;
  }
}

TEST(InputTableTest, AnEvaluationInheritsWhatItsRowsSay) {
  InputOptions training = {.batch_size = 8,
                           .preprocess = {.recipe = Recipe::kTorchvision,
                                          .crop = {.eval_resize = 72},
                                          .image_size = 64},
                           .repeat = 3,
                           .shuffle = Shuffle::kTorch,
                           .threads = 3};
  const InputOptions evaluation = EvaluationOptions(training);
  EXPECT_FALSE(evaluation.training);
  EXPECT_EQ(evaluation.preprocess.image_size, 64);
  EXPECT_EQ(evaluation.preprocess.recipe, Recipe::kTorchvision);
  EXPECT_EQ(evaluation.preprocess.crop.eval_resize, 72);
  EXPECT_EQ(evaluation.threads, 3);
  EXPECT_EQ(evaluation.shuffle, Shuffle::kByMode);
  EXPECT_EQ(evaluation.repeat, 0);
  EXPECT_EQ(evaluation.batch_size, InputOptions().batch_size);
}

}  // namespace infeed::input_table_test
