// The programs on the same photographs as a folder, tars, a zip and TFRecords.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/grey_png.h"
#include "tests/support/matchers.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/train_resnet.h"

namespace infeed::data_forms_test {

class DataFormsTest : public ::testing::Test {
 protected:
  static std::string Hash(const std::string& data, const std::string& flags,
                          int batches = 12) {
    const ProgramResult result =
        RunProgram("pipeline_throughput",
                   "--data_dir " + data + " --hash " + std::to_string(batches) +
                       " --batch_size 8 --image_size 16 " + flags);
    EXPECT_EQ(result.exit_code, 0) << data << result.err;
    return result.out;
  }

  // Of what each of two ranks gets after one process has stopped in the middle
  // of an epoch.
  std::string HashesOfTheRest(const std::string& data) const {
    const std::string state = cache_ / "state.json";
    const std::string flags = "--recipe torchvision --augment randaugment ";
    (void)Hash(data, flags + "--threads 3 --save_state " + state, 5);
    std::string hashes;
    for (const char* const rank : {"0 --threads 2", "1 --threads 1"}) {
      hashes += Hash(
          data, flags + "--restore " + state + " --world_size 2 --rank " + rank,
          7);
    }
    return hashes;
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

TEST_F(DataFormsTest, AllFormsGoOnWithOtherRanksAndTheSameBytes) {
  const std::string expected = HashesOfTheRest(forms_.shards());
  for (const std::string& data : forms_.all()) {
    EXPECT_EQ(HashesOfTheRest(data), expected) << data;
  }
}

TEST_F(DataFormsTest, AllFormsHaveTheSameBatchesWithSeekIndexes) {
  const std::string expected = Hash(forms_.images(), "--threads 2");
  EXPECT_THAT(
      Succeeded(RunProgram("records", "index --seek " + forms_.images() + " " +
                                          forms_.tars() + " " + forms_.zip()))
          .out,
      AllOf(HasSubstr("image files need no index"),
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

TEST_F(DataFormsTest, NoneThatInfeedNumbersCountsFrom0) {
  const std::string why = "label_offset=0: the classes of ";
  for (const std::string& data : {forms_.images(), forms_.zip()}) {
    for (const char* classes : {"", " --num_label_classes 3"}) {
      EXPECT_THAT(RunTrainResnet("--data_dir " + data + " --model_dir " +
                                 (cache_ / "m") +
                                 " --dry_run --label_offset 0" + classes),
                  Ends(2, HasSubstr(why)));
    }
    EXPECT_THAT(RunProgram("pipeline_throughput",
                           "--data_dir " + data + " --label_offset 0"),
                Ends(2, HasSubstr(why)));
  }
}

TEST(DoctorTest, AdvisesASeekIndexForJpegsOnly) {
  const TemporaryFolder photos;
  const auto report = [&](const std::string& name, const std::string& image) {
    const std::string folder = photos / name + "/train/cat";
    std::filesystem::create_directories(folder);
    WriteFileAtomically(folder + "/1.png", image);
    return Succeeded(RunProgram("train_resnet",
                                "--mode doctor --data_dir " + photos / name))
        .out;
  };
  const std::string advice = "records index --help";
  EXPECT_THAT(report("png", GreyPng(4, std::vector<std::uint8_t>(16))),
              AllOf(HasSubstr("PNG images, none"), Not(HasSubstr(advice))));
  EXPECT_THAT(report("jpeg", TestJpeg()),
              AllOf(HasSubstr("JPEG images, none"), HasSubstr(advice)));
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

TEST(DataThatAreNoRecordsTest,
     EachProgramNamesTheCommandThatReadsParquetFiles) {
  const TemporaryFolder data;
  const std::string name = "train-00000-of-00001.parquet";
  std::filesystem::create_directory(data / "data");
  WriteFileAtomically(data / "data/" + name, "PAR1" + std::string(100, '\0'));
  for (const auto& [program, flags] :
       {std::pair{"pipeline_throughput", "--dry_run --data_dir "},
        {"imagenet_to_records",
         "--dry_run --local_scratch_dir out --raw_data_dir "},
        {"train_resnet", "--dry_run --model_dir none --data_dir "},
        {"records", "ls "}}) {
    for (const std::string& paths :
         {data.path(), data / "data", data / "data/*.parquet"}) {
      const ProgramResult result =
          RunHere(program, flags + ("'" + paths + "'"));
      EXPECT_NE(result.exit_code, 0) << program << " " << paths;
      EXPECT_THAT(result.err,
                  HasSubstr("`infeed convert " + (data / "data") + " SHARDS`"))
          << program << " " << paths;
    }
  }
}

TEST_F(DataFormsTest, CutArchivesAreDamaged) {
  const std::string tar = forms_.tars() + "/train-000000.tar";
  std::filesystem::resize_file(tar, std::filesystem::file_size(tar) / 2 + 7);
  EXPECT_THAT(RunProgram("pipeline_throughput", "--data_dir " + forms_.tars() +
                                                    " --hash 1 --batch_size 8"),
              Ends(3, HasSubstr(tar)));
}

}  // namespace infeed::data_forms_test
