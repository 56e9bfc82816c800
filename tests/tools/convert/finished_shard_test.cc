#include "tools/convert/finished_shard.h"

#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

constexpr const char* kName = "train/train-00000-of-00001";

class FinishedShardTest : public ::testing::Test {
 protected:
  FinishedShardTest() { MakeFolder(ConversionSideFolder(out_.path())); }
  void Write() const {
    WriteFinishedShard(out_.path(),
                       {.fingerprint = "f",
                        .info = {kName, 3, 400, "0a0b0c0d"},
                        .reencoded = {{"a.png", "not a JPEG"}},
                        .skipped = {{"b\xff.jpg", "the file is empty"}},
                        .not_turned = {{"c.jpg", "EXIF orientation 6"}},
                        .seek_indexes = 2,
                        .bad_image_policy = "skip",
                        .uploaded = "gs://b/o"});
  }
  [[nodiscard]] std::optional<FinishedShard> Read() const {
    return ReadFinishedShard(out_.path(), kName);
  }
  void Replace(const std::string& from, const std::string& to) const {
    const std::string path = FinishedShardPath(out_.path(), kName);
    std::string text = ReadWholeFile(path, 10000);
    text.replace(text.find(from), from.size(), to);
    WriteFileAtomically(path, text);
  }

  TemporaryFolder out_;
};

TEST_F(FinishedShardTest, WrittenSideFilesAreReadBack) {
  Write();
  const std::optional<FinishedShard> shard = Read();
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->fingerprint, "f");
  EXPECT_EQ(shard->info.name, kName);
  EXPECT_EQ(shard->info.records, 3);
  EXPECT_EQ(shard->info.bytes, 400);
  EXPECT_EQ(shard->info.crc32c, "0a0b0c0d");
  EXPECT_THAT(shard->reencoded, ElementsAre(ImageNote{"a.png", "not a JPEG"}));
  EXPECT_EQ(shard->skipped.size(), 1U);
  EXPECT_THAT(shard->not_turned,
              ElementsAre(ImageNote{"c.jpg", "EXIF orientation 6"}));
  EXPECT_EQ(shard->seek_indexes, 2);
  EXPECT_EQ(shard->bad_image_policy, "skip");
  EXPECT_EQ(shard->uploaded, "gs://b/o");
}

TEST_F(FinishedShardTest, MayBeOfAProgramThatKnewNoSeekIndexes) {
  Write();
  Replace("\"seek_indexes\": 2,", "");
  const std::optional<FinishedShard> shard = Read();
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->seek_indexes, std::nullopt);
}

TEST_F(FinishedShardTest, LiesInTheSideFolderWhateverTheLayout) {
  EXPECT_EQ(FinishedShardPath("out", kName),
            "out/.infeed/train-00000-of-00001.shard.json");
}

TEST_F(FinishedShardTest, MissingOrDamagedSideFilesAreIgnored) {
  EXPECT_FALSE(Read());
  for (const auto& [from, to] :
       {std::pair("\"version\": 1", "\"version\": 2"),
        std::pair("\"records\": 3", "\"records\": \"x\""),
        std::pair("train/train", "test/test"),
        std::pair("\"fingerprint\"", "\"print\""), std::pair("{", "")}) {
    Write();
    ASSERT_TRUE(Read());
    Replace(from, to);
    EXPECT_FALSE(Read()) << from;
  }
}

}  // namespace
}  // namespace infeed
