#include "tools/inspect/extraction.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "tests/support/bytes.h"
#include "tests/support/example_wire.h"
#include "tests/support/files_in.h"
#include "tests/support/flower_records.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed::extraction_test {

namespace fs = std::filesystem;

class ExtractionTest : public ::testing::Test {
 protected:
  ExtractionTest() { fs::create_directory(shards_); }

  void Write(const std::string& name, const RecordFile& file) {
    paths_.push_back(file.Write(shards_ + "/" + name));
  }
  [[nodiscard]] Extraction Extract(ExtractOptions options = {}) const {
    options.output = output_;
    return ExtractImages(paths_, options, [](const ShardPass&) {});
  }
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    return FilesBelow(output_);
  }

  const TemporaryFolder folder_;
  const std::string shards_ = folder_ / "shards";
  const std::string output_ = folder_ / "images";
  std::vector<std::string> paths_;
};

TEST_F(ExtractionTest, TheReportCountsFilesAndBadRecords) {
  const ReportTable report = ExtractionReport({.written = 2,
                                               .skipped = 1,
                                               .bytes = 51,
                                               .renamed = 1,
                                               .folders = 1,
                                               .bad = 3});
  EXPECT_EQ(RenderText(report),
            "2 images in 1 folder, 51 B, 1 existed, 3 bad\n");
}

TEST_F(ExtractionTest, RecordsWithoutANameGetTheirNumber) {
  Write("train-00000-of-00001",
        RecordFile()
            .Add(PayloadOf({TestJpeg(), 7}))
            .Add(PayloadOf({EncodePng(TestPhotograph(8, 8, 1).view()), -1})));
  EXPECT_EQ(Extract().bad, 0);
  EXPECT_THAT(
      Files(),
      UnorderedElementsAre(
          Pair("7/train-00000-of-00001-000000.jpg", TestJpeg()),
          Pair("unlabelled/train-00000-of-00001-000001.png", ::testing::_)));
}

TEST_F(ExtractionTest, EqualNamesGetTheSameNumbersWithAnyThreads) {
  RecordFile first;
  RecordFile second;
  for (int i = 0; i < 3; ++i) {
    first.Add(PayloadOf({TestJpeg({.seed = 10U + i}), 1, "a.jpg"}));
    second.Add(PayloadOf({TestJpeg({.seed = 20U + i}), 1, "a.jpg"}));
  }
  second.Add(PayloadOf({TestJpeg({.seed = 30}), 1, "a-2.jpg"}));
  Write("train-00000-of-00002", first);
  Write("train-00001-of-00002", second);
  EXPECT_EQ(Extract({.threads = 5}).renamed, 5U);
  EXPECT_THAT(Files(), ElementsAre(Pair("1/a-2.jpg", TestJpeg({.seed = 30})),
                                   Pair("1/a-3.jpg", TestJpeg({.seed = 11})),
                                   Pair("1/a-4.jpg", TestJpeg({.seed = 12})),
                                   Pair("1/a-5.jpg", TestJpeg({.seed = 20})),
                                   Pair("1/a-6.jpg", TestJpeg({.seed = 21})),
                                   Pair("1/a-7.jpg", TestJpeg({.seed = 22})),
                                   Pair("1/a.jpg", TestJpeg({.seed = 10}))));
}

TEST_F(ExtractionTest, FilesStayInTheOutputFolder) {
  // Cutting a long name must not turn it into "..".
  const std::string cut = "..X" + std::string(300, '\x80');
  Write("train-00000-of-00001",
        RecordFile()
            .Add(PayloadOf({TestJpeg(), 1, "../../escaped.jpg", "", ".."}))
            .Add(PayloadOf({TestJpeg(), 1, "precious", "", cut})));
  RecordFile().AddRaw("old").Write(folder_ / "precious.jpg");
  EXPECT_EQ(Extract().bad, 0);
  EXPECT_THAT(
      Files(),
      ElementsAre(
          Pair("_..X" + std::string(194, '\x80') + "/precious.jpg", TestJpeg()),
          Pair("_/_.._.._escaped.jpg", TestJpeg())));
  EXPECT_EQ(ReadWholeFile(folder_ / "precious.jpg", 100), "old");
}

TEST_F(ExtractionTest, SplitsGetFoldersOfTheirOwn) {
  for (const std::string split : {"train", "test"}) {
    Write(split + "-00000-of-00001",
          RecordFile().Add(PayloadOf({TestJpeg(), 1, "a.jpg"})));
  }
  EXPECT_EQ(Extract({.split = true}).folders, 2U);
  EXPECT_THAT(Files(), ElementsAre(Pair("test/1/a.jpg", TestJpeg()),
                                   Pair("train/1/a.jpg", TestJpeg())));
}

TEST_F(ExtractionTest, PixelsBecomePngs) {
  const auto number = [](char value) {
    return WireField(3, WireField(1, std::string(1, value)));
  };
  const std::string pixels("\0\3\2\1\0\6\5\4", 8);
  Write("train-00000-of-00001",
        RecordFile().Add(WireExample(
            {{"image/height", number(1)},
             {"image/width", number(2)},
             {"image/filename", WireField(1, WireField(1, "a.jpg"))},
             {"image/packed", WireField(1, WireField(1, pixels))}})));
  EXPECT_EQ(Extract().written, 1);
  RgbImage image;
  DecodeOtherImage(AsBytes(Files().at("unlabelled/a.png")), 100, image);
  EXPECT_THAT(image.pixels(), ElementsAre(1, 2, 3, 4, 5, 6));
}

// Images of raw files are called after the file and their number in it.
TEST_F(ExtractionTest, ImagesOfRawFilesGetAnExtension) {
  Write("train-00000-of-00001",
        RecordFile()
            .Add(PayloadOf({TestJpeg(), 1, "X_train.raw#00017"}))
            .Add(PayloadOf({"no image", 1, "X_train.raw#00018"}))
            .Add(WireExample(
                {{"image/height", WireField(3, WireField(1, "\1"))},
                 {"image/width", WireField(3, WireField(1, "\1"))},
                 {"image/filename",
                  WireField(1, WireField(1, "train-images.gz#00019"))},
                 {"image/packed",
                  WireField(1, WireField(1, std::string("\0\3\2\1", 4)))}})));
  EXPECT_EQ(Extract().bad, 0);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : Files()) {
    names.push_back(name);
  }
  EXPECT_THAT(names,
              ElementsAre("1/X_train.raw#00017.jpg", "1/X_train.raw#00018",
                          "unlabelled/train-images.gz#00019.png"));
}

}  // namespace infeed::extraction_test
