
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

namespace infeed::imagenet_to_records_test {

ProgramResult Convert(const ImageFolder& raw, const std::string& out,
                      const std::string& more = "") {
  return RunProgram("imagenet_to_records", "--raw_data_dir " + raw.path() +
                                               " --local_scratch_dir " + out +
                                               " " + more);
}

TEST(ImagenetToRecordsTest, DividesAndConvertsClassFolders) {
  ImageFolder raw;
  raw.JpegsIn("cat", 20).JpegsIn("dog", 20);
  const ProgramResult result = Succeeded(
      Convert(raw, raw / "out", "--split 0.8/0.1/0.1 --shards 2 --threads 2"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("32 images"), HasSubstr("2 classes"),
                                HasSubstr("validation")));
  EXPECT_THAT(result.err, HasSubstr("40/40 images  100.0 %"));
  EXPECT_THAT(result.err,
              HasSubstr("\nnext: records verify " + raw / "out" +
                        "\n      train_resnet --data_dir " + raw / "out"));
  EXPECT_THAT(FindSplit(raw / "out", "train"), SizeIs(2));
  EXPECT_THAT(FindSplit(raw / "out", "test"), SizeIs(2));
}

TEST(ImagenetToRecordsTest, WritesNoMessagesIntoShards) {
  ImageFolder raw;
  raw.JpegsIn("cat", 20);
  ASSERT_EQ(Convert(raw, raw / "open").exit_code, 0);
  // A new file gets the lowest number that is free.
  for (const std::string closed : {">&-", "<&- >&- 2>&-"}) {
    const std::string out = raw / "out";
    ASSERT_EQ(Convert(raw, out, closed + " && true").exit_code, 0) << closed;
    const std::vector<std::string> shards = FindSplit(out, "train");
    ASSERT_THAT(shards, SizeIs(8));
    for (const std::string& shard : shards) {
      const std::string name = std::filesystem::path(shard).filename().string();
      EXPECT_EQ(ReadWholeFile(shard, 1 << 20),
                ReadWholeFile(raw / ("open/" + name), 1 << 20))
          << name << " " << closed;
    }
    std::filesystem::remove_all(out);
  }
}

TEST(ImagenetToRecordsTest, ADryRunSaysWhatItWouldDoAndDoesNothing) {
  ImageFolder raw;
  raw.JpegsIn("cat", 20);
  const std::string out = raw / "out";
  EXPECT_THAT(Succeeded(Convert(raw, out, "--dry_run")).out,
              AllOf(HasSubstr("20 images      8 shards"),
                    HasSubstr("out/train-00000-of-00008"),
                    HasSubstr("nothing was written")));
  EXPECT_FALSE(std::filesystem::exists(out));
  ASSERT_EQ(Convert(raw, out, "--shards 5").exit_code, 0);
  const std::string lost = out + "/train-00002-of-00005";
  std::filesystem::remove(lost);
  EXPECT_THAT(
      Succeeded(Convert(raw, out,
                        "--shards 5 --dry_run --num_tasks 2 --task_index 0 "
                        "--project p --gcs_output_path gs://bucket/images"))
          .out,
      AllOf(HasSubstr("task 0 of 2: 3 of the 5 shards"),
            HasSubstr("2 shards of an earlier run would be kept, 1 written"),
            HasSubstr("3 shards would be uploaded to gs://bucket/images/")));
  EXPECT_FALSE(std::filesystem::exists(lost));
  EXPECT_THAT(Convert(raw, out, "--shards 2 --dry_run").out,
              HasSubstr("4 shards of another conversion are in the way"));
}

TEST(ImagenetToRecordsTest, ADryRunSaysWhatWouldBeReplaced) {
  ImageFolder raw;
  raw.JpegsIn("raw/cat", 20);
  ImageFolder other;
  other.JpegsIn("raw/dog", 20);
  const std::string out = raw / "out";
  const auto convert = [&](const ImageFolder& input, const std::string& more) {
    return RunProgram("imagenet_to_records", "--raw_data_dir " + input / "raw" +
                                                 " --local_scratch_dir " + out +
                                                 " --shards 2 " + more);
  };
  ASSERT_THAT(convert(raw, ""), Ends(0));
  EXPECT_THAT(
      Succeeded(convert(other, "--dry_run")).out,
      HasSubstr("2 shards in the folder would be replaced\n4 files of another "
                "conversion are in the way: --overwrite replaces them\n"));
  EXPECT_THAT(convert(other, "--dry_run --overwrite").out,
              HasSubstr("4 files of another conversion would be replaced\n"));
  EXPECT_THAT(convert(other, ""),
              Ends(2, AllOf(HasSubstr(out + ": has 4 files of another input"),
                            HasSubstr("--overwrite to replace them"))));
  EXPECT_THAT(convert(raw, "--split 0.5/0.5"), Ends(2));
  raw.Jpeg("raw/cat/more.jpg");
  EXPECT_THAT(convert(raw, "--dry_run").out,
              AllOf(HasSubstr("2 shards in the folder would be replaced\n"),
                    Not(HasSubstr("in the way"))));
  EXPECT_THAT(Succeeded(convert(raw, "")).out,
              HasSubstr("2 shards in the folder were replaced\n"));
  EXPECT_THAT(Succeeded(convert(other, "--overwrite")).out,
              HasSubstr("1 class in "));
}

TEST(ImagenetToRecordsTest, GoesOnOnceThereIsRoomOnTheDisk) {
  const SmallDisk disk("300k");
  if (!disk.error().empty()) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  ImageFolder raw;
  for (int i = 0; i < 20; ++i) {
    raw.File("cat/" + std::to_string(i) + ".jpg",
             TestJpeg({.width = 150, .height = 150, .quality = 100}));
  }
  const std::string out = disk.path();
  EXPECT_THAT(Convert(raw, out, "--shards 10 --threads 2"),
              Ends(1, HasSubstr("No space left on device")));
  for (const auto& [name, bytes] : FilesBelow(out)) {
    EXPECT_THAT(name, Not(HasSubstr(".tmp-")));
  }
  disk.Grow("8m");
  EXPECT_THAT(Succeeded(Convert(raw, out, "--shards 10 --threads 2")).out,
              HasSubstr("shards of an earlier run were kept"));
  ASSERT_EQ(Convert(raw, raw / "out", "--shards 10").exit_code, 0);
  for (const std::string& shard : FindSplit(raw / "out", "train")) {
    const std::string name = std::filesystem::path(shard).filename().string();
    EXPECT_EQ(ReadWholeFile(out + "/" + name, 1 << 26),
              ReadWholeFile(shard, 1 << 26));
  }
}

}  // namespace infeed::imagenet_to_records_test
