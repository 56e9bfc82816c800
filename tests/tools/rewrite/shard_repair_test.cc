#include "tools/rewrite/shard_repair.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/packed_payload.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

using Random = std::mt19937;

constexpr std::int64_t kMaxBytes = 1 << 24;

std::size_t Below(Random& random, std::size_t n) { return random() % n; }

std::string RandomBytes(Random& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(1 + random() % 255);
  }
  return bytes;
}

std::string Frame(const std::string& payload) {
  return RecordFile().Add(payload).bytes();
}

// Damages the bytes of one frame in a random way.
void Damage(Random& random, std::string& frame) {
  const std::size_t place = Below(random, frame.size());
  const std::size_t count = 1 + Below(random, frame.size() - place);
  switch (Below(random, 5)) {
    case 0:
      frame[place] ^= static_cast<char>(1 << Below(random, 8));
      break;
    case 1:
      frame.erase(place, count);
      break;
    case 2:
      frame.replace(place, count, count, '\0');
      break;
    case 3:
      frame.insert(place, RandomBytes(random, 1 + Below(random, 40)));
      break;
    default:
      frame.replace(place, count, RandomBytes(random, count));
  }
}

// A damaged shard, and the records in it that nothing happened to.
struct DamagedShard {
  std::string bytes;
  std::vector<std::string> good;
};

DamagedShard MakeDamagedShard(Random& random) {
  DamagedShard shard;
  const std::size_t count = Below(random, 200);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string payload = RandomBytes(random, Below(random, 300));
    const std::string frame = Frame(payload);
    std::string piece = frame;
    if (Below(random, 4) == 0) {
      Damage(random, piece);
    }
    if (Below(random, 10) == 0) {
      shard.bytes += RandomBytes(random, Below(random, 50));
    }
    if (i + 1 == count && Below(random, 3) == 0) {
      piece.resize(Below(random, piece.size()));
    }
    shard.bytes += piece;
    // Bytes put before a frame do not damage it.
    if (piece.find(frame) != std::string::npos) {
      shard.good.push_back(payload);
    }
  }
  return shard;
}

std::string Image(std::string_view encoded) {
  return BuildImagenetExample({.label = 1, .encoded = encoded});
}

class ShardRepairTest : public ::testing::Test {
 protected:
  ShardRepairReport Repair(const RepairOptions& options) {
    std::filesystem::remove(paths_.bad);
    return RepairShard(std::make_unique<FileSource>(input_),
                       std::make_unique<FileSource>(input_), paths_, options,
                       [] {});
  }
  ShardRepairReport RepairBytes(const std::string& bytes,
                                const RepairOptions& options) {
    WriteFileAtomically(input_, bytes);
    return Repair(options);
  }
  [[nodiscard]] std::string BadBytes() const {
    return std::filesystem::exists(paths_.bad)
               ? ReadWholeFile(paths_.bad, kMaxBytes)
               : "";
  }
  // The shard again, from its good records and the bytes put aside.
  [[nodiscard]] std::string Joined(const ShardRepairReport& report) const {
    const std::string bad = BadBytes();
    std::string bytes;
    std::size_t next = 0;
    const auto take_bad = [&] {
      while (next < report.bad.size() &&
             report.bad[next].offset ==
                 static_cast<std::int64_t>(bytes.size())) {
        const BadPlace& place = report.bad[next++];
        bytes += bad.substr(static_cast<std::size_t>(place.bad_file_offset),
                            static_cast<std::size_t>(place.bytes));
      }
    };
    for (const std::string& payload : ReadPayloads(paths_.good)) {
      take_bad();
      bytes += Frame(payload);
    }
    take_bad();
    return next == report.bad.size() ? bytes : "not all bad places are reached";
  }

  const TemporaryFolder folder_;
  const std::string input_ = folder_ / "in";
  const RepairPaths paths_ = {.good = folder_ / "good",
                              .bad = folder_ / "bad",
                              .bad_list = folder_ / "bad.json"};
};

constexpr RepairOptions kFrames = {.parse_examples = false};

TEST_F(ShardRepairTest, KeepsEveryUndamagedRecordOnceAndInOrderPackedOrNot) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const DamagedShard shard = MakeDamagedShard(random);
    const ShardRepairReport report = RepairBytes(shard.bytes, kFrames);
    ASSERT_TRUE(ReadPayloads(paths_.good) == shard.good);
    ASSERT_TRUE(Joined(report) == shard.bytes);
    ASSERT_EQ(report.shard.records,
              static_cast<std::int64_t>(shard.good.size()));
    ASSERT_EQ(report.bad_bytes(), static_cast<std::int64_t>(BadBytes().size()));
    WritePacked(input_, shard.bytes);
    const ShardRepairReport packed = Repair(kFrames);
    ASSERT_TRUE(ReadPayloads(paths_.good) == shard.good);
    ASSERT_TRUE(Joined(packed) == shard.bytes);
  }
}

