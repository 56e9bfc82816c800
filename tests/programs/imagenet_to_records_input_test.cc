#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/tfrecord/reader.h"
#include "tests/support/image_folder.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/run_program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The plan of a conversion, from a dry run.
ProgramResult Plan(const std::string& input) {
  return RunProgram("imagenet_to_records",
                    input + " --dry_run --local_scratch_dir /nowhere");
}

// Many files that a dry run does not open. Nothing syncs them.
void ManyFiles(const ImageFolder& raw, const std::string& folder, int count) {
  std::filesystem::create_directories(raw / folder);
  for (int i = 0; i < count; ++i) {
    std::ofstream(raw / (folder + "/" + std::to_string(i) + ".jpg")) << i;
  }
}

// The flowers of the ResNet-50 on TPU guide.
TEST(ImagenetToRecordsInputTest, DividesTheFlowersAsTheReference) {
  const ImageFolder raw;
  ManyFiles(raw, "daisy", 633);
  ManyFiles(raw, "dandelion", 898);
  ManyFiles(raw, "roses", 641);
  ManyFiles(raw, "sunflowers", 699);
  ManyFiles(raw, "tulips", 799);
  const ProgramResult result =
      Plan("--raw_data_dir " + raw.path() + " --split reference");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("train           2934 images"),
                                HasSubstr("validation       364 images"),
                                HasSubstr("test             372 images")));
}

TEST(ImagenetToRecordsInputTest, UnitesFolders) {
  ImageFolder first;
  ImageFolder second;
  first.Jpegs({"cat/1.jpg"});
  second.Jpegs({"cat/2.jpg", "dog/1.jpg"});
  for (const std::string& flags :
       {"--raw_data_dir " + first.path() + " --raw_data_dir " + second.path(),
        "--raw_data_dir " + first.path() + "," + second.path()}) {
    const ProgramResult result = Plan(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("3 images"), HasSubstr("2 classes")));
  }
}

TEST(ImagenetToRecordsInputTest, TakesAFolderWithACommaInItsName) {
  ImageFolder raw;
  raw.Jpegs({"a,b/cat/1.jpg"});
  const ProgramResult result = Plan("--raw_data_dir " + (raw / "a,b"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(ImagenetToRecordsInputTest, RefusesAFolderWithoutAName) {
  ImageFolder raw;
  raw.Jpegs({"cat/1.jpg"});
  const ProgramResult result = Plan("--raw_data_dir " + raw.path() + ",");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("one of the folders has no name"));
}

TEST(ImagenetToRecordsInputTest, ConvertsWhatAManifestNames) {
  ImageFolder raw;
  raw.Jpegs({"1.jpg", "2.jpg"})
      .File("m.csv", "path,label,split\n1.jpg,cat,train\n2.jpg,dog,test\n");
  const ProgramResult result = RunProgram(
      "imagenet_to_records", "--manifest " + (raw / "m.csv") +
                                 " --local_scratch_dir " + (raw / "out"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("out/train-00000-of-00001"),
                                HasSubstr("out/test-00000-of-00001")));
}

TEST(ImagenetToRecordsInputTest, DividesAManifestWithoutSplits) {
  ImageFolder raw;
  raw.Jpegs({"a/1.jpg", "a/2.jpg"})
      .File("m.csv", "path,label\n1.jpg,cat\n2.jpg,cat\n");
  const ProgramResult result =
      Plan("--manifest " + (raw / "m.csv") + " --raw_data_dir " + (raw / "a") +
           " --split 0.5/0.5");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("validation         1 image "));
}

TEST(ImagenetToRecordsInputTest, TakesOneFolderForAManifestsPaths) {
  ImageFolder raw;
  raw.Jpegs({"1.jpg"}).File("m.csv", "path,label\n1.jpg,cat\n");
  const ProgramResult result = Plan("--manifest " + (raw / "m.csv") +
                                    " --raw_data_dir a --raw_data_dir b");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("can start at one folder only"));
}

TEST(ImagenetToRecordsInputTest, ReportsDuplicates) {
  ImageFolder raw;
  raw.File("a/1.jpg", "x").File("b/2.jpg", "x");
  const ProgramResult result =
      Plan("--raw_data_dir " + raw.path() + " --report_duplicates");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("2 images have the same content, but different "
                              "classes"),
                    HasSubstr("b/2.jpg (class b, train)")));
  EXPECT_THAT(result.err, HasSubstr("duplicates: 1 group of images"));
}

// ImageNet has a PNG and CMYK images among its JPEGs; none is recognizable by
// its name.
TEST(ImagenetToRecordsInputTest, TellsOddImagesByTheirContent) {
  const RgbImage photograph = TestPhotograph(40, 30, 1);
  ImageFolder raw;
  raw.File("a/png.JPEG", EncodePng(photograph.view()));
  raw.File("a/cmyk.JPEG", TestJpeg({.color = TestColor::kCmyk}));
  raw.File("a/adobe.JPEG", TestJpeg({.color = TestColor::kAdobeCmyk}));
  raw.File("a/ycck.JPEG", TestJpeg({.color = TestColor::kAdobeYcck}));
  raw.File("a/gray.pgm", "P5 2 2 255\nabcd");
  raw.File(
      "a/jpeg2000.jp2",
      ReadWholeFile(INFEED_TEST_DATA "/../fuzz/corpus/image_size_fuzz/tiny.jp2",
                    1000));
  raw.Jpeg("a/jpeg.png");
  const ProgramResult result =
      RunProgram("imagenet_to_records", "--raw_data_dir " + raw.path() +
                                            " --shards 1 --local_scratch_dir " +
                                            (raw / "out"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("6 images were re-encoded"));
  TfrecordReader reader(raw / "out/train-00000-of-00001");
  JpegDecoder decoder;
  int colour_jpegs = 0;
  while (const std::optional<Record> record = reader.Next()) {
    const ImagenetExampleView example = ParseImagenetExample(record->payload);
    colour_jpegs +=
        static_cast<int>(decoder.ReadHeader(example.encoded).components == 3);
  }
  EXPECT_EQ(colour_jpegs, 7);
}

TEST(ImagenetToRecordsInputTest, PlansRawFiles) {
  ImageFolder raw;
  raw.File("data_batch_1.bin", CifarRecord(1) + CifarRecord(9))
      .File("test_batch.bin", CifarRecord(1));
  const ProgramResult result =
      Plan("--raw_data_dir " + raw.path() + " --raw_format cifar10");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("data_batch_2.bin: is not there"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("train              2 images"),
                                HasSubstr("test               1 image "),
                                HasSubstr("10 classes")));
}

TEST(ImagenetToRecordsInputTest, TakesRawFilesOfOneFolder) {
  for (const char* more : {"--raw_data_dir b", "--manifest m.csv"}) {
    const ProgramResult result =
        Plan(std::string("--raw_data_dir a --raw_format idx ") + more);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--raw_format: takes the raw files of "
                                      "one --raw_data_dir"));
  }
}

TEST(ImagenetToRecordsInputTest, DoesNotDivideWhatIsDivided) {
  ImageFolder raw;
  raw.Jpegs({"train/a/1.jpg"});
  const ProgramResult result =
      Plan("--raw_data_dir " + raw.path() + " --split reference");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("the input is divided"));
}

}  // namespace
}  // namespace infeed
