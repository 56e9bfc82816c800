#include "records/tfrecord/reader.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/writer.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Reads a file to its end: payloads, and in their places the reasons of what
// was wrong.
class TfrecordReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Read(const RecordFile& file,
                                const TfrecordReaderOptions& options = {}) {
    TfrecordReader reader(file.Write(folder_ / "f"), options);
    std::vector<std::string> seen;
    ReadPastErrors(
        reader,
        [&](const Record& record) { seen.push_back(AsText(record.payload)); },
        [&](const DataError& error) {
          seen.push_back(error.reason());
          origin_ = error.origin();
        });
    EXPECT_FALSE(reader.Next().has_value()) << "the end stays the end";
    return seen;
  }

  const TemporaryFolder folder_;
  DataError::Origin origin_;  // of the last error
};

TEST_F(TfrecordReaderTest, NumbersRecordsAndGivesTheirOffsets) {
  TfrecordReader reader(RecordFile().Add("abc").Add("d").Write(folder_ / "f"));
  EXPECT_EQ(reader.Next()->offset, 0);
  const std::optional<Record> second = reader.Next();
  EXPECT_EQ(second->number, 1);
  EXPECT_EQ(second->offset, 19);
}

TEST_F(TfrecordReaderTest, ReadsTheSameWithAnyBuffer) {
  RecordFile file;
  std::vector<std::string> expected;
  for (std::size_t size = 0; size < 60; ++size) {
    expected.emplace_back(size * 7 % 60, static_cast<char>('a' + size % 26));
    file.Add(expected.back());
  }
  for (const std::size_t bytes : {0, 1, 13, 64, 100, 4096}) {
    EXPECT_EQ(Read(file, {.buffer_bytes = bytes}), expected) << bytes;
    EXPECT_THAT(Read(RecordFile(), {.buffer_bytes = bytes}), IsEmpty());
  }
}

TEST_F(TfrecordReaderTest, StopsAtATruncatedHeader) {
  for (std::size_t left = 1; left < kFrameHeaderBytes; ++left) {
    EXPECT_THAT(
        Read(RecordFile().Add("a").Add("b").Truncate(17 - left)),
        ElementsAre("a", "truncated record: the header needs 12 bytes, " +
                             std::to_string(left) +
                             (left == 1 ? " byte left" : " bytes left")));
  }
  EXPECT_EQ(origin_.record, 1);
  EXPECT_EQ(origin_.offset, 17);
}

TEST_F(TfrecordReaderTest, StopsAtATruncatedPayloadOrChecksum) {
  for (const auto& [cut, left] : {std::pair(9, 0), {6, 3}, {1, 8}}) {
    EXPECT_THAT(
        Read(RecordFile().Add("a").Add("hello").Truncate(cut)),
        ElementsAre("a",
                    HasSubstr("truncated record: the payload and its checksum "
                              "need 5 + 4 bytes, " +
                              std::to_string(left) +
                              " bytes left; the file was cut short")));
  }
  for (const char* text : {"this is a text file", "short"}) {
    EXPECT_THAT(Read(RecordFile().AddRaw(text)),
                ElementsAre(EndsWith("(is this a TFRecord file?)")));
  }
}

TEST_F(TfrecordReaderTest, NeverTrustsALengthBeforeItsChecksum) {
  EXPECT_THAT(
      Read(RecordFile().Add("a").Add("b").Add("c").FlipByte(17 + 7)),
      ElementsAre("a", AllOf(HasSubstr("the length's checksum does not match"),
                             HasSubstr("expected 0x41de7501, found 0x"))));
  EXPECT_EQ(origin_.path, folder_ / "f");
  EXPECT_EQ(origin_.record, 1);
  EXPECT_EQ(origin_.offset, 17);
}

TEST_F(TfrecordReaderTest, GoesOnBehindAPayloadWhoseChecksumDiffers) {
  EXPECT_THAT(Read(RecordFile().Add("a").Add("b").Add("c").FlipByte(17 + 12)),
              ElementsAre("a",
                          HasSubstr("the payload's checksum does not match "
                                    "(expected 0x"),
                          "c"));
  EXPECT_EQ(origin_.record, 1);
  EXPECT_EQ(origin_.offset, 17);
}

