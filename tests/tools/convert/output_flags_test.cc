#include "tools/convert/output_flags.h"

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/cli/flags.h"

namespace infeed::output_flags_test {

using Words = std::vector<std::string>;

OutputFlags Parsed(Words words) {
  words.insert(words.begin(), {"tool", "--local_scratch_dir", "out"});
  CLI::App app("A tool.");
  OutputFlags flags;
  AddOutputFlags(app, flags);
  ArgumentVector argv(std::move(words));
  EXPECT_TRUE(ParseFlags(app, argv.argc(), argv.argv()));
  return flags;
}

// Why the flags are refused; "": they are not.
std::string ErrorOf(const Words& words) {
  return MessageOf<UsageError>([&] {
    const OutputFlags flags = Parsed(words);
    (void)CheckedPlanOptions(flags);
    (void)CheckedConverterOptions(flags);
    (void)CheckedUploadTarget(flags);
  });
}

struct WrongFlags {
  Words words;
  const char* says;
};

TEST(OutputFlagsTest, RefuseValuesOutOfRange) {
  for (const WrongFlags& wrong :
       {WrongFlags{{"--shards", "0"}, "shards"},
        WrongFlags{{"--shards", "some"}, "shards"},
        WrongFlags{{"--layout", "round"},
                   "--layout: round is not flat or reference"},
        WrongFlags{{"--on_bad_image", "ignore"},
                   "--on_bad_image: ignore is not fail, skip or reencode"},
        WrongFlags{{"--on_bad_image", "1"}, "--on_bad_image: 1 is not fail"},
        WrongFlags{{"--threads=-1"}, "threads"},
        WrongFlags{{"--max_size", "31"}, "max_size"},
        WrongFlags{{"--quality", "0"}, "quality"},
        WrongFlags{{"--format", "avif"}, "format"},
        WrongFlags{{"--seek_index", "2"}, "--seek_index: 2 not"}}) {
    EXPECT_THAT(ErrorOf(wrong.words), HasSubstr(wrong.says));
  }
}

TEST(OutputFlagsTest, RefuseFlagsThatContradict) {
  for (const WrongFlags& wrong :
       {WrongFlags{{"--format", "pixels", "--max_size", "64"},
                   "--format pixels leaves no image to store"},
        WrongFlags{{"--format", "pixels", "--keep_png"},
                   "--format pixels leaves no image to store"},
        WrongFlags{{"--image_size", "64"},
                   "--image_size is for --format pixels"},
        WrongFlags{{"--on_bad_image", "reencode", "--no_verify_images"},
                   "leave --no_verify_images out"},
        WrongFlags{{"--format", "webdataset", "--seek_index", "rows"},
                   "leave it out with --format webdataset"},
        WrongFlags{{"--finish", "--task_index", "1"}, "leave --task_index out"},
        WrongFlags{{"--num_tasks", "3"}, "belong together"}}) {
    EXPECT_THAT(ErrorOf(wrong.words), HasSubstr(wrong.says));
  }
  EXPECT_EQ(ErrorOf({"--format", "webdataset", "--seek_index", "none"}), "");
}

TEST(OutputFlagsTest, SetThePlanAndTheImages) {
  EXPECT_EQ(CheckedPlanOptions(Parsed({"--shards", "2kB"})).shard_bytes, 2000);
  const ImageEncoderOptions image =
      CheckedConverterOptions(
          Parsed({"--max_size", "50", "--quality", "80", "--exif_orientation",
                  "--keep_png", "--no-verify-images"}))
          .image;
  EXPECT_EQ(image.max_size, 50);
  EXPECT_EQ(image.quality, 80);
  EXPECT_TRUE(image.exif_rotate);
  EXPECT_TRUE(image.keep_png);
  EXPECT_FALSE(image.verify);
}

TEST(OutputFlagsTest, SayWhereToUpload) {
  const std::string url = "gs://bucket";
  for (const WrongFlags& wrong :
       {WrongFlags{{"--gcs_upload"}, "--project is required"},
        WrongFlags{{"--gcs_upload=true", "--project", "p"},
                   "--gcs_output_path is required"},
        WrongFlags{{"--gcs_output_path", url}, "--project is required"},
        WrongFlags{{"--gcs_output_path", "/folder", "--project", "p"},
                   "--gcs_output_path /folder: must start with gs://BUCKET or "
                   "s3://"},
        WrongFlags{{"--gcs_output_path", "gs://", "--project", "p"},
                   "must start with gs://BUCKET"}}) {
    EXPECT_THAT(ErrorOf(wrong.words), HasSubstr(wrong.says));
  }
  EXPECT_EQ(
      CheckedUploadTarget(Parsed({"--gcs_output_path", url, "--project", "p"}))
          .url,
      url);
  EXPECT_EQ(
      CheckedUploadTarget(Parsed({"--gcs_output_path", "S3://Bucket/Key"})).url,
      "s3://Bucket/Key");
  for (const char* const off : {"--nogcs_upload", "--gcs_upload=false"}) {
    EXPECT_TRUE(
        CheckedUploadTarget(Parsed({off, "--gcs_output_path", url})).empty());
  }
  OutputFlags flags;
  flags.output_dir = "s3://bucket/out";
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)CheckedConverterOptions(flags); }),
      HasSubstr("--gcs_output_path uploads from there"));
}

}  // namespace infeed::output_flags_test
