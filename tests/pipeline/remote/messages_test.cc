#include "pipeline/remote/messages.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/options/objects.h"
#include "pipeline/options/views.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/slots/range_filler.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"
#include "tests/support/bytes.h"
#include "tests/support/extra_feature.h"
#include "tests/support/grey_png.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::messages_test {

constexpr int kRecords = 5;
constexpr int kSide = 16;

// Photographs with all that a slot can have: a mask, boxes, lists and arrays.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    // As TestPayload() makes its photographs.
    const ImageSize size(36 + static_cast<int>(i), 40 + static_cast<int>(i));
    std::vector<std::uint8_t> levels(size.pixels());
    std::iota(levels.begin(), levels.end(), std::uint8_t{0});
    payloads[i] +=
        ExtraBox() + ExtraBytes("mask", {GreyPng(size, levels)}) +
        ExtraInt64s("list", std::vector<std::int64_t>(i, -number)) +
        ExtraFloats("floats",
                    {std::numeric_limits<float>::quiet_NaN(), -0.0F}) +
        ExtraBytes("texts", {"", std::string(i, 'x'), "\xFF"}) +
        ExtraInt64s("pair", {number, 300});
  }
  return payloads;
}

InputOptions Plain(BatchContent layout) {
  return {.batch_size = kRecords,
          .preprocess = {.image_size = kSide},
          .layout = layout,
          .training = false,
          .label_offset = 1};
}

std::vector<FieldSpec> Fields() {
  return {{.key = "list"},
          {.key = "pair",
           .shape = std::vector<std::int64_t>{3},
           .type = ItemType::kInt16,
           .pad = std::string("\1\2", 2)},
          {.key = "floats", .kind = FeatureKind::kFloat},
          {.key = "texts", .kind = FeatureKind::kBytes}};
}

// All contents of a slot at once.
InputOptions Rich(BatchContent layout) {
  InputOptions options = Plain(layout);
  options.training = true;
  options.fields = Fields();
  options.objects = ObjectsPreset("tf");
  options.views = {{.preprocess = {.image_size = 8}},
                   {.key = "mask",
                    .preprocess = {.image_size = kSide},
                    .draws = 0,
                    .content = ViewContent::kLabels8},
                   {.key = "mask",
                    .preprocess = {.image_size = kSide},
                    .draws = 0,
                    .content = ViewContent::kLabels32}};
  return options;
}

InputOptions WithoutImages() {
  InputOptions options = Plain(BatchContent::kNone);
  options.fields = Fields();
  options.require_labels = false;  // They are not read.
  return options;
}

// As the worker has them.
InputOptions AtWorker(InputOptions options) {
  if (options.layout == BatchContent::kPixels) {
    options.layout = BatchContent::kRgb;
  }
  return options;
}

using Bytes = std::vector<std::byte>;

Bytes Joined(const std::vector<RpcPiece>& pieces) {
  Bytes bytes;
  for (const RpcPiece& piece : pieces) {
    bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  return bytes;
}

// A message cut into pieces of so many bytes, each in memory of its own, so
// that a byte too far is found by AddressSanitizer.
class Cut {
 public:
  explicit Cut(const Bytes& bytes, std::size_t piece = 1000) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      memory_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(
                                              piece, bytes.size() - at)));
    }
    for (const Bytes& one : memory_) {
      pieces_.emplace_back(one);
    }
  }

  [[nodiscard]] RpcPieces pieces() const { return pieces_; }

 private:
  std::vector<Bytes> memory_;
  std::vector<std::span<const std::byte>> pieces_;
};

class FillReplyTest : public ::testing::Test {
 protected:
  // A worker's range of the first records.
  static std::shared_ptr<FilledRange> Fill(const InputOptions& options,
                                           const RecordIndex& index,
                                           int slots = kRecords) {
    const RecordStore store(index, {.image_key = StoreImageKey(options)});
    const SeekStore seek_store(index);
    RangeFiller filler(store, seek_store, AtWorker(options));
    auto range = std::make_shared<FilledRange>(filler.options(), kRecords);
    std::vector<SlotRequest> requests;
    for (int slot = 0; slot < slots; ++slot) {
      requests.push_back({.epoch = 0, .position = slot, .record = slot});
    }
    EXPECT_TRUE(filler.Fill(
        requests, [] { return false; }, *range));
    return range;
  }

