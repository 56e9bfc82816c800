#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tests/support/matchers.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed::resync_test {

constexpr std::size_t kFrame = 17;  // of one byte

// The records of a reader that goes on after damage.
struct Pass {
  std::vector<std::string> payloads;
  std::vector<std::string> errors;
  std::vector<Gap> gaps;
};

Pass ReadAll(const std::string& bytes, std::size_t buffer_bytes = 1 << 20) {
  TfrecordReader reader(std::make_unique<MemorySource>("m", bytes),
                        {.buffer_bytes = buffer_bytes, .resynchronise = true});
  Pass pass;
  ReadPastErrors(
      reader,
      [&](const Record& record) {
        pass.payloads.push_back(AsText(record.payload));
      },
      [&](const DataError& error) { pass.errors.emplace_back(error.what()); });
  pass.gaps = reader.gaps();
  return pass;
}

RecordFile Letters() {
  return RecordFile().Add("a").Add("b").Add("c").Add("d");
}

TEST(TfrecordResyncTest, FindsTheNextRecordBehindADamagedLength) {
  const Pass pass = ReadAll(Letters().FlipByte(kFrame).bytes());
  EXPECT_THAT(pass.payloads, ElementsAre("a", "c", "d"));
  EXPECT_THAT(
      pass.errors,
      ElementsAre(EndsWith("; 17 bytes lost, the next record is at byte 34")));
  EXPECT_THAT(pass.gaps, ElementsAre(Gap{17, 17}));
}

// As many bytes are missing as the next frame has: the damaged one's length
// leads to the frame behind that.
TEST(TfrecordResyncTest, FindsARecordThatTheDamagedLengthCovers) {
  std::string bytes =
      RecordFile().Add(std::string(40, 'a')).Add("b").Add("c").bytes();
  bytes.erase(20, kFrame);
  const Pass pass = ReadAll(bytes);
  EXPECT_THAT(pass.payloads, ElementsAre("b", "c"));
  bytes.resize(bytes.size() - kFrame);
  EXPECT_THAT(ReadAll(bytes).payloads, ElementsAre("b"));
}

// A TFRecord file as a payload, one byte of which is damaged.
TEST(TfrecordResyncTest, TakesNoRecordsOutOfADamagedOne) {
  const Pass pass = ReadAll(RecordFile()
                                .Add("x" + Letters().bytes() + "x")
                                .FlipByte(12)
                                .Add("b")
                                .bytes());
  EXPECT_THAT(pass.payloads, ElementsAre("b"));
}

TEST(TfrecordResyncTest, SaysThatNothingFollows) {
  const Pass pass = ReadAll(Letters().Truncate(1).bytes());
  EXPECT_THAT(pass.payloads, ElementsAre("a", "b", "c"));
  EXPECT_THAT(pass.errors,
              ElementsAre(EndsWith("; 16 bytes lost, no good record follows")));
  EXPECT_THAT(pass.gaps, ElementsAre(Gap{51, 16}));
  EXPECT_THAT(ReadAll(std::string(100'000, '\0')).gaps,
              ElementsAre(Gap{0, 100'000}));
}

TEST(TfrecordResyncTest, DoesTheSameWithAnyBuffer) {
  RecordFile file;
  for (std::size_t i = 0; i < 40; ++i) {
    file.Add(std::string(i * 37 % 300, static_cast<char>('a' + i % 26)));
  }
  file.FlipByte(3).FlipByte(700).FlipByte(701).FlipByte(3000).Truncate(20);
  const Pass expected = ReadAll(file.bytes());
  EXPECT_EQ(expected.errors.size(), 4U);
  for (const std::size_t size : {1, 16, 100, 4096}) {
    const Pass pass = ReadAll(file.bytes(), size);
    EXPECT_EQ(pass.payloads, expected.payloads) << size;
    EXPECT_EQ(pass.errors, expected.errors) << size;
    EXPECT_EQ(pass.gaps, expected.gaps) << size;
  }
}

// Headers as good as these can only be made on purpose: each byte seems to
// begin a record that reaches far.
TEST(TfrecordResyncTest, GivesUpOnAFileThatIsMadeToBeSlow) {
  RecordFile file;
  for (int i = 0; i < 3000; ++i) {
    file.AddHeader(5'000'000);
  }
  file.AddRaw(std::string(6'000'000, 'x'));
  const Pass pass = ReadAll(file.bytes());
  EXPECT_THAT(pass.payloads, IsEmpty());
  EXPECT_THAT(pass.errors, ElementsAre(EndsWith("no good record follows")));
}

// The bytes that can be unpacked before the damage.
std::int64_t UnpackedBytes(const std::string& packed) {
  const MemorySource source("m", packed);
  const std::unique_ptr<ByteStream> stream = OpenStream(source);
  std::int64_t bytes = 0;
  try {
    std::byte one{};
    while (stream->Read(std::span(&one, 1)) > 0) {
      ++bytes;
    }
    ADD_FAILURE() << "the damage is not seen";
  } catch (const DataError&) {
  }
  return bytes;
}

TEST(PackedTfrecordTest, IsReadToItsEndOrToTheCut) {
  const TemporaryFolder folder;
  for (const Compression compression :
       {Compression::kGzip, Compression::kZlib}) {
    TfrecordWriter writer(folder / "f", {.compression = compression});
    for (int i = 0; i < 500; ++i) {
      writer.Append(std::to_string(i) + std::string(1000, 'x'));
    }
    writer.Close();
    TfrecordReader whole(folder / "f");
    EXPECT_EQ(whole.compression(), compression);
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(AsText(whole.Next()->payload).starts_with(std::to_string(i)));
    }
    EXPECT_FALSE(whole.Next().has_value());
    EXPECT_THAT([&] { (void)ScanFrames(FileSource(folder / "f"), 1 << 20); },
                ::testing::ThrowsMessage<UsageError>(
                    HasSubstr("has no random access: write")));

    const std::string bytes = ReadWholeFile(folder / "f", 1 << 20);
    EXPECT_LT(bytes.size(), 50'000U) << "it is packed";
    for (const bool resynchronise : {false, true}) {
      TfrecordReader reader(
          std::make_unique<MemorySource>("m", bytes.substr(0, 3000)),
          {.resynchronise = resynchronise});
      std::int64_t records = 0;
      try {
        while (reader.Next()) {
          ++records;
        }
        ADD_FAILURE() << "the damage is not seen";
      } catch (const DataError& error) {
        EXPECT_EQ(error.origin().record, records);
        EXPECT_THAT(error.what(), HasSubstr("it is cut short"));
      }
      EXPECT_GT(records, 100);
      EXPECT_FALSE(reader.Next().has_value());
      for (const Gap& gap : reader.gaps()) {  // if it resynchronises
        EXPECT_EQ(gap.offset + gap.bytes, UnpackedBytes(bytes.substr(0, 3000)));
      }
      EXPECT_THAT(reader.gaps(), SizeIs(resynchronise ? 1 : 0));
    }
  }
}

}  // namespace infeed::resync_test