TEST_F(ShardRepairTest, SavesWhatCanBeUnpackedOfABrokenStream) {
  Random random(7);
  RecordFile file;
  for (int i = 0; i < 2000; ++i) {
    file.Add(RandomBytes(random, 200));
  }
  std::string packed =
      ReadWholeFile(WritePacked(input_, file.bytes()), kMaxBytes);
  packed.resize(packed.size() / 2);
  const ShardRepairReport report = RepairBytes(packed, kFrames);
  EXPECT_GT(report.shard.records, 500);
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_THAT(report.bad[0].reason, HasSubstr("cannot be unpacked"));
  const std::string joined = Joined(report);
  EXPECT_EQ(joined, file.bytes().substr(0, joined.size()));
}

TEST_F(ShardRepairTest, ReadsOnBehindTheFirstOfJoinedStreams) {
  for (const Compression kind : {Compression::kGzip, Compression::kZlib}) {
    const auto pack = [&](const std::string& bytes) {
      return ReadWholeFile(WritePacked(input_, bytes, kind), kMaxBytes);
    };
    const std::string first = RecordFile().Add("a").FlipByte(3).bytes();
    const std::string second = Frame("b") + "rest";
    const ShardRepairReport report =
        RepairBytes(pack(first) + pack(second), kFrames);
    EXPECT_THAT(ReadPayloads(paths_.good), ElementsAre("b"));
    EXPECT_EQ(Joined(report), first + second);
  }
}

TEST_F(ShardRepairTest, TakesRecordsThatAreNoExamplesForBad) {
  const std::string good = Image("not a JPEG");
  const std::string bytes = RecordFile().Add(good).Add("no Example").bytes();
  ShardRepairReport report = RepairBytes(bytes, {});
  EXPECT_THAT(ReadPayloads(paths_.good), ElementsAre(good));
  EXPECT_EQ(BadBytes(), Frame("no Example"));
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_EQ(report.bad[0].lost, (RecordRange{1, 1}));

  const std::string jpeg = TestJpeg({});
  const std::string image = Image(jpeg);
  report =
      RepairBytes(RecordFile().Add(good).Add(image).bytes(), {.decode = true});
  EXPECT_THAT(ReadPayloads(paths_.good), ElementsAre(image));
}

TEST_F(ShardRepairTest, KeepsPixelsThatAreReady) {
  const std::string good = PackedPayload(1, 4);
  // The record with another height has too few pixels.
  const std::string pixels(4 * 4 * 4, 'x');
  const std::string bad =
      BuildImagenetExample({.height = 5, .width = 4, .packed = pixels});
  const std::string bytes = RecordFile().Add(good).Add(bad).bytes();
  for (const bool decode : {false, true}) {
    const ShardRepairReport report = RepairBytes(bytes, {.decode = decode});
    EXPECT_THAT(ReadPayloads(paths_.good), ElementsAre(good)) << decode;
    EXPECT_EQ(report.bad.size(), 1U) << decode;
  }
}

TEST_F(ShardRepairTest, SaysWhichRecordsWereLostWhereAnIndexFromBeforeKnows) {
  RecordFile file;
  file.Add("a").Add("bb").Add("ccc").Add("dddd").Write(input_);
  const FileSource before(input_);
  (void)SaveIndex(before, ScanFrames(before, 100));
  // The headers of the second and the third.
  const ShardRepairReport report =
      RepairBytes(file.FlipByte(17).FlipByte(17 + 18).bytes(), kFrames);
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_EQ(report.bad[0].lost, (RecordRange{1, 2}));
  EXPECT_EQ(report.lost_records(), 2);

  const auto list =
      nlohmann::json::parse(ReadWholeFile(paths_.bad_list, kMaxBytes));
  EXPECT_EQ(list["file"], input_);
  ASSERT_EQ(list["bad"].size(), 1U);
  EXPECT_EQ(list["bad"][0]["offset"], 17);
  EXPECT_EQ(list["bad"][0]["bytes"], 18 + 19);
  EXPECT_EQ(list["bad"][0]["first_record_lost"], 1);
  EXPECT_EQ(list["bad"][0]["records_lost"], 2);
}

TEST_F(ShardRepairTest, ReportsTheChecksumOfTheNewShard) {
  const ShardRepairReport report =
      RepairBytes(RecordFile().Add("hello").bytes(), kFrames);
  EXPECT_EQ(report.shard.bytes, 21);
  // The checksum of 0500000000000000 eab2043e 68656c6c6f bb1f1c19.
  EXPECT_EQ(report.shard.crc32c, "bc19fc91");
}

}  // namespace
}  // namespace infeed
