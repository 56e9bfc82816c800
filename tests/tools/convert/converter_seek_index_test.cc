#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/store/seek_feature.h"
#include "records/tfrecord/reader.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tools/convert/conversion_text.h"
#include "tools/convert/converter.h"

namespace infeed {
namespace {

// Converts validation images, whose order is that of their names.
class ConverterSeekIndexTest : public ::testing::Test {
 protected:
  ConversionReport Convert(const ConverterOptions& options = {}) {
    return infeed::Convert(
        PlanConversion(FindImages(raw_.path()), {.shards = 1}), out_.path(),
        options, [](const ConversionProgress&) {});
  }
  ConversionReport Convert(SeekEntries entries) {
    return Convert({.seek_index = entries, .overwrite = true});
  }

  // For each record the run of its index, 0: it has none. Expects that it is
  // the JPEG's own.
  [[nodiscard]] std::vector<int> Runs() const {
    std::vector<int> runs;
    for (const std::string& shard : FindSplit(out_.path(), "validation")) {
      TfrecordReader reader(shard);
      while (const std::optional<Record> record = reader.Next()) {
        runs.push_back(RunOf(ParseImagenetExample(record->payload)));
      }
    }
    return runs;
  }

  ImageFolder raw_;
  TemporaryFolder out_;

 private:
  static int RunOf(const ImagenetExampleView& example) {
    if (example.seek_index.empty()) {
      return 0;
    }
    const OpenedSeekIndex opened =
        OpenSeekIndex(example.seek_index, example.encoded);
    EXPECT_EQ(opened.seal, SeekSeal::kGood);
    JpegSeekIndex index;
    EXPECT_TRUE(ParseSeekIndex(opened.body, index));
    EXPECT_EQ(MakeSeekIndex(example.encoded, index.run), index);
    return index.run;
  }
};

// 96 pixels are 12 MCUs.
const TestJpegOptions kWide = {.width = 96, .height = 40};

TEST_F(ConverterSeekIndexTest, RowIndexesAreTheDefault) {
  raw_.File("validation/a/1.jpg", TestJpeg(kWide));
  EXPECT_EQ(Convert().seek_indexes, 1);
  EXPECT_THAT(Runs(), ElementsAre(12));
  (void)Convert(SeekEntries::kEvery8th);
  EXPECT_THAT(Runs(), ElementsAre(8));
  (void)Convert(SeekEntries::kEvery4th);
  EXPECT_THAT(Runs(), ElementsAre(4));
  EXPECT_EQ(Convert(SeekEntries::kNone).seek_indexes, std::nullopt);
  EXPECT_THAT(Runs(), ElementsAre(0));
}

TEST_F(ConverterSeekIndexTest, ImagesWithoutAnIndexGetNone) {
  TestJpegOptions progressive = kWide;
  progressive.progressive = true;
  TestJpegOptions restarts = kWide;
  restarts.restart_interval = 3;
  const std::string png = EncodePng(TestPhotograph(20, 10, 1).view());
  raw_.File("validation/a/1.jpg", TestJpeg(progressive))
      .File("validation/a/2.jpg", TestJpeg(kWide))
      .File("validation/a/3.jpg", TestJpeg(restarts))
      .File("validation/a/4.png", png);
  const ConversionReport report = Convert({.image = {.keep_png = true}});
  EXPECT_THAT(Runs(), ElementsAre(0, 12, 0, 0));
  EXPECT_EQ(report.seek_indexes, 1);
  EXPECT_THAT(RenderText(ConversionTable(report, out_.path())),
              HasSubstr("seek index: 1 of 4 images\n"));
  EXPECT_THAT(ReadWholeFile(ReportPath(out_.path(), {}), 100000),
              HasSubstr("\"seek_indexes\": 1"));
}

TEST_F(ConverterSeekIndexTest, IndexesAreOfTheStoredImage) {
  raw_.File("validation/a/1.png", EncodePng(TestPhotograph(96, 40, 1).view()));
  (void)Convert();  // To a JPEG with subsampled colour: MCUs of 16 pixels
  EXPECT_THAT(Runs(), ElementsAre(6));
}

TEST_F(ConverterSeekIndexTest, PixelsHaveNone) {
  raw_.File("validation/a/1.jpg", TestJpeg(kWide));
  const ConversionReport report =
      Convert({.image = {.format = ImageForm::kPixels, .image_size = 32}});
  EXPECT_THAT(Runs(), ElementsAre(0));
  EXPECT_THAT(RenderText(ConversionTable(report, out_.path())),
              Not(HasSubstr("seek index")));
}

TEST_F(ConverterSeekIndexTest, KeptShardsCountTheirIndexes) {
  raw_.File("validation/a/1.jpg", TestJpeg(kWide));
  (void)Convert();
  const ConversionReport report = Convert();
  EXPECT_EQ(report.kept_shards, 1);
  EXPECT_EQ(report.seek_indexes, 1);
  // Another index makes other bytes: nothing is kept.
  EXPECT_EQ(Convert(SeekEntries::kEvery8th).kept_shards, 0);
}

}  // namespace
}  // namespace infeed
