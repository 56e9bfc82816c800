#include "pipeline/slots/range_filler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/option_text.h"
#include "pipeline/order/label_class.h"
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

namespace infeed::range_filler_test {

constexpr int kRecords = 22;
constexpr int kMostSlots = 16;

// Record r has r % 3 boxes, r % 4 ids, which also are `more`, and a name.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (int record = 0; record < kRecords; ++record) {
    const auto boxes = static_cast<std::size_t>(record % 3);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(record % 4));
    std::iota(ids.begin(), ids.end(), record);
    const float left = static_cast<float>(record) / 64;
    std::string& payload = payloads[static_cast<std::size_t>(record)];
    if (boxes > 0) {
      payload += ExtraBoxes(
          std::vector<TestBox>(boxes, {left, 0.25F, left + 0.5F, 0.75F}),
          std::vector<std::int64_t>(boxes, record));
    }
    payload += ExtraInt64s("ids", ids) + ExtraInt64s("more", ids) +
               ExtraBytes("name", {"n" + std::to_string(record)});
  }
  return payloads;
}

const RecordIndex& Index() {
  static const TestShards shards(Payloads());
  return shards.index();
}

InputOptions Options(Recipe recipe = Recipe::kTpu) {
  return {.batch_size = 8,
          .preprocess = {.recipe = recipe, .image_size = {20, 16}},
          .layout = BatchContent::kRgb,
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = 2};
}

InputOptions Resolved(const InputOptions& options, const RecordIndex& index) {
  return ResolvedOptions(CheckedInputOptions(options), index);
}

InputOptions WithFields(InputOptions options) {
  options.fields = {{.key = "ids",
                     .shape = std::vector<std::int64_t>{2},
                     .type = ItemType::kInt32,
                     .pad = std::string(4, '\7')},
                    {.key = "name", .kind = FeatureKind::kBytes},
                    {.key = "more", .kind = FeatureKind::kInt64}};
  return options;
}

InputOptions WithView(InputOptions options) {
  const std::vector<OptionAssignment> given = {
      {.name = "image_size", .value = "9", .place = ""},
      {.name = "crop_scale", .value = "0.1", .place = ""}};
  options.views.push_back(MakeView(options, given));
  return options;
}

// All kinds of slots.
std::vector<InputOptions> Streams() {
  std::vector<InputOptions> streams;
  for (const Recipe recipe : {Recipe::kTpu, Recipe::kTorchvision,
                              Recipe::kPlain, Recipe::kCifar, Recipe::kFit}) {
    streams.push_back(Options(recipe));
    streams.push_back(Options(recipe));
    streams.back().training = false;
  }
  streams.push_back(WithFields(Options()));
  streams.push_back(WithView(WithFields(Options(Recipe::kTorchvision))));
  streams.push_back(Options(Recipe::kTorchvision));
  streams.back().objects = ObjectsPreset("tf");
  streams.push_back(WithFields(streams.back()));
  streams.push_back(WithFields(Options()));
  streams.back().layout = BatchContent::kNone;
  streams.push_back(Options());
  streams.back().layout = BatchContent::kPixels;
  return streams;
}

std::vector<SlotCopy> SlotsOf(const FilledRange& range) {
  std::vector<SlotCopy> slots;
  for (int slot = 0; slot < range.size(); ++slot) {
    slots.push_back(SlotOf(range.batch(), static_cast<std::size_t>(slot)));
  }
  return slots;
}

// What a stream is, and what asks for it.
struct Expected {
  std::vector<SlotRequest> requests;
  std::vector<SlotCopy> slots;
};

// The slots of a stream's first batches, without padding.
Expected BasicStream(const InputOptions& given, int batches) {
  InputOptions options = given;
  options.graph = GraphKind::kBasic;
  InputPipeline pipeline(Index(), options);
  Expected expected;
  for (int i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    for (std::size_t slot = 0; slot < batch->records().size(); ++slot) {
      if (batch->positions()[slot] >= 0) {
        expected.requests.push_back({.epoch = batch->epoch,
                                     .position = batch->positions()[slot],
                                     .record = batch->records()[slot]});
        expected.slots.push_back(SlotOf(*batch, slot));
      }
    }
  }
  return expected;
}

bool Never() { return false; }