  static std::shared_ptr<FilledRange> Fill(const InputOptions& options,
                                           int slots = kRecords) {
    return Fill(options, shards().index(), slots);
  }

  static const TestShards& shards() {
    static const TestShards made(Payloads());
    return made;
  }

  static Bytes Reply(const InputOptions& options) {
    return Joined(FillReplyOf(Fill(options), kNote));
  }

  static std::string Refusal(const InputOptions& options, const Bytes& reply,
                             int slots = kRecords) {
    return MessageOf<DataError>([&] {
      const Cut cut(reply);
      const FilledSlots filled(options, slots, cut.pieces(), true);
    });
  }

  // The batch that a reply makes in the stream's layout.
  static BatchCopy Written(const InputOptions& options, FilledSlots& filled) {
    BatchPool pool(1, BatchSpecOf(options));
    OpenBatch open;
    WriteAll(filled, pool, open);
    return CopyOf(*open.TakeBatch());
  }

  static void WriteAll(FilledSlots& filled, BatchPool& pool, OpenBatch& open) {
    Begin(pool, open);
    for (int slot = 0; slot < kRecords; ++slot) {
      EXPECT_TRUE(filled.Write(open, slot, static_cast<std::size_t>(slot)));
    }
    open.GatherFields();
  }

  static void Begin(BatchPool& pool, OpenBatch& open) {
    const PlannedBatch planned = {.plan = {.samples = kRecords},
                                  .records = {0, 1, 2, 3, 4}};
    open.Begin(0, planned, pool.Take());
  }

  static constexpr FillNote kNote = {.credit = 5, .cpu_nanoseconds = 1 << 30};
};

// What the stream itself makes of the records.
TEST_F(FillReplyTest, MakesTheBatchesOfTheStream) {
  for (const BatchContent layout :
       {BatchContent::kPixels, BatchContent::kRgb}) {
    for (const InputOptions& options : {Plain(layout), Rich(layout)}) {
      InputOptions checked = CheckedInputOptions(options);
      checked.shuffle = Shuffle::kNone;
      checked.graph = GraphKind::kBasic;  // ThreadSanitizer knows no oneTBB.
      const BatchCopy stream = Stream(shards().index(), checked, 1).front();
      const Bytes reply = Reply(checked);
      for (const std::size_t piece : {1, 7, 1000, 1 << 20}) {
        const Cut cut(reply, piece);
        FilledSlots filled(checked, kRecords, cut.pieces(), true);
        EXPECT_EQ(filled.note().credit, kNote.credit);
        EXPECT_EQ(filled.note().cpu_nanoseconds, kNote.cpu_nanoseconds);
        const BatchCopy batch = Written(checked, filled);
        EXPECT_EQ(batch.pixels, stream.pixels);
        EXPECT_EQ(batch.rgb, stream.rgb);
        EXPECT_EQ(batch.labels, stream.labels);
        EXPECT_EQ(batch.weights, stream.weights);
        EXPECT_EQ(batch.fixed, stream.fixed);
        EXPECT_EQ(batch.lengths, stream.lengths);
        EXPECT_EQ(batch.views, stream.views);
        EXPECT_EQ(filled.wrong_sums(), 0);
      }
    }
  }
}

