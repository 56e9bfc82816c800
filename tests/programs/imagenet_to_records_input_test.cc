#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/tfrecord/reader.h"
#include "tests/support/image_folder.h"
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

}  // namespace
}  // namespace infeed