// A filler with what it needs, and a range for it.
class Filling {
 public:
  Filling(const RecordIndex& index, const InputOptions& options)
      : store_(index, {.image_key = StoreImageKey(options)}),
        seek_store_(index),
        filler_(store_, seek_store_, Resolved(options, index)),
        range_(filler_.options(), kMostSlots) {}

  // The slots, filled in pieces of `at_once`.
  std::vector<SlotCopy> Fill(std::span<const SlotRequest> requests,
                             std::size_t at_once) {
    std::vector<SlotCopy> all;
    while (!requests.empty()) {
      const std::size_t size = std::min(at_once, requests.size());
      EXPECT_TRUE(filler_.Fill(requests.first(size), Never, range_));
      EXPECT_EQ(range_.size(), static_cast<int>(size));
      EXPECT_EQ(range_.declined(), 0U);
      ExpectNothingInWork();
      std::ranges::move(SlotsOf(range_), std::back_inserter(all));
      requests = requests.subspan(size);
    }
    return all;
  }

  void ExpectNothingInWork() const {
    EXPECT_EQ(filler_.counters().waiting.depth(), 0);
    EXPECT_EQ(filler_.counters().in_flight.depth(), 0);
  }

  RangeFiller& filler() { return filler_; }
  FilledRange& range() { return range_; }

 private:
  RecordStore store_;
  SeekStore seek_store_;
  RangeFiller filler_;
  FilledRange range_;
};

// So many records in their order.
std::vector<SlotRequest> FirstRecords(int count) {
  std::vector<SlotRequest> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back({.epoch = 1, .position = 3 * i, .record = i});
  }
  return requests;
}

TEST(RangeFillerTest, FillsTheSlotsOfTheStream) {
  for (const InputOptions& options : Streams()) {
    const Expected expected = BasicStream(options, 5);
    ASSERT_GE(expected.slots.size(), 22U);
    Filling filling(Index(), options);
    EXPECT_EQ(filling.range().batch().content(), options.layout);
    for (const std::size_t at_once : {1, 5, kMostSlots}) {
      EXPECT_EQ(filling.Fill(expected.requests, at_once), expected.slots)
          << ChoiceName(options.preprocess.recipe, kRecipes) << " " << at_once;
    }
  }
}

TEST(RangeFillerTest, SlotsDependOnTheirRequestsAlone) {
  const InputOptions options = WithFields(Options());
  Expected expected = BasicStream(options, 5);
  std::ranges::reverse(expected.requests);
  std::ranges::reverse(expected.slots);
  Filling filling(Index(), options);
  EXPECT_EQ(filling.Fill(expected.requests, 7), expected.slots);
  // Another place of the same record is another slot.
  SlotRequest other = expected.requests[0];
  other.position += 100;
  EXPECT_NE(filling.Fill({&other, 1}, 1)[0].image, expected.slots[0].image);
}

constexpr int kBad = 9;
constexpr std::uint64_t kBadBit = std::uint64_t{1} << kBad;

std::string CutImage() {
  const std::string payload = TestPayload(kBad);
  const std::span<const std::byte> image =
      ParseImagenetExample(std::as_bytes(std::span(payload))).encoded;
  return {reinterpret_cast<const char*>(image.data()), image.size() - 20};
}

// Fills the first 16 records, of which one is of another payload: all others
// are as if it were good.
void ExpectOneDeclined(const RecordIndex& index, const InputOptions& options) {
  const TestShards good(TestPayloads(kRecords));
  const std::vector<SlotRequest> requests = FirstRecords(kMostSlots);
  const std::vector<SlotCopy> expected =
      Filling(good.index(), options).Fill(requests, kMostSlots);
  Filling filling(index, options);
  // The second time the range has been used.
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(filling.filler().Fill(requests, Never, filling.range()));
    EXPECT_EQ(filling.range().declined(), kBadBit);
    filling.ExpectNothingInWork();
    const std::vector<SlotCopy> slots = SlotsOf(filling.range());
    ASSERT_EQ(slots.size(), expected.size());
    for (int slot = 0; slot < kMostSlots; ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      EXPECT_TRUE(slot == kBad || slots[at] == expected[at]) << slot;
    }
  }
  const SlotRequest first = requests[0];
  EXPECT_EQ(filling.Fill({&first, 1}, 1)[0], expected[0]);
}

