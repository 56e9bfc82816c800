#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

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
using ::testing::EndsWith;
using ::testing::HasSubstr;

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