// Lists, boxes and geometry are those of the worker's own batch.
TEST_F(FillReplyTest, CarriesListsBoxesAndGeometry) {
  for (const InputOptions& given :
       {Rich(BatchContent::kPixels), WithoutImages()}) {
    const InputOptions options = CheckedInputOptions(given);
    const auto range = Fill(options);
    const Cut cut(Joined(FillReplyOf(range, kNote)), 7);
    FilledSlots filled(options, kRecords, cut.pieces(), true);
    ASSERT_EQ(filled.declined(), 0U);
    BatchPool pool(1, BatchSpecOf(options));
    OpenBatch open;
    WriteAll(filled, pool, open);
    const Batch& there = range->batch();
    const Batch& here = open.batch();
    EXPECT_EQ(here.boxes(), there.boxes());
    EXPECT_EQ(here.boxes().xyxy.empty(), !options.objects.is_on());
    ASSERT_EQ(here.fields().size(), there.fields().size());
    for (std::size_t i = 0; i < here.fields().size(); ++i) {
      const FieldColumn& column = there.fields()[i];
      EXPECT_EQ(here.fields()[i].offsets, column.offsets);
      EXPECT_EQ(here.fields()[i].int64s, column.int64s);
      EXPECT_EQ(here.fields()[i].bytes, column.bytes);
      EXPECT_EQ(here.fields()[i].byte_offsets, column.byte_offsets);
      EXPECT_TRUE(
          std::ranges::equal(std::as_bytes(std::span(here.fields()[i].floats)),
                             std::as_bytes(std::span(column.floats))));
    }
    for (std::size_t view = 0; view <= options.views.size(); ++view) {
      EXPECT_TRUE(
          std::ranges::equal(here.geometry(view), there.geometry(view)));
    }
    for (std::size_t slot = 0; slot < kRecords; ++slot) {
      EXPECT_EQ(filled.Difference(slot, *range), "");
    }
  }
}

TEST_F(FillReplyTest, FewerSlotsThanTheRangeHasRoomFor) {
  const InputOptions options = CheckedInputOptions(Rich(BatchContent::kRgb));
  const auto range = Fill(options, 2);
  const Bytes reply = Joined(FillReplyOf(range, kNote));
  EXPECT_LE(std::ssize(reply), MostReplyBytes(options, 2));
  const Cut cut(reply);
  const FilledSlots filled(options, 2, cut.pieces(), true);
  EXPECT_EQ(filled.Difference(1, *range), "");
  EXPECT_THAT(Refusal(options, reply, 3), HasSubstr("bytes of slots"));
}

TEST_F(FillReplyTest, ADeclinedSlotIsNotWritten) {
  TestShards damaged(Payloads());
  damaged.Damage(2);
  const InputOptions options = CheckedInputOptions(Rich(BatchContent::kPixels));
  const auto range = Fill(options, damaged.index());
  const Cut cut(Joined(FillReplyOf(range, kNote)));
  FilledSlots filled(options, kRecords, cut.pieces(), true);
  EXPECT_EQ(filled.declined(), 1U << 2);
  BatchPool pool(1, BatchSpecOf(options));
  OpenBatch open;
  Begin(pool, open);
  EXPECT_FALSE(filled.Write(open, 2, 2));
  EXPECT_TRUE(filled.Write(open, 3, 3));
  EXPECT_EQ(filled.wrong_sums(), 0);
}

TEST_F(FillReplyTest, ADamagedSlotIsFoundByItsSum) {
  const InputOptions options = CheckedInputOptions(Rich(BatchContent::kPixels));
  Bytes reply = Reply(options);
  // The first byte of the body is a pixel of slot 0.
  const std::size_t body =
      static_cast<std::size_t>(kRecords) *
      (kSide * kSide * 3 + 8 * 8 * 3 + kSide * kSide * 5 + 6 + 8);
  reply[reply.size() - body] ^= std::byte{1};
  for (const bool verify : {false, true}) {
    const Cut cut(reply);
    FilledSlots filled(options, kRecords, cut.pieces(), verify);
    BatchPool pool(1, BatchSpecOf(options));
    OpenBatch open;
    Begin(pool, open);
    EXPECT_EQ(filled.Write(open, 0, 0), !verify);
    EXPECT_TRUE(filled.Write(open, 1, 1));
    EXPECT_EQ(filled.wrong_sums(), verify ? 1 : 0);
    EXPECT_EQ(filled.Difference(0, *Fill(options)), "the pixels differ");
  }
}