TEST(RangeFillerTest, DeclinesBadRecordsOfEachKind) {
  for (const std::string& payload :
       {std::string("\xff\xff\xff"),
        PayloadWithImage("\xff\xd8\xff\xe0 cut", kBad),
        PayloadWithImage("no image at all", kBad), PayloadWithImage("", kBad),
        PayloadWithImage(CutImage(), kBad),
        PayloadWithImage("\xff\xd8", std::int64_t{1} << 40)}) {
    std::vector<std::string> payloads = TestPayloads(kRecords);
    payloads[kBad] = payload;
    const TestShards shards(payloads);
    InputOptions options = Options(Recipe::kPlain);
    options.label_offset = 1;
    for (const OnBadRecord policy :
         {OnBadRecord::kFail, OnBadRecord::kReplace, OnBadRecord::kSkip}) {
      options.on_bad_record = policy;
      for (const bool lenient : {false, true}) {
        options.preprocess.lenient = lenient;
        ExpectOneDeclined(shards.index(), options);
      }
    }
  }
}

TEST(RangeFillerTest, CountsTheCutListsOfWhatItFills) {
  std::vector<std::string> payloads = Payloads();
  payloads[7] = PayloadWithImage("no image at all", 7) +
                ExtraInt64s("ids", std::vector<std::int64_t>{1, 2, 3});
  const TestShards shards(payloads);
  Filling filling(shards.index(), WithFields(Options()));
  EXPECT_TRUE(
      filling.filler().Fill(FirstRecords(kMostSlots), Never, filling.range()));
  EXPECT_EQ(filling.range().declined(), 1U << 7);
  EXPECT_EQ(filling.range().cut_lists(), 3);  // of records 3, 11 and 15
}

TEST(RangeFillerTest, DeclinesDamagedRecords) {
  InputOptions options = Options();
  options.label_offset = 1;
  TestShards shards(TestPayloads(kRecords));
  shards.Damage(kBad);
  ExpectOneDeclined(shards.index(), options);
  TestShards frames(TestPayloads(kRecords));
  frames.DamageHeader(kBad);
  ExpectOneDeclined(frames.index(), options);
}

// Nothing is said of other slots: whoever asked meets the error itself.
TEST(RangeFillerTest, DeclinesAllAfterAnErrorOfAFile) {
  const TestShards shards(TestPayloads(kRecords));
  InputOptions options = Options();
  options.label_offset = 1;
  Filling filling(shards.index(), options);
  ASSERT_TRUE(std::filesystem::remove(shards.index().shards()[0]));
  ASSERT_TRUE(filling.filler().Fill(FirstRecords(3), Never, filling.range()));
  EXPECT_EQ(filling.range().declined(), 7U);
  EXPECT_TRUE(filling.range().error());
  filling.ExpectNothingInWork();
}

TEST(RangeFillerTest, NotesNothingOfBadRecords) {
  TestShards shards(TestPayloads(kRecords));
  shards.Damage(1);
  InputOptions options = Options();
  options.label_offset = 1;
  options.on_bad = [](const BadRecord&) { ADD_FAILURE(); };
  options.bad_record_report = shards.folder() + "/report";
  Filling filling(shards.index(), options);
  ASSERT_TRUE(filling.filler().Fill(FirstRecords(3), Never, filling.range()));
  EXPECT_EQ(filling.range().declined(), 2U);
  EXPECT_FALSE(filling.range().error());
  EXPECT_FALSE(std::filesystem::exists(options.bad_record_report));
}

TEST(RangeFillerTest, StopsBetweenTwoSlots) {
  Filling filling(Index(), Options());
  const std::vector<SlotRequest> requests = FirstRecords(8);
  const std::vector<SlotCopy> expected = filling.Fill(requests, 8);
  int asked = 0;
  EXPECT_FALSE(filling.filler().Fill(
      requests, [&asked] { return ++asked == 3; }, filling.range()));
  EXPECT_EQ(asked, 3);
  const StageStats decoded = filling.filler().counters().decode.Read();
  EXPECT_EQ(decoded.items, 8 + 2);
  filling.ExpectNothingInWork();
  EXPECT_EQ(filling.Fill(requests, 8), expected);
}

}  // namespace infeed::range_filler_test
