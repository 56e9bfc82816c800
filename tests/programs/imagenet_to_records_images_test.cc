// The images that imagenet_to_records writes, as other readers get them.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/objects.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"
#include "records/tfrecord/reader.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed::imagenet_to_records_images_test {

constexpr std::int64_t kMaxBytes = 1 << 26;

// The parts of an Example that are checked here.
struct Stored {
  std::string filename;
  std::string format;
  std::string encoded;
  std::int64_t width = 0;
  std::int64_t height = 0;
};

class ConvertedImagesTest : public ::testing::Test {
 protected:
  ProgramResult Convert(const std::string& more) {
    return RunProgram("imagenet_to_records",
                      "--raw_data_dir " + (raw_ / "raw") +
                          " --local_scratch_dir " + out() + " --shards " +
                          shards_ + " " + more);
  }
  std::vector<Stored> Records() {
    std::vector<Stored> records;
    TfrecordReader reader(out() + "/train-00000-of-00001");
    while (const std::optional<Record> record = reader.Next()) {
      const ImagenetExampleView example = ParseImagenetExample(record->payload);
      records.push_back({std::string(example.filename),
                         std::string(example.format),
                         std::string(AsText(example.encoded)), example.width,
                         example.height});
    }
    return records;
  }
  [[nodiscard]] std::string out() const { return raw_ / "out"; }

  ImageFolder raw_;
  std::string shards_ = "1";
};

TEST_F(ConvertedImagesTest, DamagedImagesAreMended) {
  const std::string jpeg = TestJpeg({.width = 64, .height = 64});
  raw_.Jpeg("raw/a/good.jpg")
      .File("raw/a/cut.jpg", jpeg.substr(0, jpeg.size() / 2))
      .File("raw/a/none.jpg", "no image");
  EXPECT_EQ(Convert("").exit_code, 3);
  const ProgramResult result = Succeeded(Convert("--on_bad_image reencode"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("none.jpg: left out: not an image"),
                    HasSubstr("cut.jpg: re-encoded: damaged: Premature end")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 image was re-encoded"),
                                HasSubstr("1 bad image was left out"),
                                HasSubstr("conversion_report.json lists")));
  const std::vector<Stored> records = Records();
  ASSERT_THAT(records, SizeIs(2));
  for (const Stored& record : records) {
    JpegDecoder decoder;
    RgbImage image;
    (void)decoder.ReadHeader(AsBytes(record.encoded));
    decoder.Decode(image);
    EXPECT_EQ(image.width(), record.width);
  }
  EXPECT_THAT(
      ReadWholeFile(out() + "/.infeed/conversion_report.json", kMaxBytes),
      AllOf(HasSubstr("\"reencoded_images\": 1"), HasSubstr("cut.jpg"),
            HasSubstr("\"skipped_images\": 1"), HasSubstr("none.jpg"),
            HasSubstr("\"reason\": \"not an image")));
}

// From the flag to the decoder.
TEST_F(ConvertedImagesTest, SeekIndexesAreUsed) {
  raw_.File("raw/a/1.jpg", TestJpeg({.width = 96, .height = 80}))
      .File("raw/a/2.jpg", TestJpeg({.width = 96, .height = 64}))
      .File("raw/a/3.jpg", TestJpeg({.progressive = true}));
  for (const std::string more : {"", "--seek_index=4", "--seek_index none"}) {
    const ProgramResult result = Succeeded(Convert("--overwrite " + more));
    const bool is_indexed = more != "--seek_index none";
    EXPECT_EQ(
        result.out.find("seek index: 2 of 3 images\n") != std::string::npos,
        is_indexed);
    const RecordIndex index(FindSplit(out(), "train"));
    InputPipeline pipeline(index, {.batch_size = 3, .training = false});
    EXPECT_NE(pipeline.Next(), nullptr);
    const SeekIndexStats stats = pipeline.stats().seek_indexes;
    EXPECT_EQ(stats.used, is_indexed ? 2 : 0);
    EXPECT_EQ(stats.refused, 0);
    EXPECT_EQ(stats.none, is_indexed ? 1 : 3);
  }
}

