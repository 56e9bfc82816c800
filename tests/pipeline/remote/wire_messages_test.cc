// Messages between a trainer and a worker, against protobuf's own code: what we
// write is what it writes, and what it writes we read.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/options/objects.h"
#include "pipeline/remote/fill_header.h"
#include "pipeline/remote/messages.h"
#include "records/bytes/little_endian.h"
#include "tests/support/bytes.h"
#include "tests/support/extra_feature.h"
#include "tests/support/worker.pb.h"

#include "gtest/gtest.h"

namespace infeed::wire_messages_test {

constexpr int kMessages = 300;  // of each kind

// Numbers of all lengths.
std::uint64_t MadeNumber(SampleRandom& draws) {
  const std::uint64_t bits = std::uint64_t{draws.Word()} << 32 | draws.Word();
  return bits >> draws.Below(64);
}

std::int64_t MadeCount(SampleRandom& draws) {
  return static_cast<std::int64_t>(MadeNumber(draws) >> 1);
}

std::string MadeText(SampleRandom& draws) {
  std::string text(draws.Below(200), '\0');
  for (char& byte : text) {
    byte = static_cast<char>(draws.Below(256));
  }
  return text;
}

std::string Tag(std::uint32_t field, std::uint32_t type) {
  return WireNumber(field << 3 | type);
}

// Fields that no message has: of each type; and number 1 of another type.
std::string UnknownFields() {
  return Tag(200, 0) + WireNumber(300) + Tag(200, 1) + "12345678" +
         WireText(200, "text") + Tag(200, 3) + WireText(1, "within") +
         Tag(200, 4) + Tag(200, 5) + "1234" + Tag(1, 5) + "1234";
}

template <typename Message>
std::string AmongUnknown(const Message& message) {
  return UnknownFields() + message.SerializeAsString() + UnknownFields();
}

OpenRequest MadeOpenRequest(SampleRandom& draws) {
  OpenRequest request = {
      .build = MadeText(draws),
      .pixels_version = static_cast<std::uint32_t>(MadeNumber(draws)),
      .data = MadeText(draws),
      .settings = std::vector<StateField>(draws.Below(4))};
  for (StateField& setting : request.settings) {
    setting = {.name = MadeText(draws), .value = MadeText(draws)};
  }
  return request;
}

WorkerOpenRequest TheirsOf(const OpenRequest& request) {
  WorkerOpenRequest theirs;
  theirs.set_build(request.build);
  theirs.set_pixels_version(request.pixels_version);
  theirs.set_data(request.data);
  for (const StateField& setting : request.settings) {
    WorkerSetting& added = *theirs.add_settings();
    added.set_name(setting.name);
    added.set_value(setting.value);
  }
  return theirs;
}

OpenReply MadeOpenReply(SampleRandom& draws) {
  OpenReply reply = {.key = MadeNumber(draws),
                     .credit = static_cast<int>(MadeCount(draws) >> 32),
                     .worker = MadeText(draws),
                     .differences = std::vector<std::string>(draws.Below(4))};
  for (std::string& difference : reply.differences) {
    difference = MadeText(draws);
  }
  return reply;
}

WorkerOpenReply TheirsOf(const OpenReply& reply) {
  WorkerOpenReply theirs;
  theirs.set_key(reply.key);
  theirs.set_credit(static_cast<std::uint32_t>(reply.credit));
  theirs.set_worker(reply.worker);
  for (const std::string& difference : reply.differences) {
    theirs.add_differences(difference);
  }
  return theirs;
}

FillRequest MadeFillRequest(SampleRandom& draws) {
  FillRequest request = {.key = MadeNumber(draws),
                         .slots = std::vector<SlotRequest>(1 + draws.Below(5))};
  for (SlotRequest& slot : request.slots) {
    slot = {.epoch = static_cast<std::uint32_t>(MadeNumber(draws)),
            .position = MadeCount(draws),
            .record = MadeCount(draws)};
  }
  return request;
}

WorkerFillRequest TheirsOf(const FillRequest& request) {
  WorkerFillRequest theirs;
  theirs.set_key(request.key);
  for (const SlotRequest& slot : request.slots) {
    WorkerSlot& added = *theirs.add_slots();
    added.set_epoch(slot.epoch);
    added.set_position(static_cast<std::uint64_t>(slot.position));
    added.set_record(static_cast<std::uint64_t>(slot.record));
  }
  return theirs;
}

// None if a number is larger than ours may be.
std::optional<FillRequest> OursOf(const WorkerFillRequest& theirs) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  FillRequest request = {.key = theirs.key()};
  for (const WorkerSlot& slot : theirs.slots()) {
    if (slot.position() > kMost || slot.record() > kMost) {
      return std::nullopt;
    }
    request.slots.push_back(
        {.epoch = slot.epoch(),
         .position = static_cast<std::int64_t>(slot.position()),
         .record = static_cast<std::int64_t>(slot.record())});
  }
  return request.slots.empty() ? std::nullopt : std::optional(request);
}

