#include "tools/inspect/verification.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/files/dataset_info.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/writer.h"
#include "tests/support/bytes.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/seek_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tools/inspect/indexing.h"

namespace infeed::verification_test {

using Json = nlohmann::json;

// Two good shards, of two records and of one.
class VerificationTest : public ::testing::Test {
 protected:
  VerificationTest() {
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    first_.Add(PayloadOf({jpeg, 1})).Add(PayloadOf({jpeg, 2})).Write(Path(0));
    second_.Add(PayloadOf({jpeg, 3})).Write(Path(1));
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00002");
  }
  // Verifies the shards that exist, and collects their lines.
  [[nodiscard]] VerifyReport Verify(VerifyOptions options = {}) {
    std::vector<std::string> shards;
    for (const int shard : {0, 1}) {
      if (std::filesystem::exists(Path(shard))) {
        shards.push_back(Path(shard));
      }
    }
    options.named = {folder_.path()};
    lines_.clear();
    return VerifyShards(shards, options, [this](const VerifiedShard& shard) {
      lines_ += RenderText(shard.report);
    });
  }
  // What the terminal shows.
  [[nodiscard]] std::string TextOf(const VerifyOptions& options = {}) {
    const VerifyReport report = Verify(options);
    return lines_ + RenderText(SetReport(report));
  }
  // A description of the two shards as they are.
  [[nodiscard]] DatasetInfo Description() const {
    DatasetInfo info;
    info.splits.push_back({.name = "train", .records = 3, .shards = {}});
    for (const int shard : {0, 1}) {
      const std::string bytes = ReadWholeFile(Path(shard), 1 << 20);
      char crc[9];
      std::snprintf(crc, sizeof crc, "%08x", Crc32c(AsBytes(bytes)));
      info.splits[0].shards.push_back(
          {.name = std::filesystem::path(Path(shard)).filename(),
           .records = 2 - shard,
           .bytes = static_cast<std::int64_t>(bytes.size()),
           .crc32c = crc});
    }
    return info;
  }

  const TemporaryFolder folder_;
  RecordFile first_;
  RecordFile second_;
  std::string lines_;
};

TEST_F(VerificationTest, BadRecordsAreListedAndPassedOver) {
  RecordFile()
      .Add("not an Example")
      .Add("flipped")
      .FlipByte(30 + 13)
      .Add(PayloadOf({"not a JPEG"}))
      .AddRaw("this is no frame")
      .Add(PayloadOf({TestJpeg({})}))
      .Add(PayloadOf({"not a JPEG either"}))
      .Write(Path(0));
  const std::string text = TextOf({.decode = true, .threads = 1});
  EXPECT_THAT(text,
              AllOf(HasSubstr(": record 0 at byte 0: not a tf.train.Example"),
                    HasSubstr(": record 1 at byte 30: corrupted record: the "
                              "payload's checksum"),
                    HasSubstr(": record 2 at byte 53: "),
                    HasSubstr("; 16 bytes lost, the next record is at byte "),
                    EndsWith("7 records in 2 shards, 5 bad, 39 B skipped\n")));
  EXPECT_EQ(text, TextOf({.decode = true, .threads = 5}));
  EXPECT_EQ(FaultsText(Verify({.decode = true})), "5 bad records");
}

TEST_F(VerificationTest, LostRecordsAreNamedByTheIndexFromBefore) {
  (void)SaveIndex(FileSource(Path(0)),
                  {0, static_cast<std::int64_t>(first_.bytes().size() / 2)});
  first_.FlipByte(3).Write(Path(0));
  EXPECT_THAT(TextOf(), AllOf(HasSubstr(" were record 0, by the index from "
                                        "before the damage\n"),
                              EndsWith(", 1 record lost\n")));
}

TEST_F(VerificationTest, CompressedShardsAreRead) {
  TfrecordWriter writer(Path(1), {.compression = Compression::kGzip});
  writer.Append(PayloadOf({TestJpeg()}));
  writer.Close();
  const VerifyReport report = Verify({.decode = true});
  EXPECT_EQ(FaultsText(report), "");
  EXPECT_EQ(
      Json::parse(RenderJson(SetReport(report)))["shards"][1]["compression"],
      "gzip");
  std::string packed = ReadWholeFile(Path(1), 1 << 20);
  packed.resize(packed.size() - 20);
  RecordFile().AddRaw(packed).Write(Path(1));
  EXPECT_NE(FaultsText(Verify()), "");
}

TEST_F(VerificationTest, JsonHasTheFaultsOfEachShard) {
  second_.FlipByte(20).Write(Path(1));
  const Json json = Json::parse(RenderJson(SetReport(Verify())));
  EXPECT_EQ(json["good"], false);
  EXPECT_EQ(json["records"], 3);
  EXPECT_EQ(json["bad"], 1);
  EXPECT_EQ(json["passed_over_bytes"], second_.bytes().size());
  EXPECT_EQ(json["shards"][0]["bad"], Json::array());
  EXPECT_EQ(json["shards"][1]["file"], Path(1));
  EXPECT_EQ(json["shards"][1]["bytes"], second_.bytes().size());
  EXPECT_EQ(json["shards"][1]["bad"][0]["offset"], 0);
  EXPECT_EQ(json["shards"][1]["passed_over"][0]["offset"], 0);
}

TEST_F(VerificationTest, ShardsAreComparedWithTheDescription) {
  DatasetInfo info = Description();
  WriteDatasetInfo(folder_.path(), info);
  EXPECT_EQ(TextOf(), "3 records in 2 shards, 0 bad\n");
  info.splits[0].shards[0].crc32c = "00000000";
  info.splits[0].shards[1].records = 7;
  WriteDatasetInfo(folder_.path(), info);
  EXPECT_THAT(TextOf(),
              AllOf(HasSubstr(Path(0) + ": has the CRC-32C "),
                    HasSubstr(Path(1) + ": holds 1 record, dataset.json says "
                                        "7\n"),
                    EndsWith("0 bad, 2 problems of the set\n")));
  EXPECT_EQ(FaultsText(Verify({.dataset_json = false})), "");
}

TEST_F(VerificationTest, MissingShardsAreNamed) {
  WriteDatasetInfo(folder_.path(), Description());
  std::filesystem::remove(Path(0));
  EXPECT_THAT(TextOf(), StartsWith(Path(0) + ": missing\n1 record "));
  EXPECT_EQ(FaultsText(Verify({.allow_missing_shards = true})), "");
}

// Seek indexes of two JPEGs.
class VerifiedSeekIndexTest : public VerificationTest {
 protected:
  VerifiedSeekIndexTest() { std::filesystem::remove(Path(1)); }

