#include "pipeline/remote/stream_settings.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/objects.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/views.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::stream_settings_test {

// Rows on which no slot depends: they place samples in batches, or are the
// trainer's own, or change only the speed.
constexpr std::string_view kNotOfSlots =
    "batch_size repeat shuffle window_shards window_records "
    "repeat_augment last_batch rank world_size rank_share max_records "
    "layout on_bad_record max_bad_records max_bad_rate "
    "bad_record_report graph threads batches_in_pool max_lent "
    "prefetch_batches workers workers_in_flight workers_check "
    "verify_checksums map_files seek_index use_cache memory_limit "
    "local_world_size";

bool IsOfSlots(std::string_view row) {
  std::istringstream names{std::string(kNotOfSlots)};
  return std::find(std::istream_iterator<std::string>(names), {}, row) ==
         std::istream_iterator<std::string>();
}

using Given = std::vector<std::pair<std::string_view, std::string_view>>;

InputOptions With(const Given& given) {
  InputOptions options = {.label_offset = 0};
  for (const auto& [name, value] : given) {
    const InputOption& row = FindInputOption(name);
    SetOption(row, {std::string(name), std::string(value), ""},
              row.at(options));
  }
  return options;
}

std::string_view ValueOf(const std::vector<StateField>& settings,
                         std::string_view name) {
  const auto found = std::ranges::find(settings, name, &StateField::name);
  return found == settings.end() ? std::string_view() : found->value;
}

std::string& ValueIn(std::vector<StateField>& settings, std::string_view name) {
  return std::ranges::find(settings, name, &StateField::name)->value;
}

// Expects that options come back from their settings; returns them.
InputOptions ExpectRoundTrip(InputOptions options) {
  options = CheckedInputOptions(std::move(options));
  const std::vector<StateField> settings = SlotSettings(options);
  InputOptions back = OptionsOfSettings(settings);
  EXPECT_EQ(SlotSettings(back), settings);
  EXPECT_EQ(back.preprocess, options.preprocess);
  EXPECT_EQ(back.fields, options.fields);
  EXPECT_EQ(back.objects, options.objects);
  EXPECT_EQ(back.seed, options.seed);
  EXPECT_EQ(back.label_offset, options.label_offset);
  EXPECT_EQ(RaggedBytes(back), RaggedBytes(options));
  EXPECT_EQ(ReadsLabels(back), ReadsLabels(options));
  return back;
}

// A changed row, with what the change needs.
struct Change {
  std::string_view name;
  std::string_view value;
  Given with = {};
};

const std::vector<Change>& Changes() {
  const Given torchvision = {{"recipe", "torchvision"}};
  const Given fit = {{"recipe", "fit"}};
  const auto scaled = [](std::string_view name, std::string_view value) {
    return Given{{"recipe", "fit"}, {name, value}};
  };
  static const std::vector<Change> kChanges = {
      {"training", "false"},
      {"seed", "18446744073709551615"},
      {"image_key", "other"},
      {"label_key", "other"},
      {"label_offset", "1"},
      {"num_label_classes", "1000"},
      {"require_labels", "false"},
      {"max_field_bytes", "5001"},
      {"input_hash", "pixels"},
      {"image_size", "224x320"},
      {"recipe", "cifar"},
      {"interpolation", "antialias_random"},
      {"random_flip", "false"},
      {"random_flip_vertical", "true"},
      {"crop_scale", "0.1", torchvision},
      {"crop_scale_max", "0.7", torchvision},
      {"crop_ratio", "1.3", torchvision},
      {"eval_resize", "256"},
      {"eval_crop", "0.9"},
      {"fit_fill", "7", fit},
      {"fit_margin", "end", fit},
      {"scale_jitter_min", "0.1", scaled("scale_jitter_max", "0.3")},
      {"scale_jitter_max", "2.1", scaled("scale_jitter_min", "0.2")},
      {"iou_crop", "true", {{"recipe", "plain"}}},
      {"scaled_decode", "true"},
      {"augment", "trivialaugment"},
      {"augment_layers", "3", {{"augment", "randaugment"}}},
      {"augment_magnitude", "9", {{"augment", "randaugment"}}},
      {"augment_magnitude_std", "0.5", {{"augment", "timm_randaugment"}}},
      {"augment_interpolation", "bicubic", {{"augment", "trivialaugment"}}},
      {"brightness", "0.4"},
      {"contrast", "0.3"},
      {"saturation", "0.2"},
      {"hue", "0.1"},
      {"jitter_probability", "0.8", {{"hue", "0.1"}}},
      {"grayscale", "0.2"},
      {"blur", "0.1"},
      {"solarize", "0.15"},
      {"random_erasing", "0.25"},
      {"erasing_mode", "pixel", {{"random_erasing", "0.5"}}},
      {"lenient", "true"},
      {"max_pixels", "1000001"}};
  return kChanges;
}