TEST_F(TfrecordReaderTest, LeavesPayloadChecksumsAloneWhenToldTo) {
  EXPECT_THAT(Read(RecordFile().Add("a").FlipByte(13).Add("b"),
                   {.verify_checksums = false}),
              ElementsAre("a", "b"));
}

TEST_F(TfrecordReaderTest, HasALimitAndTakesNoMemoryForALengthBeyond) {
  EXPECT_THAT(
      Read(RecordFile().Add("abc").Add("abcd"), {.max_record_bytes = 3}),
      ElementsAre("abc", "the record has 4 bytes, more than the limit of 3"));
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { Read(RecordFile(), {.max_record_bytes = 0}); }),
              HasSubstr("max_record_bytes must be positive, not 0"));
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(Read(RecordFile().AddHeader(largest)),
              ElementsAre("the record has 18446744073709551615 bytes, more "
                          "than the limit of 1073741824"));
  const auto limit = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(Read(RecordFile().AddHeader(static_cast<std::uint64_t>(limit)),
                   {.max_record_bytes = limit}),
              ElementsAre(HasSubstr("truncated record")));
}

TEST_F(TfrecordReaderTest, NoticesAFileThatShrinks) {
  RecordFile file;
  file.Add("first").Add(std::string(100, 'x'));
  TfrecordReader reader(file.Write(folder_ / "f"), {.buffer_bytes = 40});
  EXPECT_EQ(AsText(reader.Next()->payload), "first");
  file.Truncate(50).Write(folder_ / "f");
  EXPECT_THAT([&] { (void)reader.Next(); },
              ::testing::ThrowsMessage<DataError>(
                  HasSubstr("shorter than when it was opened")));
}

TEST(TfrecordWriterTest, WritesRecordsWholeAndInParts) {
  const TemporaryFolder folder;
  TfrecordWriter writer(folder / "f", {.write_index = true});
  EXPECT_EQ(writer.crc32c(), 0U);
  writer.Append("one");
  writer.AppendParts({"two", "", " three"});
  writer.Append(AsBytes("four"));
  EXPECT_EQ(writer.records(), 3);
  writer.Close();
  const std::string bytes = ReadWholeFile(folder / "f", 100);
  EXPECT_EQ(bytes,
            RecordFile().Add("one").Add("two three").Add("four").bytes());
  EXPECT_EQ(writer.size(), std::ssize(bytes));
  EXPECT_EQ(writer.crc32c(), Crc32c(AsBytes(bytes)));
  EXPECT_EQ(FindIndex(FileSource(folder / "f")), (FrameOffsets{0, 19, 44}));
}

TEST(TfrecordWriterTest, LeavesNothingWithoutClose) {
  const TemporaryFolder folder;
  { TfrecordWriter(folder / "f").Append("one"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THAT(
      MessageOf<IoError>([] { TfrecordWriter writer("no/such/folder/f"); }),
      HasSubstr("no/such/folder/f: cannot create"));
}

std::string Frame(std::string_view payload) {
  std::string frame;
  AppendFrame(frame, payload);
  return frame;
}

TEST(TfrecordFormatTest, FramesAreTheReferencesBytes) {
  EXPECT_EQ(ToHex(Frame("")), "000000000000000029039807d8ea82a2");
  EXPECT_EQ(ToHex(Frame("a")), "01000000000000000175de4161786ee428");
  EXPECT_EQ(ToHex(Frame("hello")),
            "0500000000000000eab2043e68656c6c6fbb1f1c19");
  EXPECT_EQ(ToHex(Frame("abcabcabc")),
            "090000000000000037f97139616263616263616263ece64b9e");
}

TEST(TfrecordFormatTest, AnEventFilesFirstRecordIsTheReferencesBytes) {
  const std::string event =
      FromHex("09000000000000f03f1a0d627261696e2e4576656e743a32");
  EXPECT_EQ(ToHex(Frame(event)),
            "1800000000000000a37f4b22"
            "09000000000000f03f1a0d627261696e2e4576656e743a32"
            "86bf577a");
}

}  // namespace
}  // namespace infeed
