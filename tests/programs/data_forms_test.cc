// The programs on the same photographs as a folder, tars, a zip and TFRecords.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/train_resnet.h"
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

TEST_F(DataFormsTest, AllFormsHaveTheSameBatches) {
  const std::string flags = "--threads 3 --recipe torchvision";
  const std::string expected = Hash(forms_.shards(), flags);
  for (const std::string& data : forms_.all()) {
    EXPECT_EQ(Hash(data, flags), expected) << data;
  }
}

TEST_F(DataFormsTest, AllFormsHaveTheSameBatchesWithSeekIndexes) {
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

TEST_F(DataFormsTest, ATrainingTakesThemAll) {
  for (const std::string& data : forms_.all()) {
    const TemporaryFolder model;
    const ProgramResult result =
        RunTrainResnet("--data_dir " + data + " --model_dir " + (model / "m") +
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

void WriteTar(const std::string& path, const std::vector<int>& labels) {
  TarFile tar;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string key = std::to_string(i);
    tar.Add(key + ".jpg", TestJpeg())
        .Add(key + ".cls", std::to_string(labels[i]));
  }
  WriteFileAtomically(path, tar.text());
}

TEST(LabelNumbersTest, ConversionKeepsLabels) {
  const TemporaryFolder data;
  WriteTar(data / "val-0.tar", {0, 1, 2, 2});
  WriteFileAtomically(data / "labels.txt", "red\ngreen\nblue\n");
  const ProgramResult made =
      RunProgram("imagenet_to_records", "--raw_data_dir " + data.path() +
                                            " --local_scratch_dir " +
                                            (data / "out") + " --shards 1");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(ReadWholeFile(data / "out/labels.txt", 100), "red\ngreen\nblue\n");
  const std::string flags =
      " --hash 2 --batch_size 4 --image_size 16 --eval --split validation";
  const auto hash = [&](const std::string& folder) {
    return RunProgram("pipeline_throughput", "--data_dir " + folder + flags)
        .out;
  };
  EXPECT_EQ(hash(data / "out"), hash(data.path()));
}

TEST(ImageKeyTest, NamesOneOfTwoImages) {
  const TemporaryFolder data;
  TarFile tar;
  for (const std::string key : {"0", "1", "2", "3"}) {
    tar.Add(key + ".png", TestJpeg({.seed = 2}))
        .Add(key + ".jpg", TestJpeg())
        .Add(key + ".cls", "0");
  }
  const std::string path = data / "x.tar";
  WriteFileAtomically(path, tar.text());
  const auto read = [](const std::string& input) {
    return RunProgram("pipeline_throughput",
                      "--hash 1 --batch_size 4 --image_size 16 --recipe plain "
                      "--data_dir " +
                          input);
  };
  const std::string convert =
      "--shards 1 --raw_data_dir " + path + " --local_scratch_dir ";
  const ProgramResult open = read(path);
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.err, AllOf(HasSubstr("x.tar: jpg and png may both"),
                              HasSubstr("give image_key=jpg")));
  const ProgramResult refused =
      RunProgram("imagenet_to_records", convert + (data / "out"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("give image_key=jpg"));
  const ProgramResult made = RunProgram(
      "imagenet_to_records", convert + (data / "out") + " --image_key png");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const std::string png = read(path + " --image_key png").out;
  EXPECT_EQ(read(data / "out").out, png);
  EXPECT_NE(read(path + " --image_key jpg").out, png);
}

TEST(DataThatAreNoRecordsTest, OtherFilesAreNamed) {
  const TemporaryFolder data;
  WriteFileAtomically(data / "a.jpg", TestJpeg());
  WriteFileAtomically(data / "a.gif", "GIF89a" + std::string(100, '\0'));
  WriteFileAtomically(data / "a.txt", "photos/1.jpg\nphotos/2.jpg\n");
  WriteFileAtomically(data / "a.parquet", "PAR1" + std::string(100, '\0'));
  WriteFileAtomically(data / "a.tar.xz",
                      "\xFD"
                      "7zXZ" +
                          std::string(100, '\0'));
  WriteFileAtomically(data / "a.h5", "\x89HDF\r\n" + std::string(100, '\0'));
  const std::string throughput = "pipeline_throughput";
  const std::string converter = "imagenet_to_records";
  const std::string trainer = "train_resnet";
  const std::map<std::string, std::string> flags = {
      {throughput, "--dry_run --data_dir "},
      {converter, "--dry_run --local_scratch_dir out --raw_data_dir "},
      {trainer, "--dry_run --model_dir none --data_dir "}};
  struct Other {
    std::string program;
    std::string paths;
    const char* what;
  };
  for (const Other& other :
       {Other{throughput, data / "a.jpg", "a JPEG image"},
        Other{converter, data / "a.tar.xz", "packed by xz"},
        Other{trainer, data / "a.h5", "an HDF5 file"},
        Other{converter, (data / "a.jpg") + "," + (data / "a.gif"),
              "a JPEG image"},
        Other{throughput, data / "a.gif", "GIF images cannot be read"},
        Other{trainer, data / "a.txt", "a text file"},
        Other{throughput, data / "a.parquet", "a Parquet file"}}) {
    const ProgramResult result =
        RunHere(other.program, flags.at(other.program) + other.paths);
    EXPECT_EQ(result.exit_code, 3) << other.paths << result.err;
    EXPECT_THAT(result.err, HasSubstr(other.what));
  }
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
