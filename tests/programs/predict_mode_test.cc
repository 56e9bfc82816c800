// The program train_resnet --mode predict.

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "preprocess/codecs/png_codec.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/small_model.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

using nlohmann::json;

class PredictModeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = new SmallModel; }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }
  [[nodiscard]] static ProgramResult Predict(const std::string& flags) {
    return model_->Run("--mode predict " + flags);
  }

  // Shared by all tests, which do not change it.
  static SmallModel* model_;
  ImageFolder images_;
};

SmallModel* PredictModeTest::model_ = nullptr;

TEST_F(PredictModeTest, LosesNoImageOfTheLastBatch) {
  images_.JpegsIn("test", 372);
  const ProgramResult run =
      Succeeded(Predict("--predict_batch_size 360 --input " + images_.path()));
  const std::vector<json> lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 372U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(lines[i]["file"],
              images_ / ("test/" + std::string(3 - number.size(), '0') +
                         number + ".jpg"));
    EXPECT_EQ(lines[i]["probability"], lines[i]["top_5"][0]["probability"]);
  }
  EXPECT_THAT(run.err, HasSubstr("predicted 372 images at"));
}

TEST_F(PredictModeTest, CountsImagesThatAreNotTurned) {
  images_.File("1.jpg", WithOrientation(TestJpeg(), 6)).Jpeg("2.jpg");
  EXPECT_THAT(Succeeded(Predict("--input " + images_.path())).err,
              HasSubstr("input: 1 of 2 images has an EXIF orientation"));
}

TEST_F(PredictModeTest, SaysTheSameOfAFileAndOfItsRecord) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 5; ++i) {
    const std::string jpeg =
        TestJpeg({.width = 40, .height = 30, .seed = 100U + i});
    images_.File("files/" + std::to_string(i) + ".jpg", jpeg);
    payloads.push_back(PayloadWithImage(jpeg, i % 4));
  }
  WriteShard(images_ / "test-00000-of-00001", payloads);
  const ProgramResult of_files =
      Predict("--precision float32 --predict_batch_size 2 --input " +
              (images_ / "files"));
  const ProgramResult of_shards =
      Succeeded(Predict("--precision float32 --predict_batch_size 5 --input " +
                        (images_ / "test-*")));
  const std::vector<json> files_lines = JsonLines(of_files.out);
  const std::vector<json> shard_lines = JsonLines(of_shards.out);
  ASSERT_EQ(files_lines.size(), 5U);
  ASSERT_EQ(shard_lines.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(files_lines[i]["label"], shard_lines[i]["label"]);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const json& of_file = files_lines[i]["top_5"][rank];
      const json& of_record = shard_lines[i]["top_5"][rank];
      EXPECT_EQ(of_file["index"], of_record["index"]);
      EXPECT_NEAR(of_file["probability"], of_record["probability"], 1e-5);
    }
    EXPECT_EQ(shard_lines[i]["record"], i);
    EXPECT_EQ(shard_lines[i]["true_index"], i % 4);
  }
  EXPECT_THAT(of_shards.err, HasSubstr("(of 5 with a label)"));
}

TEST_F(PredictModeTest, ABadFileCostsNoGoodOne) {
  images_.Jpeg("a.jpg").File("b.jpg", "no image").File("c.png", "");
  RgbImage image;
  image.Resize(20, 10);
  images_.File("d.png", EncodePng(image.view()));
  std::filesystem::create_symlink("nowhere.png", images_ / "e.png");
  ASSERT_EQ(::mkfifo((images_ / "f.png").c_str(), 0600), 0);
  const ProgramResult run = Predict("--input " + images_.path());
  EXPECT_EQ(run.exit_code, 3);
  const std::vector<json> lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[0].contains("label"));
  EXPECT_TRUE(lines[1].contains("error"));
  EXPECT_FALSE(lines[1].contains("label"));
  EXPECT_TRUE(lines[2].contains("error"));
  EXPECT_EQ(lines[3]["file"], images_ / "d.png");
  EXPECT_TRUE(lines[3].contains("label"));
  EXPECT_TRUE(lines[4].contains("error"));
  EXPECT_TRUE(lines[5].contains("error"));
  EXPECT_THAT(run.err, HasSubstr("predicted 2 images"));
  EXPECT_THAT(run.err, HasSubstr("4 images were bad"));
  EXPECT_THAT(run.err,
              testing::EndsWith("\ntrain_resnet: 4 of 6 images could not be "
                                "read; the output names each\n"));
}

TEST_F(PredictModeTest, AgreesWithTheEvaluationOfItsSplit) {
  const std::string data = "--data_dir " + model_->data_dir();
  const ProgramResult eval = model_->Run("--mode eval " + data);
  const ProgramResult run = Predict(data);  // There is no test split.
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(JsonLines(run.out).size(), 10U);
  const std::size_t top_1 = eval.out.find("top-1");
  ASSERT_NE(top_1, std::string::npos) << eval.err;
  EXPECT_THAT(run.err, HasSubstr(eval.out.substr(
                           top_1, eval.out.find('%') + 1 - top_1)));
}

// How often a text has another in it.
int CountIn(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST_F(PredictModeTest, WritesAPageOfPictures) {
  const std::string page = images_ / "page.html";
  EXPECT_THAT(Predict("--data_dir " + model_->data_dir() +
                      " --predictions_page " + page),
              Ends(0));
  const std::string html = ReadWholeFile(page, 8 << 20);
  EXPECT_EQ(CountIn(html, "<figure class=\""), 10);
  // Under the picture, and as its title.
  EXPECT_EQ(CountIn(html, ", record "), 20);
}

}  // namespace
}  // namespace infeed
