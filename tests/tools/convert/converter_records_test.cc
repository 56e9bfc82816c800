// Conversions from records, and to tars.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/archives/archive_index_file.h"
#include "records/archives/tar_samples.h"
#include "records/example/imagenet_example.h"
#include "records/files/dataset_info.h"
#include "records/store/index_data.h"
#include "records/store/record_store.h"
#include "tests/support/bytes.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"
#include "tools/convert/converter.h"
#include "tools/images/tree_union.h"

namespace infeed::converter_records_test {

namespace fs = std::filesystem;

constexpr PlanOptions kTars = {.format = ShardFormat::kWebdataset, .shards = 3};
constexpr std::int64_t kMaxBytes = 1 << 26;

ConversionReport Convert(const std::string& input, const std::string& out,
                         const PlanOptions& plan = {.shards = 3},
                         const ConverterOptions& options = {}) {
  return Convert(PlanConversion(FindImagesIn({input}), plan), out, options,
                 [](const ConversionProgress&) {});
}

// Three classes whose names are their labels.
class RecordConversionTest : public ::testing::Test {
 protected:
  RecordConversionTest() {
    raw_.JpegsIn("0", 4).JpegsIn("1", 5).JpegsIn("2", 2);
  }

  // The images, each with its class and its place in the folder.
  struct Image {
    std::string label;
    std::string name;
    std::string bytes;
  };
  [[nodiscard]] std::vector<Image> Images() const {
    std::vector<Image> images;
    const ImageTree tree = FindImages(raw_.path());
    for (const ImageFile& image : tree.splits[0].images) {
      const fs::path path = image.path;
      const std::string label = path.parent_path().filename().string();
      images.push_back({label, label + "/" + path.filename().string(),
                        ReadWholeFile(image.path, kMaxBytes)});
    }
    return images;
  }

  [[nodiscard]] std::string MakeTar(const std::string& more = "") const {
    TarFile tar;
    for (const Image& image : Images()) {
      tar.Add(image.name, image.bytes);
      tar.Add(fs::path(image.name).replace_extension("cls").string(),
              image.label);
    }
    return tar.text() + more;
  }

  // "LABEL BYTES" of each record of a data set, in order.
  static std::vector<std::string> Records(const std::string& folder,
                                          std::int64_t first_label) {
    const RecordIndex index = IndexSplit(folder, "train").value();
    const RecordStore store(index);
    std::vector<std::string> records;
    std::vector<std::byte> buffer;
    for (std::int64_t i = 0; i < index.size(); ++i) {
      const ImagenetExampleView view =
          ParseImagenetExample(store.Read(i, buffer));
      records.push_back(
          std::to_string(view.label - first_label) + " " +
          std::string(reinterpret_cast<const char*>(view.encoded.data()),
                      view.encoded.size()));
    }
    return records;
  }

  ImageFolder raw_;
  ImageFolder input_;
  TemporaryFolder out_;
  TemporaryFolder other_;
};

TEST_F(RecordConversionTest, MakesOfAnArchiveTheShardsOfItsFolder) {
  ZipBuilder zip;
  for (const Image& image : Images()) {
    zip.Add(StoredMember(image.name, image.bytes));
  }
  input_.File("x.tar", MakeTar()).File("x.zip", zip.bytes());
  (void)Convert(raw_.path(), out_.path());
  for (const std::string name : {"x.tar", "x.zip"}) {
    fs::remove_all(other_.path());
    (void)Convert(input_ / name, other_.path());
    EXPECT_EQ(FilesIn(out_.path()), FilesIn(other_.path())) << name;
  }
}

TEST_F(RecordConversionTest, WritesTarsOfTheSameRecords) {
  (void)Convert(raw_.path(), out_.path());
  const ConversionReport report = Convert(raw_.path(), other_.path(), kTars);
  EXPECT_EQ(report.info.first_label, 0);
  EXPECT_EQ(report.seek_indexes, std::nullopt);
  EXPECT_THAT(report.info.splits[0].shards, SizeIs(3));
  EXPECT_EQ(report.info.splits[0].shards[2].name, "train-000002.tar");
  const std::vector<std::string> records = Records(other_.path(), 0);
  EXPECT_THAT(records, SizeIs(11));
  EXPECT_EQ(records, Records(out_.path(), 1));
}

TEST_F(RecordConversionTest, NamesTheMembersOfASample) {
  (void)Convert(raw_.path(), out_.path(), kTars);
  const std::string tar = ReadWholeFile(out_ / "train-000001.tar", kMaxBytes);
  const TarIndex index = FindTarIndex(FileSource(out_ / "train-000001.tar"))
                             .value_or(TarFileIndex{})
                             .samples;
  ASSERT_THAT(index.offsets, SizeIs(4));
  const TarSample sample = ParseTarSample(
      AsBytes(tar).subspan(0, static_cast<std::size_t>(index.offsets[1])));
  EXPECT_EQ(sample.key, "train-00000004");  // 4 are in the first shard.
  ASSERT_THAT(sample.parts, SizeIs(3));
  EXPECT_EQ(sample.parts[0].ending, "jpg");
  EXPECT_EQ(AsText(sample.parts[1].bytes), std::to_string(index.labels[0]));
  EXPECT_THAT(std::string(AsText(sample.parts[2].bytes)),
              AllOf(HasSubstr("\"class_name\":\""),
                    HasSubstr(".jpg\",\"width\":16,\"height\":8}")));
}

TEST_F(RecordConversionTest, WritesTheIndexThatAPassWouldFind) {
  (void)Convert(raw_.path(), out_.path(), kTars);
  const std::string path = out_ / "train-000000.tar";
  const std::string tar = ReadWholeFile(path, kMaxBytes);
  const TarIndex found =
      ScanTar(BytesOf(AsBytes(tar)), path, kMaxBytes).samples;
  EXPECT_EQ(FindTarIndex(FileSource(path)).value().samples, found);
}

TEST_F(RecordConversionTest, KeepsFinishedTarsAndRemovesTemporaryOnes) {
  (void)Convert(raw_.path(), out_.path(), kTars);
  (void)Convert(raw_.path(), other_.path(), kTars);
  fs::remove(out_ / "dataset.json");
  fs::remove(out_ / "train-000001.tar");
  // No process has this number.
  const std::string dead = out_ / "train-000001.tar.tmp-99999999";
  WriteFileAtomically(dead, "half");
  EXPECT_EQ(Convert(raw_.path(), out_.path(), kTars).kept_shards, 2);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_EQ(FilesIn(out_.path()), FilesIn(other_.path()));
}

TEST_F(RecordConversionTest, MakesShardsAnewWhenTheirTarWasReplaced) {
  input_.File("x.tar", MakeTar());
  (void)Convert(input_ / "x.tar", out_.path());
  EXPECT_EQ(Convert(input_ / "x.tar", out_.path()).kept_shards, 3);
  fs::last_write_time(input_ / "x.tar", fs::file_time_type::clock::now() +
                                            std::chrono::seconds(1));
  EXPECT_EQ(Convert(input_ / "x.tar", out_.path()).kept_shards, 0);
}

TEST_F(RecordConversionTest, RefusesShardsOfTheOtherFormatInTheFolder) {
  (void)Convert(raw_.path(), out_.path(), kTars);
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Convert(raw_.path(), out_.path()); }),
      HasSubstr("train-000000.tar"));
  (void)Convert(raw_.path(), out_.path(), {.shards = 3}, {.overwrite = true});
  EXPECT_FALSE(fs::exists(out_ / "train-000000.tar"));
}