// From a json of COCO to the boxes of a batch; "plain" leaves the image as it
// is.
TEST_F(ConvertedImagesTest, BoxesOfCocoAreReadFromTheRecords) {
  raw_.Jpeg("raw/a.jpg").File("raw/train.json", R"({
    "images": [{"id": 7, "file_name": "a.jpg", "width": 16, "height": 8}],
    "annotations": [
      {"image_id": 7, "category_id": 18, "bbox": [1, 2, 3.5, 4], "iscrowd": 0},
      {"image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 2], "iscrowd": 1}],
    "categories": [{"id": 1, "name": "person"}, {"id": 18, "name": "dog"}]})");
  const std::string coco = "--coco " + (raw_ / "raw/train.json");
  ASSERT_THAT(
      Convert(coco + " --drop_crowds"),
      Ends(0, AllOf(HasSubstr("--coco: 1 object in 1 of 1 image; left out: 1 "
                              "crowd"),
                    HasSubstr("infeed.Objects(\"infeed\")"))));
  EXPECT_EQ(Convert(coco + " --max_size 32").exit_code, 2);
  const RecordIndex index(FindSplit(out(), "train"));
  InputPipeline pipeline(
      index, {.batch_size = 1,
              .preprocess = {.recipe = Recipe::kPlain, .image_size = {8, 16}},
              .training = false,
              .objects = ObjectsPreset("infeed")});
  const BatchHandle batch = pipeline.Next();
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(batch->boxes().xyxy, ElementsAre(1, 2, 4.5, 6));
  EXPECT_THAT(batch->fields()[0].int64s, ElementsAre(18));
}

// Beside good JPEGs: two PNGs, a turned JPEG, and GIFs, of which one is called
// a JPEG.
class NoticesTest : public ConvertedImagesTest {
 protected:
  NoticesTest() {
    const std::string png = EncodePng(TestPhotograph(20, 20, 1).view());
    raw_.Jpegs({"raw/a/1.jpg", "raw/b/1.jpg"});
    raw_.File("raw/a/2.png", png).File("raw/b/2.png", png);
    raw_.File("raw/a/3.jpg", turned_);
    raw_.File("raw/a/4.gif", "GIF89a").File("raw/b/4.jpg", "GIF89a");
  }
  [[nodiscard]] nlohmann::json Notices() const {
    return nlohmann::json::parse(ReadWholeFile(
        out() + "/.infeed/conversion_report.json", kMaxBytes))["notices"];
  }

  const std::string turned_ = WithOrientation(TestJpeg(), 6);
};

TEST_F(NoticesTest, NoticesAreOnStderrAndInTheReport) {
  EXPECT_THAT(Convert("--dry_run").err,
              HasSubstr("GIF files left out: 1, such as "));
  const ProgramResult result = Succeeded(Convert("--on_bad_image skip"));
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("\nGIF files left out: 2, such as " +
                      (raw_ / "raw/a/4.gif") +
                      "; GIF images cannot be read: "
                      "convert them to PNG or JPEG first\n"),
            HasSubstr("\nPNG images that became lossy JPEGs: 2, such as "),
            HasSubstr("; --keep_png stores them as they are\n"),
            HasSubstr(
                "\nimages stored without the rotation in their EXIF data: 1, "
                "such as " +
                (raw_ / "raw/a/3.jpg") + "; --exif_rotate turns them\n")));
  const nlohmann::json notices = Notices();
  ASSERT_EQ(notices.size(), 3U);
  EXPECT_EQ(notices[0]["what"], "GIF files left out");
  EXPECT_EQ(notices[0]["count"], 2);
  EXPECT_EQ(notices[1]["hint"], "--keep_png stores them as they are");
  EXPECT_EQ(notices[2]["example"], raw_ / "raw/a/3.jpg");
  for (const Stored& record : Records()) {
    EXPECT_TRUE(record.filename != "3.jpg" || record.encoded == turned_);
  }
}

TEST_F(NoticesTest, ManifestsGiveTheSameNotices) {
  raw_.File("raw/list.csv",
            "path,label\na/2.png,a\na/3.jpg,a\na/4.gif,a\nb/4.jpg,b\n");
  const std::string manifest = "--manifest " + (raw_ / "raw/list.csv");
  EXPECT_THAT(Convert(manifest).err,
              HasSubstr(": GIF images cannot be read: convert them to PNG or "
                        "JPEG first (--on_bad_image skip"));
  ASSERT_THAT(Convert(manifest + " --on_bad_image skip"),
              Ends(0, AllOf(HasSubstr("GIF files left out: 2, such as "),
                            HasSubstr("lossy JPEGs: 1, such as "),
                            HasSubstr("EXIF data: 1, such as "))));
}

TEST_F(NoticesTest, NoticesOfTasksAddUp) {
  shards_ = "3";
  const std::string flags = "--on_bad_image skip --num_tasks 3";
  for (const std::string task : {"0", "1", "2"}) {
    ASSERT_EQ(Convert(flags + " --task_index " + task).exit_code, 0);
  }
  ASSERT_THAT(Convert(flags + " --finish"), Ends(0));
  const nlohmann::json notices = Notices();
  ASSERT_EQ(notices.size(), 3U);
  EXPECT_EQ(notices[0]["count"], 2);
  EXPECT_EQ(notices[1]["count"], 2);
  EXPECT_EQ(notices[2]["count"], 1);
}

// Two by two black pixels.
std::string SmallBmp() {
  std::string bytes(
      "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0\x18\0", 30);
  bytes.resize(70);
  return bytes;
}

// A program that is found by PATH has no path of its own from the system.
TEST_F(ConvertedImagesTest, FindThePluginWhateverTheProgramIsCalledBy) {
  raw_.File("raw/a/1.bmp", SmallBmp());
  EXPECT_THAT(RunProgram("/usr/bin/env",
                         "PATH=" INFEED_PROGRAMS
                         " imagenet_to_records --raw_data_dir " +
                             (raw_ / "raw") + " --local_scratch_dir " + out()),
              Ends(0));
}

TEST_F(ConvertedImagesTest, NeedThePluginForSomeFormats) {
  raw_.File("raw/a/1.bmp", SmallBmp());
  const TemporaryFolder elsewhere;
  const std::string alone = elsewhere / "imagenet_to_records";
  std::filesystem::copy_file(INFEED_PROGRAMS "/imagenet_to_records", alone);
  EXPECT_THAT(
      RunProgram(alone, "--raw_data_dir " + raw_.path() +
                            "/raw --local_scratch_dir " + (elsewhere / "out")),
      Ends(3, HasSubstr("libinfeed_codecs.so")));
}

}  // namespace infeed::imagenet_to_records_images_test
