#include "trainer/loop/exporter.h"

#include <filesystem>
#include <set>
#include <string>

#include <opencv2/dnn.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/random_weights.h"
#include "tests/support/temporary_folder.h"
#include "trainer/formats/safetensors.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class ExporterTest : public testing::Test {
 protected:
  ExporterTest() {
    facts_.model.kind = ModelKind::kLeNet;
    facts_.model.num_classes = 10;
    facts_.step = 3;
    facts_.input.preprocess.image_size = 28;
    facts_.input.num_label_classes = 10;
    facts_.input.label_offset = 1;
  }

  // Returns the folder.
  std::string Export(const std::vector<std::string>& formats,
                     int batch_size = 0) const {
    return ExportModel({.export_dir = exports_.path(),
                        .formats = formats,
                        .batch_size = batch_size},
                       facts_, weights_);
  }

  static std::set<std::string> NamesIn(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  TemporaryFolder exports_;
  PreprocessingFacts facts_;
  TensorMap weights_ =
      RandomWeights({.kind = ModelKind::kLeNet, .num_classes = 10});
};

TEST_F(ExporterTest, WritesOnnxAndSafetensorsUnlessTold) {
  const std::string folder = Export({});
  EXPECT_EQ(NamesIn(folder),
            (std::set<std::string>{"model.onnx", "model.safetensors",
                                   "preprocessing.json"}));
  EXPECT_EQ(ReadSafetensors(folder + "/model.safetensors"), weights_);
  // The file itself describes its use.
  const std::string onnx = ReadWholeFile(folder + "/model.onnx", 1 << 20);
  EXPECT_THAT(
      onnx, HasSubstr(ReadWholeFile(folder + "/preprocessing.json", 1 << 20)));
  EXPECT_THAT(onnx, HasSubstr("infeed"));
  EXPECT_EQ(NamesIn(Export({"torchscript"})),
            (std::set<std::string>{"model.torchscript", "preprocessing.json"}));
}

TEST_F(ExporterTest, FixesTheBatchWhereAsked) {
  const std::string path = Export({"onnx"}, 4) + "/model.onnx";
  cv::dnn::Net net = cv::dnn::readNetFromONNX(path);
  const int sizes[] = {4, 1, 28, 28};
  net.setInput(cv::Mat(4, sizes, CV_32F, cv::Scalar(1)));
  EXPECT_EQ(net.forward().size[0], 4);
}

TEST_F(ExporterTest, LeavesNothingOfAnUnknownFormatOrOtherWeights) {
  EXPECT_THROW((void)Export({"onnx", "tflite"}), UsageError);
  EXPECT_TRUE(NamesIn(exports_.path()).empty());
  weights_.erase("fc2.weight");
  EXPECT_THROW((void)Export({"safetensors"}), DataError);
  EXPECT_TRUE(NamesIn(exports_.path()).empty());
}

}  // namespace
}  // namespace infeed