std::optional<FillRequest> Parsed(const std::string& bytes) {
  try {
    return ParseFillRequest(bytes);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

OpenReply ParsedReply(const std::string& bytes) {
  const std::vector<std::span<const std::byte>> pieces = {AsBytes(bytes)};
  return ParseOpenReply(pieces);
}

TEST(WireMessagesTest, OpenRequestsAreProtobufs) {
  SampleRandom draws({.seed = 1}, RandomStream::kMadeData);
  for (int i = 0; i < kMessages; ++i) {
    const OpenRequest ours = MadeOpenRequest(draws);
    WorkerOpenRequest theirs = TheirsOf(ours);
    EXPECT_EQ(Serialize(ours), theirs.SerializeAsString());
    EXPECT_EQ(ParseOpenRequest(Serialize(ours)), ours);
    for (WorkerSetting& setting : *theirs.mutable_settings()) {
      ASSERT_TRUE(setting.MergeFromString(UnknownFields()));
    }
    EXPECT_EQ(ParseOpenRequest(AmongUnknown(theirs)), ours);
  }
}

TEST(WireMessagesTest, OpenRepliesAreProtobufs) {
  SampleRandom draws({.seed = 2}, RandomStream::kMadeData);
  for (int i = 0; i < kMessages; ++i) {
    const OpenReply ours = MadeOpenReply(draws);
    const WorkerOpenReply theirs = TheirsOf(ours);
    EXPECT_EQ(Serialize(ours), theirs.SerializeAsString());
    EXPECT_EQ(ParsedReply(Serialize(ours)), ours);
    EXPECT_EQ(ParsedReply(AmongUnknown(theirs)), ours);
  }
}

TEST(WireMessagesTest, FillRequestsAreProtobufs) {
  SampleRandom draws({.seed = 3}, RandomStream::kMadeData);
  for (int i = 0; i < kMessages; ++i) {
    const FillRequest ours = MadeFillRequest(draws);
    WorkerFillRequest theirs = TheirsOf(ours);
    EXPECT_EQ(Serialize(ours), theirs.SerializeAsString());
    EXPECT_EQ(Parsed(Serialize(ours)), ours);
    for (WorkerSlot& slot : *theirs.mutable_slots()) {
      ASSERT_TRUE(slot.MergeFromString(UnknownFields()));
    }
    EXPECT_EQ(Parsed(AmongUnknown(theirs)), ours);
  }
}

// What protobuf still parses, we read as the same.
TEST(WireMessagesTest, ChangedBytesMeanWhatTheyMeanToProtobuf) {
  SampleRandom draws({.seed = 4}, RandomStream::kMadeData);
  int parsed = 0;
  int refused = 0;
  for (int i = 0; i < 10 * kMessages; ++i) {
    std::string bytes = Serialize(MadeFillRequest(draws));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    bytes[draws.Below(size)] = static_cast<char>(draws.Below(256));
    WorkerFillRequest theirs;
    if (!theirs.ParseFromString(bytes)) {
      ++refused;
      continue;
    }
    ++parsed;
    EXPECT_EQ(Parsed(bytes), OursOf(theirs)) << i;
  }
  EXPECT_GT(parsed, kMessages);
  EXPECT_GT(refused, kMessages);
}

// A stream with images, a view, boxes and lists of each kind.
InputOptions RichOptions() {
  return CheckedInputOptions(
      {.batch_size = 8,
       .preprocess = {.image_size = 16},
       .layout = BatchContent::kRgb,
       .label_key = "label",  // With objects the standard one is not read.
       .label_offset = 1,
       .fields = {{.key = "ints"},
                  {.key = "row", .shape = std::vector<std::int64_t>{3}},
                  {.key = "floats", .kind = FeatureKind::kFloat},
                  {.key = "texts", .kind = FeatureKind::kBytes}},
       .objects = {.boxes = {"boxes"}},
       .views = {{.preprocess = {.image_size = 8}}}});
}

struct MadeHeader {
  FillHeader ours;
  WorkerFillHeader theirs;
};

void AddGeometry(SampleRandom& draws, MadeHeader& made) {
  std::vector<Geometry>& ours = made.ours.geometry.emplace_back();
  for (int view = 0; view < 2; ++view) {
    std::vector<int> numbers(12);
    for (int& number : numbers) {
      number = static_cast<int>(draws.Below(1000)) - 500;
    }
    numbers[10] = static_cast<int>(draws.Below(4));
    ours.push_back({.source = {numbers[0], numbers[1]},
                    .window = {.y = numbers[2],
                               .x = numbers[3],
                               .height = numbers[4],
                               .width = numbers[5]},
                    .resized = {numbers[6], numbers[7]},
                    .y = numbers[8],
                    .x = numbers[9],
                    .is_mirrored = numbers[10] % 2 == 1,
                    .is_upside_down = numbers[10] / 2 == 1,
                    .padding = static_cast<std::int16_t>(numbers[11])});
    made.theirs.mutable_geometry()->Add(numbers.begin(), numbers.end());
  }
}

std::vector<float> MadeFloats(std::size_t count, SampleRandom& draws) {
  std::vector<float> floats(count);
  for (float& number : floats) {
    number = draws.Real() - 0.5F;
  }
  return floats;
}

// Lists as RichOptions() has fields, then boxes.
void AddLists(SampleRandom& draws, MadeHeader& made) {
  WorkerFillHeader& theirs = made.theirs;
  std::vector<FieldColumn>& lists = made.ours.lists.emplace_back(5);
  for (const std::size_t list : {0, 2, 3}) {
    const std::uint32_t count = draws.Below(4);
    lists[list].offsets.push_back(count);
    theirs.add_counts(count);
    for (std::uint32_t i = 0; i < count && list == 0; ++i) {
      lists[0].int64s.push_back(static_cast<std::int64_t>(MadeNumber(draws)));
      theirs.add_int64s(lists[0].int64s.back());
    }
    for (std::uint32_t i = 0; i < count && list == 3; ++i) {
      const std::string text = MadeText(draws);
      lists[3].bytes += text;
      lists[3].byte_offsets.push_back(std::ssize(lists[3].bytes));
      theirs.add_byte_counts(static_cast<std::uint32_t>(text.size()));
      theirs.mutable_bytes()->append(text);
    }
    if (list == 2) {
      lists[2].floats = MadeFloats(count, draws);
    }
  }
  const std::uint32_t boxes = draws.Below(3);
  lists[4].floats = MadeFloats(std::size_t{4} * boxes, draws);
  theirs.add_counts(boxes);
  for (const std::size_t list : {2, 4}) {
    theirs.mutable_floats()->Add(lists[list].floats.begin(),
                                 lists[list].floats.end());
  }
}

MadeHeader MakeHeader(std::uint32_t slots, SampleRandom& draws) {
  MadeHeader made;
  FillHeader& ours = made.ours;
  WorkerFillHeader& theirs = made.theirs;
  ours.note = {.credit = static_cast<int>(draws.Below(1000)),
               .cpu_nanoseconds = MadeCount(draws),
               .cut_lists = static_cast<int>(draws.Below(100))};
  ours.declined = draws.Below(1U << slots);
  theirs.set_slots(slots);
  theirs.set_declined(ours.declined);
  theirs.set_credit(static_cast<std::uint32_t>(ours.note.credit));
  theirs.set_cpu_nanoseconds(
      static_cast<std::uint64_t>(ours.note.cpu_nanoseconds));
  theirs.set_cut_lists(static_cast<std::uint32_t>(ours.note.cut_lists));
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    ours.labels.push_back(
        ours.is_declined(slot) ? -1 : static_cast<int>(draws.Below(100000)));
    ours.sums.push_back(draws.Word());
    ours.fingerprints.push_back(MadeNumber(draws));
    theirs.add_fingerprints(ours.fingerprints.back());
    theirs.add_labels(ours.labels.back());
    theirs.add_sums(ours.sums.back());
    AddGeometry(draws, made);
    AddLists(draws, made);
  }
  return made;
}

void ExpectSame(const FillHeader& a, const FillHeader& b) {
  EXPECT_EQ(a.note.credit, b.note.credit);
  EXPECT_EQ(a.note.cpu_nanoseconds, b.note.cpu_nanoseconds);
  EXPECT_EQ(a.note.cut_lists, b.note.cut_lists);
  EXPECT_EQ(a.declined, b.declined);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.sums, b.sums);
  EXPECT_EQ(a.fingerprints, b.fingerprints);
  EXPECT_TRUE(a.geometry == b.geometry);
  EXPECT_TRUE(a.lists == b.lists);
}

