// Uploads to a folder: the store's part is OpenSink()'s.

#include "tools/convert/shard_upload.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tools/convert/converter.h"

namespace infeed::shard_upload_test {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = 1 << 20;

class ShardUploadTest : public ::testing::Test {
 protected:
  ShardUploadTest() {
    raw_.JpegsIn("train/a", 6).JpegsIn("val/a", 2);
    fs::create_directories(bucket_ / "prefix");
  }

  UploadResult Run(const ConverterOptions& options = {}) {
    return Upload(Converted(options), out_.path(), target_,
                  [this](std::int64_t done) { done_ = done; });
  }
  ConversionReport Converted(const ConverterOptions& options) {
    return Convert(
        PlanConversion(FindImages(raw_.path()),
                       {.layout = ShardLayout::kReference, .shards = 2}),
        out_.path(), options, [](const ConversionProgress&) {});
  }
  [[nodiscard]] std::vector<std::string> Objects() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : FilesIn(bucket_ / "prefix")) {
      names.push_back(name);
    }
    return names;
  }

  ImageFolder raw_;
  TemporaryFolder out_;
  TemporaryFolder bucket_;
  UploadTarget target_{.url = bucket_ / "prefix"};
  std::int64_t done_ = 0;
};

TEST_F(ShardUploadTest, PutsAllFilesSideBySide) {
  const UploadResult result = Run();
  EXPECT_EQ(result.uploaded, 4);
  EXPECT_EQ(done_, 4);
  EXPECT_THAT(Objects(),
              ElementsAre("dataset.json", "labels.txt", "train-00000-of-00002",
                          "train-00001-of-00002", "validation-00000-of-00002",
                          "validation-00001-of-00002"));
  EXPECT_EQ(ReadWholeFile(bucket_ / "prefix/train-00001-of-00002", kMaxBytes),
            ReadWholeFile(out_ / "train/train-00001-of-00002", kMaxBytes));
  EXPECT_TRUE(FindIndex(FileSource(bucket_ / "prefix/train-00001-of-00002")));
}

TEST_F(ShardUploadTest, UploadsAgainOnlyWhatIsGoneOrOfAnotherSize) {
  ASSERT_EQ(Run().uploaded, 4);
  EXPECT_EQ(Run().skipped, 4);
  fs::remove(bucket_ / "prefix/train-00000-of-00002");
  fs::resize_file(bucket_ / "prefix/train-00001-of-00002", 5);
  const UploadResult result = Run();
  EXPECT_EQ(result.uploaded, 2);
  EXPECT_EQ(result.skipped, 2);
}

TEST_F(ShardUploadTest, UploadsShardsThatWereMadeAnew) {
  ASSERT_EQ(Run().uploaded, 4);
  raw_.Jpeg("train/a/000.jpg");
  EXPECT_EQ(Run().uploaded, 1);
}

TEST_F(ShardUploadTest, UploadsEverythingToAnotherPlace) {
  ASSERT_EQ(Run().uploaded, 4);
  fs::create_directories(bucket_ / "other");
  target_.url = bucket_ / "other/";
  EXPECT_EQ(Run().uploaded, 4);
}

TEST_F(ShardUploadTest, LeavesTheDescriptionToWhoeverFinishes) {
  const UploadResult result = Run({.share = {.index = 1, .count = 3}});
  EXPECT_EQ(result.uploaded, 1);
  EXPECT_THAT(Objects(), ElementsAre("train-00001-of-00002"));
}

TEST_F(ShardUploadTest, FindsBytesThatChangedOnDisk) {
  const ConversionReport report = Converted({});
  const std::string path = out_ / "train/train-00001-of-00002";
  std::string bytes = ReadWholeFile(path, kMaxBytes);
  bytes.back() ^= 1;
  WriteFileAtomically(path, bytes);
  const auto upload = [&] {
    (void)Upload(report, out_.path(), target_, [](std::int64_t) {});
  };
  EXPECT_THAT(upload, ::testing::ThrowsMessage<DataError>(
                          HasSubstr("train-00001-of-00002: its checksum is")));
  EXPECT_THAT(Objects(), ElementsAre("train-00000-of-00002"));
}

TEST_F(ShardUploadTest, NeedsTheSideFiles) {
  const ConversionReport report = Converted({});
  fs::remove_all(out_ / ".infeed");
  const auto upload = [&] {
    (void)Upload(report, out_.path(), target_, [](std::int64_t) {});
  };
  EXPECT_THAT(upload, ::testing::ThrowsMessage<IoError>(
                          HasSubstr("shard.json: is gone")));
}

}  // namespace infeed::shard_upload_test
