#include "pipeline/order/stream_state.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/order/selection.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

class StreamStateTest : public ::testing::Test {
 protected:
  static const RecordIndex& index() {
    static const TestShards shards([] {
      std::vector<std::string> payloads = TestPayloads(8);
      payloads[0] += ExtraBox();
      payloads[0] += ExtraFloats("other", {0.25F});
      return payloads;
    }());
    return shards.index();
  }

  // The message for a stream whose options differ from the state's.
  static std::string Refusal(const InputOptions& here,
                             const InputOptions& there) {
    return MessageOf<UsageError>(
        [&] { CheckResumable(StateOf(index(), there, {}), index(), here); });
  }

  const InputOptions options_{
      .batch_size = 4, .preprocess = {.image_size = 16}, .seed = 7};
};

TEST_F(StreamStateTest, IsReadBack) {
  InputOptions options = options_;
  options.seed = std::numeric_limits<std::uint64_t>::max();
  options.preprocess.augment = {.policy = AugmentPolicy::kRandAugment,
                                .brightness = 0.4F,
                                .erasing = 0.1F};
  const StreamState state =
      StateOf(index(), options,
              {.epoch = std::numeric_limits<std::uint32_t>::max(),
               .position = std::numeric_limits<std::int64_t>::max(),
               .past_epochs = std::numeric_limits<std::uint32_t>::max()},
              std::numeric_limits<std::uint64_t>::max());
  const std::string text = BuildStreamState(state);
  EXPECT_EQ(ParseStreamState(text), state);
  EXPECT_EQ(ResumeState(text, index(), options), state);
  EXPECT_EQ(ResumePosition(text, index(), options), state.position);
}

TEST_F(StreamStateTest, IsTheFormatOfTheDocuments) {
  const std::string text =
      BuildStreamState(StateOf(index(), options_, {3, 4, 2}, 0xAB));
  EXPECT_THAT(text,
              AllOf(HasSubstr("{\n  \"schema\": 1,\n  \"epoch\": 3,\n"
                              "  \"position\": 4,\n  \"past_epochs\": 2,\n"
                              "  \"fingerprint\": \"00000000000000ab\",\n"
                              "  \"seed\": 7,\n"
                              "  \"data\": \"" +
                              index().identity() + "\",\n  \"options\": {\n"),
                    HasSubstr("    \"recipe\": \"tpu\",\n"),
                    HasSubstr("    \"selection\": null,\n")));
}

// They choose the windows of an IoU crop, and only these.
TEST_F(StreamStateTest, HasTheBoxesThatChangeImages) {
  InputOptions here = options_;
  here.preprocess.recipe = Recipe::kFit;
  here.objects = ObjectsPreset("tf");
  InputOptions there = here;
  there.objects.boxes[0] = "other";
  EXPECT_EQ(Refusal(here, there), "");
  EXPECT_THAT(BuildStreamState(StateOf(index(), here, {})),
              Not(AnyOf(HasSubstr("objects"), HasSubstr("iou_crop"),
                        HasSubstr("fit_fill"), HasSubstr("scale_jitter"))));
  here.preprocess.crop.iou_crop = there.preprocess.crop.iou_crop = true;
  EXPECT_THAT(Refusal(here, there), HasSubstr("objects is {"));
  there = here;
  there.objects.filter.min_visible = 0.5F;
  there.objects.lists = {};
  EXPECT_EQ(Refusal(here, there), "");
  const StreamState state = StateOf(index(), here, {});
  EXPECT_EQ(ParseStreamState(BuildStreamState(state)), state);
  // Also that of another view.
  here.views = {{.preprocess = here.preprocess}};
  here.preprocess.crop.iou_crop = false;
  there = here;
  there.objects.boxes[0] = "other";
  EXPECT_THAT(Refusal(here, there), HasSubstr("objects is {"));
}

// Three ranks fill an epoch of 8 records up to 9, or cut it to 6.
TEST_F(StreamStateTest, RefusesRanksThatWouldShareAnotherEpoch) {
  InputOptions here = options_;
  here.batch_size = 12;
  here.last_batch = LastBatch::kPad;
  InputOptions there = here;
  there.world_size = 3;
  EXPECT_EQ(Refusal(here, there), "");
  here.rank_share = there.rank_share = RankShare::kStrided;
  EXPECT_THAT(Refusal(here, there),
              HasSubstr("epoch_samples is 8 here, 9 in the state"));
  here.rank_share = there.rank_share = RankShare::kStridedDrop;
  EXPECT_THAT(Refusal(here, there),
              HasSubstr("epoch_samples is 8 here, 6 in the state"));
  there.world_size = 4;
  EXPECT_EQ(Refusal(here, there), "");
}

// InputTableTest goes through all rows; these are their forms, and the options
// without a row.
TEST_F(StreamStateTest, NamesOptionsAsTheStateHasThem) {
  const std::pair<const char*, std::function<void(InputOptions&)>> changes[] = {
      {"last_batch is \"carry\" here, \"drop\" in the state",
       [](InputOptions& o) { o.last_batch = LastBatch::kCarry; }},
      {"image_size is \"16x17\" here, 16 in the state",
       [](InputOptions& o) {
         o.preprocess.image_size = {16, 17};
       }},
      {"hue is 0.4 here, 0 in the state",
       [](InputOptions& o) { o.preprocess.augment.hue = 0.4F; }},
      {"training is false here, true in the state",
       [](InputOptions& o) { o.training = false; }},
      {"selection is \"",
       [](InputOptions& o) {
         o.selection = std::make_shared<const Selection>(
             std::vector<RecordGroup>{{.ids = {1, 2, 3, 4}}});
       }},
      {"eval_crops", [](InputOptions& o) { o.preprocess.crop.eval_crops = 5; }},
      {"max_scans",
       [](InputOptions& o) { o.preprocess.limits.max_scans = 10; }},
      {"max_memory_bytes", [](InputOptions& o) {
         o.preprocess.limits.max_memory_bytes = 1 << 20;
       }}};
  for (const auto& [message, change] : changes) {
    InputOptions here = options_;
    change(here);
    EXPECT_THAT(Refusal(here, options_), HasSubstr(message));
    EXPECT_EQ(Refusal(here, here), "") << message;
  }
}