TEST(WireMessagesTest, HeadersOfRepliesAreProtobufs) {
  SampleRandom draws({.seed = 5}, RandomStream::kMadeData);
  const InputOptions options = RichOptions();
  for (int i = 0; i < kMessages; ++i) {
    const std::uint32_t slots = 1 + draws.Below(6);
    const MadeHeader made = MakeHeader(slots, draws);
    const std::string bytes = Serialize(made.ours, options.fields);
    EXPECT_EQ(bytes, made.theirs.SerializeAsString());
    ExpectSame(ParseFillHeader(bytes, options, slots), made.ours);
    ExpectSame(ParseFillHeader(AmongUnknown(made.theirs), options, slots),
               made.ours);
  }
}

// As protobuf allows it, with a tag for each number.
TEST(WireMessagesTest, ListsOfNumbersMayBeUnpacked) {
  InputOptions options = {.layout = BatchContent::kNone};
  options.require_labels = false;  // They are not read.
  options.fields = {{.key = "ints"}};
  options = CheckedInputOptions(options);
  WorkerFillHeader theirs;
  theirs.set_slots(2);
  theirs.set_declined(1);
  std::string bytes = theirs.SerializeAsString();
  for (const std::uint64_t sint : {9, 1}) {  // -5 and -1
    bytes += Tag(5, 0) + WireNumber(sint);
  }
  for (const std::uint32_t sum : {7U, 0xFFFFFFFFU}) {
    bytes += Tag(6, 5);
    AppendLittleEndian(bytes, sum, sizeof sum);
  }
  bytes += Tag(8, 0) + WireNumber(2) + WireText(8, std::string(3, '\0'));
  for (const std::uint64_t number : {std::uint64_t{7}, ~std::uint64_t{6}}) {
    bytes += Tag(9, 1);
    AppendLittleEndian(bytes, number, sizeof number);
  }
  for (const std::uint64_t fingerprint :
       {~std::uint64_t{0}, std::uint64_t{3}}) {
    bytes += Tag(14, 1);
    AppendLittleEndian(bytes, fingerprint, sizeof fingerprint);
  }
  ASSERT_TRUE(theirs.ParseFromString(bytes));
  const FillHeader ours = ParseFillHeader(bytes, options, 2);
  EXPECT_EQ(ours.labels, (std::vector<std::int32_t>{-5, -1}));
  EXPECT_EQ(ours.fingerprints,
            (std::vector<std::uint64_t>{~std::uint64_t{0}, 3}));
  EXPECT_EQ(ours.lists[0][0].int64s, (std::vector<std::int64_t>{7, -7}));
  EXPECT_EQ(Serialize(ours, options.fields), theirs.SerializeAsString());
}

}  // namespace infeed::wire_messages_test