  void MakeFile() const {
    (void)IndexShards({Path(0)}, {.seek = SeekEntries::kRows});
  }
  // Writes a seek file with these entries.
  void WriteFile(const std::vector<std::string>& entries) const {
    SeekFileWriter writer(FileSource(Path(0)), 0);
    for (const std::string& entry : entries) {
      writer.Append(entry);
    }
    writer.Close();
  }
  // A lone shard of two: no other is expected.
  [[nodiscard]] std::string LinesOf(bool decode = false) {
    lines_.clear();
    report_ = VerifyShards({Path(0)}, {.decode = decode, .named = {Path(0)}},
                           [this](const VerifiedShard& shard) {
                             lines_ += RenderText(shard.report);
                           });
    return lines_;
  }

  const std::string jpeg_ = TestJpeg({.width = 96, .height = 40, .seed = 1});
  const std::string other_ = TestJpeg({.width = 96, .height = 40, .seed = 2});
  VerifyReport report_;
};

TEST_F(VerifiedSeekIndexTest, WrongOnesAreNamed) {
  std::string damaged = SealedOf(jpeg_);
  damaged[20] = static_cast<char>(~damaged[20]);
  const std::string junk = SealSeekIndex("junk", AsBytes(jpeg_));
  RecordFile()
      .Add(PayloadWith(jpeg_, SealedOf(jpeg_)))
      .Add(PayloadWith(jpeg_, damaged))
      .Add(PayloadWith(jpeg_, SealedOf(other_)))
      .Add(PayloadWith(jpeg_, junk))
      .Write(Path(0));
  EXPECT_THAT(LinesOf(),
              AllOf(Not(HasSubstr("record 0 ")), HasSubstr("record 1 at byte "),
                    HasSubstr(": the seek index is damaged\n"),
                    HasSubstr("record 2 at byte "),
                    HasSubstr(": the seek index does not belong to the JPEG\n"),
                    HasSubstr("record 3 at byte "),
                    HasSubstr(": the seek index cannot be read\n")));
  EXPECT_EQ(FaultsText(report_), "3 wrong seek indexes");
  const ReportTable report = SetReport(report_);
  EXPECT_EQ(RenderText(report),
            "4 records in 1 shard, 0 bad, 3 wrong seek indexes\n");
  const Json json = Json::parse(RenderJson(report));
  EXPECT_EQ(json["good"], false);
  EXPECT_EQ(json["wrong_seek_indexes"], 3);
  EXPECT_EQ(json["shards"][0]["wrong_seek_indexes"][1]["record"], 2);
}

// A valid seal, but not the index of this scan.
TEST_F(VerifiedSeekIndexTest, ForgedOnesAreFoundWhenImagesAreDecoded) {
  JpegSeekIndex index = MakeSeekIndex(AsBytes(jpeg_), 4).value();
  ++index.entries[2].dc[0];
  const std::string forged =
      SealSeekIndex(SerializeSeekIndex(index), AsBytes(jpeg_));
  RecordFile().Add(PayloadWith(jpeg_, forged)).Write(Path(0));
  EXPECT_EQ(LinesOf(), "");
  EXPECT_THAT(LinesOf(true),
              HasSubstr("the seek index is not what the JPEG's scan says\n"));
}

TEST_F(VerifiedSeekIndexTest, ThoseBesideTheShardAreChecked) {
  RecordFile().Add(PayloadWith(jpeg_)).Add(PayloadWith(other_)).Write(Path(0));
  MakeFile();
  EXPECT_EQ(LinesOf(true), "");
  WriteFile({SealedOf(other_), SealedOf(jpeg_)});  // Swapped.
  EXPECT_THAT(LinesOf(), HasSubstr("the seek index in the file beside the "
                                   "shard does not belong to the JPEG\n"));
  EXPECT_THAT(RenderText(SetReport(report_)),
              EndsWith("0 bad, 2 wrong seek indexes\n"));
}

// A seek file of one split of an archive: no reader uses it for all records.
TEST_F(VerifiedSeekIndexTest, AFileForOtherRecordsIsLeftAlone) {
  RecordFile().Add(PayloadWith(jpeg_)).Add(PayloadWith(other_)).Write(Path(0));
  WriteFile({SealedOf(other_)});
  EXPECT_EQ(LinesOf(), "");
}

// After lost bytes the numbers of records are no longer the file's.
TEST_F(VerifiedSeekIndexTest, TheFileIsLeftAloneWhereRecordsWereLost) {
  RecordFile records;
  records.Add(PayloadWith(jpeg_)).Add(PayloadWith(other_)).Write(Path(0));
  MakeFile();
  records.FlipByte(0).Write(Path(0));  // The first frame's length
  EXPECT_THAT(LinesOf(), Not(HasSubstr("seek")));
  EXPECT_NE(FaultsText(report_), "");
}

}  // namespace infeed::verification_test