// Older versions wrote states without these options.
TEST_F(StreamStateTest, DoesNotNameNewerOptionsThatAreNotSet) {
  const std::string text = BuildStreamState(StateOf(index(), options_, {}));
  for (const char* name :
       {"crop_scale_max", "jitter_probability", "solarize"}) {
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
  InputOptions here = options_;
  here.preprocess.augment.solarize = 0.5F;
  EXPECT_THAT(Refusal(here, options_),
              HasSubstr("solarize is 0.5 here, missing in the state"));
  EXPECT_THAT(Refusal(options_, here), HasSubstr("solarize is "));
}

TEST_F(StreamStateTest, NamesAllDifferencesAtOnce) {
  InputOptions here = options_;
  here.batch_size = 2;
  here.preprocess.image_size = 8;
  EXPECT_EQ(Refusal(here, options_),
            "the state is another stream's: batch_size is 2 here, 4 in the "
            "state; image_size is 8 here, 16 in the state");
}

TEST_F(StreamStateTest, IsTheSameForOtherThreadsRanksPoliciesAndLength) {
  InputOptions here = options_;
  here.on_bad_record = OnBadRecord::kSkip;
  here.preprocess.lenient = true;
  here.world_size = 2;
  here.rank = 1;
  here.repeat = 9;
  here.max_bad_records = 3;
  here.max_bad_rate = 0.5;
  here.graph = GraphKind::kBasic;
  here.threads = 7;
  here.batches_in_pool = 5;
  here.prefetch_batches = 0;
  here.seek_index = SeekIndexes::kOff;
  here.use_cache = true;
  here.memory_limit = 1 << 30;
  here.bad_record_report = "bad.jsonl";
  EXPECT_EQ(Refusal(here, options_), "");
}

TEST_F(StreamStateTest, IsRefusedForOtherData) {
  const TestShards others(TestPayloads(9));
  EXPECT_EQ(MessageOf<UsageError>([&] {
              CheckResumable(StateOf(index(), options_, {}), others.index(),
                             options_);
            }),
            "the state is another stream's: data is \"" +
                others.index().identity() + "\" here, \"" + index().identity() +
                "\" in the state");
}

TEST_F(StreamStateTest, NamesFieldsThatOneSideLacks) {
  StreamState state = StateOf(index(), options_, {});
  state.identity.back() = {"sharpness", "3"};
  EXPECT_THAT(
      MessageOf<UsageError>([&] { CheckResumable(state, index(), options_); }),
      AllOf(HasSubstr("max_memory_bytes is 1073741824 here, missing in the "
                      "state"),
            HasSubstr("sharpness is unknown here, 3 in the state")));
}

TEST_F(StreamStateTest, IsRefusedWhereALaterVersionWroteIt) {
  EXPECT_EQ(
      MessageOf<UsageError>([] { (void)ParseStreamState(R"({"schema": 2})"); }),
      "the stream's state is of schema 2, this version reads 1: a later "
      "one wrote it");
}

TEST_F(StreamStateTest, SaysWhereItIsBroken) {
  const auto message = [](const std::string& text) {
    return MessageOf<DataError>([&] { (void)ParseStreamState(text); });
  };
  const std::string good = BuildStreamState(StateOf(index(), options_, {3, 4}));
  const auto with = [&good](const std::string& old, const std::string& now) {
    std::string text = good;
    return text.replace(text.find(old), old.size(), now);
  };
  EXPECT_EQ(message(good), "");
  EXPECT_THAT(message(good.substr(0, 60)), HasSubstr("not JSON at byte 61"));
  EXPECT_THAT(message(""), HasSubstr("not a stream's state"));
  EXPECT_THAT(message("[]"), HasSubstr("not a stream's state"));
  EXPECT_THAT(message(std::string(200'000, '[')),
              HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(message(with("\"position\"", "\"place\"")),
              HasSubstr("a value is missing"));
  EXPECT_EQ(message(with("\"epoch\": 3", "\"epoch\": 4294967296")),
            "epoch is 4294967296, not a whole number from 0 to 4294967295");
  for (const char* bad : {"-1", "0.5", "\"4\"", "9223372036854775808"}) {
    EXPECT_THAT(
        message(with("\"position\": 4", "\"position\": " + std::string(bad))),
        HasSubstr("position is " + std::string(bad) + ", not a whole"));
  }
  for (const char* bad :
       {"\"1\"", "\"000000000000000G\"", "\"00000000000000AB\"", "5"}) {
    EXPECT_NE(message(with("\"0000000000000000\"", bad)), "") << bad;
  }
  EXPECT_THAT(message(with("\"seed\": 7", "\"seed\": -7")),
              HasSubstr("seed is -7"));
}

}  // namespace
}  // namespace infeed
