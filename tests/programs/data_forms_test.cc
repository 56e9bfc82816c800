// The programs on the same photographs as a folder, tars, a zip and TFRecords.

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/zip_builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace data_forms_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DataFormsTest : public ::testing::Test {
 protected:
  static std::string Hash(const std::string& data, const std::string& flags) {
    const ProgramResult result =
        RunProgram("pipeline_throughput",
                   "--data_dir " + data +
                       " --hash 12 --batch_size 8 --image_size 16 " + flags);
    EXPECT_EQ(result.exit_code, 0) << data << result.err;
    return result.out;
  }

  TemporaryFolder cache_;
  EnvironmentVariable cache_home_{"XDG_CACHE_HOME", cache_.path()};
  PhotographForms forms_;
};

TEST_F(DataFormsTest, HaveTheSameBatches) {
  for (const std::string flags :
       {"--threads 1", "--threads 3 --recipe torchvision", "--shuffle none",
        "--eval --split validation"}) {
    const std::string expected = Hash(forms_.shards(), flags);
    for (const std::string& data : forms_.all()) {
      EXPECT_EQ(Hash(data, flags), expected) << data << " " << flags;
    }
  }
}

TEST_F(DataFormsTest, HaveTheSameBatchesWithSeekIndexes) {
  const std::string expected = Hash(forms_.images(), "--threads 2");
  const ProgramResult made =
      RunProgram("records", "index --seek " + forms_.images() + " " +
                                forms_.tars() + " " + forms_.zip());
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("image files need no index"),
                              HasSubstr("/.infeed/photos.zip.index"),
                              HasSubstr("wrote 30 seek indexes")));
  for (const std::string& data : forms_.all()) {
    EXPECT_EQ(Hash(data, "--threads 2"), expected) << data;
  }
  const ProgramResult again =
      RunProgram("records", "index --seek " + forms_.images() + "/");
  EXPECT_THAT(again.out, HasSubstr("seek indexes are up to date"));
}

TEST_F(DataFormsTest, ArchivesAreReadByTheVerbs) {
  for (const std::string& data : {forms_.tars(), forms_.zip()}) {
    EXPECT_THAT(RunProgram("records", "count " + data).out,
                HasSubstr("total 42"));
    EXPECT_THAT(RunProgram("records", "ls " + data).out, HasSubstr("42"));
    EXPECT_THAT(RunProgram("records", "head " + data).out,
                HasSubstr("train1000.jpg"));
    EXPECT_THAT(RunProgram("records", "verify " + data).out,
                HasSubstr("42 records in"));
    EXPECT_THAT(RunProgram("records", "stats " + data).out,
                HasSubstr("classes     3"));
    const TemporaryFolder out;
    EXPECT_THAT(
        RunProgram("records", "extract --output " + (out / "x") + " " + data)
            .out,
        HasSubstr("42 images in 3 folders"));
  }
}

TEST_F(DataFormsTest, VerbsThatWriteShardsNameTheProgramThatConverts) {
  const TemporaryFolder out;
  const std::string output = " --output " + (out / "x");
  for (const std::string& verb :
       {"repair" + output, "merge" + output, "reshard --prefix a" + output,
        "split --parts 2" + output, "diff " + forms_.shards()}) {
    for (const std::string& data :
         {forms_.images(), forms_.tars(), forms_.zip()}) {
      if (verb.starts_with("diff") && data == forms_.images()) {
        continue;  // It takes no folder without shards at all.
      }
      const ProgramResult result = RunProgram("records", verb + " " + data);
      EXPECT_EQ(result.exit_code, 2) << verb << " " << data;
      EXPECT_THAT(result.err,
                  HasSubstr("imagenet_to_records --raw_data_dir " + data));
      EXPECT_FALSE(std::filesystem::exists(out / "x"));
    }
  }
}

TEST_F(DataFormsTest, VerifyNamesWhatAZipLeavesOut) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.zip",
                      ZipBuilder()
                          .Add(StoredMember("../cat/a.jpg", "?"))
                          .Add(StoredMember("cat/b.jpg", TestJpeg()))
                          .bytes());
  const ProgramResult result =
      RunProgram("records", "verify " + (folder / "a.zip"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("the first ../cat/a.jpg\n"),
                                HasSubstr("1 records in 1 shards, 0 bad")));
}

TEST_F(DataFormsTest, ATrainingTakesThemAll) {
  for (const std::string& data : forms_.all()) {
    const TemporaryFolder model;
    const ProgramResult result = RunProgram(
        "train_resnet", "--data_dir " + data + " --model_dir " + (model / "m") +
                            " --dry_run --params_override "
                            "train_batch_size=4,eval_batch_size=4,image_size="
                            "32,resnet_depth=18,"
                            "train_steps=2,iterations_per_loop=1");
    EXPECT_EQ(result.exit_code, 0) << data << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("train 30 images"),
                                  HasSubstr("validation 12 images"),
                                  HasSubstr("3 classes")))
        << data;
    if (data == forms_.tfds()) {
      EXPECT_THAT(result.err, HasSubstr("train: keys: found in the records: "
                                        "image_key=image label_key=label"));
    }
  }
}

TEST_F(DataFormsTest, AnIndexThatCannotBeKeptIsNamed) {
  RecordFile().Write(forms_.tars() + "/.infeed");
  const EnvironmentVariable no_cache("XDG_CACHE_HOME",
                                     forms_.tars() + "/.infeed");
  const ProgramResult result = RunProgram("records", "index " + forms_.tars());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot make a folder for side files"));
}

TEST_F(DataFormsTest, CutArchivesAreDamaged) {
  const std::string tar = forms_.tars() + "/train-000000.tar";
  std::filesystem::resize_file(tar, std::filesystem::file_size(tar) / 2 + 7);
  const ProgramResult result =
      RunProgram("pipeline_throughput",
                 "--data_dir " + forms_.tars() + " --hash 1 --batch_size 8");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr(tar));
}

}  // namespace data_forms_test
}  // namespace infeed