TEST_F(RecordConversionTest, TreatsABadMemberAsABadImage) {
  input_.File("x.tar", MakeTar(TarFile()
                                   .Add("bad.jpg", "no image")
                                   .Add("bad.cls", "1")
                                   .Add("none.txt", "text")
                                   .End()
                                   .text()));
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { (void)Convert(input_ / "x.tar", out_.path()); }),
              AllOf(HasSubstr("x.tar#"), HasSubstr("--on_bad_image skip")));
  const ConversionReport report =
      Convert(input_ / "x.tar", other_.path(), {.shards = 3},
              {.on_bad_image = OnBadImage::kSkip});
  EXPECT_THAT(report.skipped, SizeIs(2));
  EXPECT_EQ(report.info.splits[0].records, 11);
}

// Readers take a tar of zeros for damaged TFRecords.
TEST_F(RecordConversionTest, WritesATarThatIsReadWithoutASample) {
  input_.File("0/1.jpg", "bad").File("0/2.jpg", raw_.path());
  input_.Jpeg("0/3.jpg");
  const ConversionReport report = Convert(input_.path(), out_.path(), kTars,
                                          {.on_bad_image = OnBadImage::kSkip});
  EXPECT_EQ(report.info.splits[0].shards.size(), 3U);
  EXPECT_EQ(IndexSplit(out_.path(), "train").value().size(), 1);
}

TEST_F(RecordConversionTest, ConvertsItsTarsBackIntoTheirClasses) {
  (void)Convert(raw_.path(), out_.path(), kTars);
  (void)Convert(out_.path(), other_.path());
  EXPECT_THAT(ReadDatasetInfo(other_.path()).value().classes,
              ElementsAre("0", "1", "2"));
  std::vector<std::string> back = Records(other_.path(), 1);
  std::vector<std::string> tars = Records(out_.path(), 0);
  std::sort(back.begin(), back.end());
  std::sort(tars.begin(), tars.end());
  EXPECT_EQ(back, tars);
}

TEST_F(RecordConversionTest, RefusesTheReferencesLayoutForTars) {
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)Convert(raw_.path(), out_.path(),
                              {.format = ShardFormat::kWebdataset,
                               .layout = ShardLayout::kReference});
              }),
              HasSubstr("--layout reference"));
}

TEST(TarShardNameTest, TarNamesBeginWithASplit) {
  EXPECT_TRUE(IsTarShardName("train-000012.tar"));
  EXPECT_TRUE(IsTarShardName("validation-123456.tar"));
  for (const std::string_view name :
       {"train-00012.tar", "train-0000012.tar", "cats-000012.tar",
        "train-000012.tar.gz", "train-00001x.tar", "train", ""}) {
    EXPECT_FALSE(IsTarShardName(name)) << name;
  }
}

}  // namespace infeed::converter_records_test