TEST_F(FillReplyTest, NamesWhatDiffers) {
  const InputOptions options = CheckedInputOptions(Rich(BatchContent::kPixels));
  const auto range = Fill(options);
  const Cut cut(Joined(FillReplyOf(range, kNote)));
  const FilledSlots filled(options, kRecords, cut.pieces(), true);
  InputOptions other = options;
  other.views[0].preprocess.random_flip = false;
  other.views[0].preprocess.augment.brightness = 1;
  EXPECT_THAT(filled.Difference(1, *Fill(other)), HasSubstr("view 1 differs"));
  other = options;
  other.fields[1].pad = std::string("\3\2", 2);
  EXPECT_EQ(filled.Difference(1, *Fill(other)), "field 'pair' differs");
  other = options;
  other.objects.is_normalized = false;
  EXPECT_NE(filled.Difference(1, *Fill(other)), "");
  other = options;
  other.seed = 1;
  EXPECT_NE(filled.Difference(1, *Fill(other)), "");
  other = options;
  other.input_hash = InputHash::kPixels;
  EXPECT_THAT(filled.Difference(1, *Fill(other)),
              HasSubstr("fingerprint differs"));
}

TEST_F(FillReplyTest, EachTruncatedReplyIsRefused) {
  for (const InputOptions& given :
       {Rich(BatchContent::kRgb), WithoutImages()}) {
    const InputOptions options = CheckedInputOptions(given);
    Bytes reply = Reply(options);
    ASSERT_EQ(Refusal(options, reply), "");
    const std::size_t size = reply.size();
    for (std::size_t bytes = 0; bytes < size;
         bytes += bytes < 2000 || bytes + 10 > size ? 1 : 997) {
      const Bytes part(reply.begin(),
                       reply.begin() + static_cast<std::ptrdiff_t>(bytes));
      EXPECT_NE(Refusal(options, part), "") << bytes;
    }
    reply.push_back({});
    EXPECT_THAT(Refusal(options, reply), HasSubstr("bytes of slots"));
  }
}

// In the header each flipped bit is found; of the body nothing is used whose
// sum is wrong.
TEST_F(FillReplyTest, FlippedBytesAreFound) {
  const InputOptions options = CheckedInputOptions(WithoutImages());
  const Bytes good = Reply(options);
  const std::size_t body = static_cast<std::size_t>(kRecords) * (6 + 8);
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes reply = good;
    reply[at] ^= std::byte{0x41};
    if (at + body < good.size()) {
      EXPECT_NE(Refusal(options, reply), "") << at;
      continue;
    }
    const Cut cut(reply);
    try {
      FilledSlots filled(options, kRecords, cut.pieces(), true);
      BatchPool pool(1, BatchSpecOf(options));
      OpenBatch open;
      Begin(pool, open);
      for (int slot = 0; slot < kRecords; ++slot) {
        (void)filled.Write(open, slot, static_cast<std::size_t>(slot));
      }
      EXPECT_EQ(filled.wrong_sums(), 1) << at;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("pair")) << at;
    }
  }
}

// A whole reply, but of a stream with other options.
TEST_F(FillReplyTest, RepliesOfOtherStreamsAreRefused) {
  const InputOptions rich = CheckedInputOptions(Rich(BatchContent::kRgb));
  const Bytes reply = Reply(rich);
  const auto refused = [&](const std::function<void(InputOptions&)>& change) {
    InputOptions options = rich;
    change(options);
    return Refusal(options, reply);
  };
  EXPECT_NE(refused([](InputOptions& o) { o.preprocess.image_size = 8; }), "");
  EXPECT_NE(refused([](InputOptions& o) { o.views.pop_back(); }), "");
  EXPECT_NE(refused([](InputOptions& o) { o.layout = BatchContent::kNone; }),
            "");
  EXPECT_NE(refused([](InputOptions& o) { o.fields.erase(o.fields.begin()); }),
            "");
  EXPECT_NE(
      refused([](InputOptions& o) { o.fields[0].kind = FeatureKind::kFloat; }),
      "");
  EXPECT_THAT(refused([](InputOptions& o) { o.objects = {}; }),
              HasSubstr("lists"));
  // The limit of a record's values.
  EXPECT_THAT(refused([](InputOptions& o) { o.max_field_bytes = -16384 + 40; }),
              HasSubstr("lists"));
  const InputOptions plain = CheckedInputOptions(Plain(BatchContent::kRgb));
  InputOptions fewer = plain;
  fewer.num_label_classes = kRecords - 1;
  EXPECT_EQ(Refusal(plain, Reply(plain)), "");
  EXPECT_EQ(Refusal(fewer, Reply(plain)),
            "a worker's reply has the label " + std::to_string(kRecords - 1));
}