TEST(StreamSettingsTest, EachRowTravelsOrPlacesSamples) {
  const std::vector<StateField> settings = SlotSettings({});
  for (const InputOption& row : InputOptionTable()) {
    const bool travels = !ValueOf(settings, row.name).empty();
    EXPECT_EQ(travels, IsOfSlots(row.name)) << row.name;
    EXPECT_EQ(travels, std::ranges::find(Changes(), row.name, &Change::name) !=
                           Changes().end())
        << row.name << ": has no change to test";
  }
}

TEST(StreamSettingsTest, EachRowOfASlotIsInItsValueAlone) {
  for (const Change& change : Changes()) {
    const std::vector<StateField> before = SlotSettings(With(change.with));
    Given given = change.with;
    given.emplace_back(change.name, change.value);
    InputOptions options = With(given);
    if (options.preprocess.crop.iou_crop) {
      options.objects.boxes = {"box"};
    }
    std::vector<StateField> after = SlotSettings(options);
    EXPECT_NE(ValueOf(after, change.name), ValueOf(before, change.name))
        << change.name;
    if (options.objects.is_on()) {
      ValueIn(after, "objects") = ValueOf(before, "objects");
    }
    ValueIn(after, change.name) = ValueOf(before, change.name);
    EXPECT_EQ(after, before) << change.name;
    ExpectRoundTrip(options);
  }
}

TEST(StreamSettingsTest, WhatHasNoRowComesBack) {
  InputOptions options = {.label_offset = 1};
  options.training = false;
  options.preprocess.crop.eval_crops = 10;
  options.preprocess.limits = {.max_pixels = 1'000'000,
                               .max_scans = 7,
                               .max_memory_bytes = std::int64_t{1} << 40};
  options.batch_size = 10;
  const InputOptions back = ExpectRoundTrip(options);
  EXPECT_EQ(back.layout, BatchContent::kRgb);
  EXPECT_FALSE(back.training);
  options = {.layout = BatchContent::kNone,
             .label_key = "class",
             .num_label_classes = 5};
  EXPECT_EQ(ExpectRoundTrip(options).layout, BatchContent::kNone);
  options.label_key = kLabelKey;
  EXPECT_FALSE(ExpectRoundTrip(options).wants_labels);
  options.wants_labels = true;
  EXPECT_TRUE(ReadsLabels(ExpectRoundTrip(options)));
}

TEST(StreamSettingsTest, FieldsComeBack) {
  const std::string bytes("\0\xFF\x80 a", 5);
  InputOptions options;
  options.image_key = "image\xFF";
  options.fields = {{.key = "ragged"},
                    {.key = "floats", .kind = FeatureKind::kFloat},
                    {.key = bytes, .kind = FeatureKind::kBytes},
                    {.key = "text",
                     .kind = FeatureKind::kBytes,
                     .shape = std::vector<std::int64_t>(),
                     .absent = bytes},
                    {.key = "fixed",
                     .shape = std::vector<std::int64_t>{2, 3},
                     .type = ItemType::kInt16,
                     .pad = "\xFF\xFF"},
                    {.key = "raw",
                     .kind = FeatureKind::kBytes,
                     .shape = std::vector<std::int64_t>{5},
                     .type = ItemType::kUint8,
                     .is_raw = true,
                     .absent = bytes}};
  EXPECT_EQ(ExpectRoundTrip(options).image_key, options.image_key);
  // An absent value of no bytes is not none.
  options.fields = {options.fields[3]};
  options.fields[0].absent = "";
  const std::vector<StateField> empty = SlotSettings(options);
  ExpectRoundTrip(options);
  options.fields[0].absent.reset();
  EXPECT_NE(SlotSettings(options), empty);
}

TEST(StreamSettingsTest, ObjectsComeBack) {
  for (const std::string_view preset : {"infeed", "tf", "tfds"}) {
    InputOptions options = {.label_offset = 0};
    options.objects = ObjectsPreset(preset);
    options.objects.lists.push_back(KnownObjectList("image/object/class/text"));
    options.objects.filter = {.min_size = 0.1F,
                              .min_area = 0.7F,
                              .min_visible = 0.3F,
                              .keep = BoxKeep::kCentre};
    options.preprocess.recipe = Recipe::kFit;
    options.preprocess.crop.iou_crop = true;
    ExpectRoundTrip(options);
  }
}

TEST(StreamSettingsTest, ViewsComeBack) {
  InputOptions options = {.label_offset = 0};
  options.preprocess = {.recipe = Recipe::kTorchvision, .image_size = 96};
  const auto add = [&](const std::vector<OptionAssignment>& settings) {
    options.views.push_back(MakeView(options, settings));
  };
  add({{"image_size", "64x32", ""},
       {"brightness", "0.4", ""},
       {"augment", "randaugment", ""}});
  add({{"draws", "0", ""}, {"key", "depth\xFF", ""}});
  add({{"labels", "uint8", ""}, {"key", "mask", ""}, {"fill", "3", ""}});
  add({{"labels", "int32", ""}, {"draws", "2", ""}, {"key", "mask", ""}});
  const InputOptions back = ExpectRoundTrip(options);
  ASSERT_EQ(back.views.size(), options.views.size());
  for (std::size_t i = 0; i < back.views.size(); ++i) {
    const ViewSpec& view = options.views[i];
    EXPECT_EQ(back.views[i].key, view.key);
    EXPECT_EQ(back.views[i].preprocess, view.preprocess);
    EXPECT_EQ(back.views[i].draws, view.draws);
    EXPECT_EQ(back.views[i].content, view.content);
    EXPECT_EQ(back.views[i].fill, view.fill);
  }
  // A view's limits are its own.
  const std::vector<StateField> before = SlotSettings(options);
  options.views[0].preprocess.limits.max_scans = 3;
  EXPECT_NE(SlotSettings(options), before);
  ExpectRoundTrip(options);
}

