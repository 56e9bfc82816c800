#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "tests/support/example_wire.h"
#include "tests/support/files_in.h"
#include "tests/support/flower_records.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class RecordsExtractTest : public ::testing::Test {
 protected:
  RecordsExtractTest() { fs::create_directory(shards_); }

  void Write(const std::string& name, const RecordFile& file) const {
    file.Write(shards_ + "/" + name);
  }
  [[nodiscard]] ProgramResult Run(const std::string& arguments = "") const {
    return RunProgram("records", "extract --output " + output_ + " " +
                                     arguments + " " + shards_);
  }
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    return FilesBelow(output_);
  }

  const TemporaryFolder folder_;
  const std::string shards_ = folder_ / "shards";
  const std::string output_ = folder_ / "images";
};

TEST_F(RecordsExtractTest, GivesBackTheBytesThatWereConverted) {
  std::map<std::string, std::string> images;
  for (const std::string name : {"daisy", "rose"}) {
    fs::create_directories(folder_ / "raw/" + name);
    for (int i = 0; i < 5; ++i) {
      const std::string path = name + "/" + std::to_string(i) + ".jpg";
      images[path] = TestJpeg({.seed = images.size() + 1});
      RecordFile().AddRaw(images[path]).Write(folder_ / "raw/" + path);
    }
  }
  const ProgramResult made =
      RunProgram("imagenet_to_records", "--raw_data_dir " + (folder_ / "raw") +
                                            " --local_scratch_dir " + shards_);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("10 images in 2 folders"),
                                EndsWith(", 0 bad\n")));
  EXPECT_EQ(Files(), images);
}

TEST_F(RecordsExtractTest, NamesWhatHasNoName) {
  Write("train-00000-of-00001",
        RecordFile()
            .Add(PayloadOf({TestJpeg(), 7}))
            .Add(PayloadOf({EncodePng(TestPhotograph(8, 8, 1).view()), -1})));
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(
      Files(),
      UnorderedElementsAre(
          Pair("7/train-00000-of-00001-000000.jpg", TestJpeg()),
          Pair("unlabelled/train-00000-of-00001-000001.png", ::testing::_)));
}

TEST_F(RecordsExtractTest, NumbersEqualNamesWhateverTheThreads) {
  RecordFile first;
  RecordFile second;
  for (int i = 0; i < 3; ++i) {
    first.Add(PayloadOf({TestJpeg({.seed = 10U + i}), 1, "a.jpg"}));
    second.Add(PayloadOf({TestJpeg({.seed = 20U + i}), 1, "a.jpg"}));
  }
  second.Add(PayloadOf({TestJpeg({.seed = 30}), 1, "a-2.jpg"}));
  Write("train-00000-of-00002", first);
  Write("train-00001-of-00002", second);
  EXPECT_EQ(Run("--threads=5").exit_code, 0);
  EXPECT_THAT(Files(), ElementsAre(Pair("1/a-2.jpg", TestJpeg({.seed = 30})),
                                   Pair("1/a-3.jpg", TestJpeg({.seed = 11})),
                                   Pair("1/a-4.jpg", TestJpeg({.seed = 12})),
                                   Pair("1/a-5.jpg", TestJpeg({.seed = 20})),
                                   Pair("1/a-6.jpg", TestJpeg({.seed = 21})),
                                   Pair("1/a-7.jpg", TestJpeg({.seed = 22})),
                                   Pair("1/a.jpg", TestJpeg({.seed = 10}))));
}

TEST_F(RecordsExtractTest, StaysInItsFolder) {
  // Cutting a long name must not turn it into "..".
  const std::string cut = "..X" + std::string(300, '\x80');
  Write("train-00000-of-00001",
        RecordFile()
            .Add(PayloadOf({TestJpeg(), 1, "../../escaped.jpg", "", ".."}))
            .Add(PayloadOf({TestJpeg(), 1, "precious", "", cut})));
  RecordFile().AddRaw("old").Write(folder_ / "precious.jpg");
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(
      Files(),
      ElementsAre(
          Pair("..X" + std::string(194, '\x80') + "/precious.jpg", TestJpeg()),
          Pair("_/.._.._escaped.jpg", TestJpeg())));
  EXPECT_EQ(ReadWholeFile(folder_ / "precious.jpg", 100), "old");
}

TEST_F(RecordsExtractTest, LeavesLinksToOtherFoldersAlone) {
  fs::create_directories(output_);
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", output_ + "/1");
  Write("train-00000-of-00001",
        RecordFile().Add(PayloadOf({TestJpeg(), 1, "a.jpg"})));
  const ProgramResult result = Run("--resume");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("/1: is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(RecordsExtractTest, MakesFoldersOfSplits) {
  for (const std::string split : {"train", "test"}) {
    Write(split + "-00000-of-00001",
          RecordFile().Add(PayloadOf({TestJpeg(), 1, "a.jpg"})));
  }
  EXPECT_EQ(Run("--split").exit_code, 0);
  EXPECT_THAT(Files(), ElementsAre(Pair("test/1/a.jpg", TestJpeg()),
                                   Pair("train/1/a.jpg", TestJpeg())));
}

TEST_F(RecordsExtractTest, GoesOnWithAnEarlierRun) {
  Write("train-00000-of-00001", RecordFile()
                                    .Add(PayloadOf({TestJpeg(), 1, "a.jpg"}))
                                    .Add(PayloadOf({TestJpeg(), 1, "b.jpg"})));
  EXPECT_EQ(Run("--limit=1").exit_code, 0);
  EXPECT_EQ(Files().size(), 1U);
  const ProgramResult refused = Run();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr(output_ + ": is not empty"));
  RecordFile().AddRaw("cut short").Write(output_ + "/1/b.jpg");
  const ProgramResult resumed = Run("--resume --json");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const nlohmann::json json = nlohmann::json::parse(resumed.out);
  EXPECT_EQ(json["written"], 1);
  EXPECT_EQ(json["skipped"], 1);
  EXPECT_EQ(Files().at("1/b.jpg"), TestJpeg());
}

TEST_F(RecordsExtractTest, MakesPngsOfPixels) {
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
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  RgbImage image;
  DecodeOtherImage(AsBytes(Files().at("unlabelled/a.png")), 100, image);
  EXPECT_THAT(image.pixels(), ElementsAre(1, 2, 3, 4, 5, 6));
}

// Images of raw files are called after the file and their number in it.
TEST_F(RecordsExtractTest, NamesImagesOfRawFilesAsImages) {
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
  ASSERT_EQ(Run().exit_code, 0);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : Files()) {
    names.push_back(name);
  }
  EXPECT_THAT(names,
              ElementsAre("1/X_train.raw#00017.jpg", "1/X_train.raw#00018",
                          "unlabelled/train-images.gz#00019.png"));
}

TEST_F(RecordsExtractTest, NamesBadRecordsAndGoesOn) {
  Write("train-00000-of-00001", RecordFile()
                                    .Add("not an Example")
                                    .Add(PayloadOf({""}))
                                    .Add(PayloadOf({TestJpeg(), 1, "a.jpg"})));
  const ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("record 0 at byte 0: not a tf.train.Example"),
                    HasSubstr("there is no image in the record")));
  EXPECT_THAT(result.out, EndsWith(", 2 bad\n"));
  EXPECT_EQ(Files().size(), 1U);
}

}  // namespace
}  // namespace infeed