// Nothing is allocated by what a reply says alone.
TEST_F(FillReplyTest, ALengthIsCheckedBeforeMemoryIsTaken) {
  const InputOptions options = CheckedInputOptions(WithoutImages());
  const auto reply = [](std::string_view text) {
    const auto bytes = AsBytes(text);
    return Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_THAT(
      Refusal(options, reply("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F")),
      HasSubstr("a header of"));
  EXPECT_THAT(Refusal(options, reply("\x0A\x81\x80\x80\x80\x80\x80\x80\x80"
                                     "\x80\x80\x80")),
              HasSubstr("a length"));
  EXPECT_THAT(Refusal(options, reply("\x0A\x05 abc")), HasSubstr("too early"));
  EXPECT_THAT(Refusal(options, reply("\x12")), HasSubstr("other fields"));
  EXPECT_NE(Refusal(options, {}), "");
}

TEST_F(FillReplyTest, NoReplyIsLargerThanTheLargest) {
  for (const InputOptions& given :
       {Plain(BatchContent::kPixels), Rich(BatchContent::kRgb),
        WithoutImages()}) {
    const InputOptions options = CheckedInputOptions(given);
    const std::int64_t most = MostReplyBytes(options, kRecords);
    EXPECT_GE(most, std::ssize(Reply(options)));
    EXPECT_LE(most, std::ssize(Reply(options)) +
                        kRecords * (RaggedBytes(options) + 1000));
  }
}

// The memory of the range is sent as it is, and kept until then.
TEST_F(FillReplyTest, SlotsAreNotCopied) {
  auto range = Fill(CheckedInputOptions(Plain(BatchContent::kRgb)));
  const std::weak_ptr<FilledRange> kept = range;
  const void* const memory = range->batch().rgb().data();
  std::vector<RpcPiece> pieces = FillReplyOf(std::move(range), kNote);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].bytes.data(), memory);
  EXPECT_EQ(kept.use_count(), 1);
  pieces.clear();
  EXPECT_TRUE(kept.expired());
}

TEST(WorkerMessagesTest, OpenRepliesComeBackFromAnyPieces) {
  const OpenReply reply = {.key = 0x8000000000000001,
                           .credit = 3,
                           .worker = "w\xFF",
                           .differences = {"seed is 1 here, 2 there", ""}};
  const std::string text = Serialize(reply);
  const auto bytes = AsBytes(text);
  for (const std::size_t piece : {1, 7, 1000}) {
    const Cut cut(Bytes(bytes.begin(), bytes.end()), piece);
    EXPECT_EQ(ParseOpenReply(cut.pieces()), reply);
  }
  const Bytes large(static_cast<std::size_t>(kMaxRequestBytes) + 1);
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)ParseOpenReply(Cut(large).pieces()); }),
      HasSubstr("too large"));
}

TEST(WorkerMessagesTest, OtherMessagesAreRefused) {
  const auto refusal = [](std::string_view bytes) {
    return MessageOf<DataError>([&] { (void)ParseFillRequest(bytes); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("0 slots"));
  FillRequest request = {.slots = std::vector<SlotRequest>(65)};
  EXPECT_THAT(refusal(Serialize(request)), HasSubstr("65 slots"));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  request = {.key = std::numeric_limits<std::uint64_t>::max(),
             .slots = std::vector<SlotRequest>(64, {~0U, kMost, kMost})};
  EXPECT_EQ(refusal(Serialize(request)), "");
  EXPECT_LT(std::ssize(Serialize(request)), kMaxRequestBytes);
  request.slots = {{.position = -1}};
  EXPECT_THAT(refusal(Serialize(request)), HasSubstr("position"));
  request.slots = {{.record = -1}};
  EXPECT_THAT(refusal(Serialize(request)), HasSubstr("record"));
  EXPECT_THAT(refusal("\xFF\xFF"), HasSubstr("not such a message"));
  EXPECT_THAT(MessageOf<DataError>([] { (void)ParseOpenRequest("\x0A\x7F"); }),
              HasSubstr("not such a message"));
  // Of a later version.
  OpenRequest open = {.build = "2"};
  EXPECT_EQ(ParseOpenRequest(Serialize(open) + WireText(99, "new")), open);
}

}  // namespace infeed::messages_test