std::string Refusal(const std::vector<StateField>& settings) {
  return MessageOf<DataError>([&] { (void)OptionsOfSettings(settings); });
}

TEST(StreamSettingsTest, NamesThatAreNotThoseOfSettingsAreRefused) {
  const std::vector<StateField> good =
      SlotSettings(CheckedInputOptions({.label_offset = 0}));
  EXPECT_EQ(Refusal(good), "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<StateField> settings = good;
    settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(Refusal(settings), "setting " + good[i].name + " is missing");
    settings.push_back(good[(i + 1) % good.size()]);
    EXPECT_NE(Refusal(settings), "");
  }
  std::vector<StateField> settings = good;
  settings.push_back({"new\n", "1"});
  EXPECT_THAT(Refusal(settings), HasSubstr("is unknown here"));
  settings.back() = good[3];
  EXPECT_EQ(Refusal(settings), "setting " + good[3].name + " is given twice");
  settings.pop_back();
  std::swap(settings[0], settings[1]);
  EXPECT_THAT(Refusal(settings), HasSubstr("setting "));
}

TEST(StreamSettingsTest, ValuesOfAnotherTypeAreRefusedByName) {
  const std::vector<StateField> good =
      SlotSettings(CheckedInputOptions({.label_offset = 0}));
  for (const StateField& one : good) {
    for (const std::string_view value :
         {"", "{", "null", "[]x", "{\"a\":1}", "-1e300", "\"\xFF\"", "[1]",
          "1e999", "99999999999999999999999"}) {
      std::vector<StateField> settings = good;
      ValueIn(settings, one.name) = value;
      EXPECT_THAT(Refusal(settings), HasSubstr(one.name)) << value;
    }
  }
}

TEST(StreamSettingsTest, DamagedValuesAreRefused) {
  InputOptions options = {.label_offset = 0};
  options.fields = {{.key = "a",
                     .shape = std::vector<std::int64_t>{2},
                     .pad = std::string(8, '\1')}};
  options.objects = ObjectsPreset("tf");
  options.views = {MakeView(options, {})};
  const std::vector<StateField> good =
      SlotSettings(CheckedInputOptions(options));
  const std::string brackets(100, '[');
  const struct {
    std::string_view name;
    std::string_view from;
    std::string_view to;
    std::string_view message;
  } rows[] = {
      {"fields", "\"0101", "\"01x1", "fields"},
      {"fields", "\"0101", "\"101", "fields"},
      {"fields", "\"raw\"", "\"row\"", "fields"},
      {"fields", "\"raw\":", "\"new\":1,\"raw\":", "fields is not written"},
      {"fields", "[2]", "[2.5]", "fields"},
      {"fields", "[2]", "[4611686018427387904,4]", "fields"},
      {"objects", "\"xyxy\"", "\"xyxx\"", "objects"},
      {"objects", "\"min_size\":1", "\"min_size\":-1", "min_size"},
      {"views", "\"image_size\":224", "\"image_size\":0", "image_size"},
      {"views", "\"image_size\":224", "\"image_size\":\"x\"",
       "views: setting image_size"},
      {"image_size", "224", "224.0", "image_size"},
      {"image_size", "224", "\"224\"", "image_size"},
      {"eval_crops", "1", "-2147483648", "eval_crops"},
      {"recipe", "tpu", "gpu", "recipe"},
      {"training", "true", " true", "training"},
      {"views", "[", brackets, "views"}};
  for (const auto& [name, from, to, message] : rows) {
    std::vector<StateField> settings = good;
    std::string& value = ValueIn(settings, name);
    const std::size_t at = value.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has " << value;
    value.replace(at, from.size(), to);
    EXPECT_THAT(Refusal(settings), HasSubstr(message)) << to;
  }
}

TEST(StreamSettingsTest, TheKeyIsThatOfSettingsAndData) {
  std::vector<StateField> settings = SlotSettings({});
  const std::uint64_t key = SlotsKey(settings, "data");
  EXPECT_EQ(SlotsKey(SlotSettings({}), "data"), key);
  EXPECT_NE(SlotsKey(settings, "other"), key);
  ValueIn(settings, "seed") = "1";
  EXPECT_NE(SlotsKey(settings, "data"), key);
}

}  // namespace infeed::stream_settings_test
