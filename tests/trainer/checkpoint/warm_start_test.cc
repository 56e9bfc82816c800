#include "trainer/checkpoint/warm_start.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/formats/safetensors.h"
#include "trainer/model/layers.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

ModelOptions Model(int classes = 10) {
  return {.kind = ModelKind::kLeNet, .num_classes = classes};
}

// A model's tensors, of which every number has the value.
TensorMap Weights(const ModelOptions& model, float value) {
  TensorMap weights;
  for (const LayerPlan& layer : PlanLayers(model)) {
    for (const TensorPlan& plan : TensorsOf(layer)) {
      HostTensor& tensor = weights[plan.name];
      tensor.shape = plan.shape;
      if (plan.name.ends_with("num_batches_tracked")) {
        tensor.type = DataType::kInt64;
        tensor.bytes.assign(8, std::byte{0});
        continue;
      }
      const std::vector<float> values(
          static_cast<std::size_t>(CountElements(plan)), value);
      const auto bytes = std::as_bytes(std::span(values));
      tensor.bytes.assign(bytes.begin(), bytes.end());
    }
  }
  return weights;
}

class WarmStartTest : public testing::Test {
 protected:
  // Warm-starts a new model of 0s; sets text_ and head_left_.
  TensorMap Start(const std::string& path, const ModelOptions& model) {
    TensorMap weights = Weights(model, 0);
    const WarmStarted started = WarmStart(path, model, weights);
    text_ = started.text;
    head_left_ = started.head_left;
    return weights;
  }
  std::string ErrorOf(const TensorMap& file) {
    WriteSafetensors(path_, file);
    return MessageOf<DataError>([&] { (void)Start(path_, Model()); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "weights.safetensors";
  std::string text_;
  std::string head_left_;
};

TEST_F(WarmStartTest, TakesEverything) {
  WriteSafetensors(path_, Weights(Model(), 1));
  EXPECT_EQ(Start(path_, Model()), Weights(Model(), 1));
  EXPECT_EQ(text_, "starting from the safetensors file " + path_ +
                       ": 10 tensors taken");
  EXPECT_EQ(head_left_, "");
}

TEST_F(WarmStartTest, TellsThatRowsWithoutNamesAreTakenByNumber) {
  WriteSafetensors(path_, Weights(Model(2), 1));
  const auto text = [&](int classes, const std::vector<std::string>& names) {
    TensorMap weights = Weights(Model(classes), 0);
    return WarmStart(path_, Model(classes), weights, names).text;
  };
  const char* const line =
      "; the classifier's rows are taken by number, as the weights have no "
      "class names";
  EXPECT_THAT(text(2, {"cat", "dog"}), HasSubstr(line));
  EXPECT_THAT(text(2, {}), Not(HasSubstr(line)));
  EXPECT_THAT(text(3, {"cat", "dog", "hen"}),
              AllOf(HasSubstr("new weights"), Not(HasSubstr(line))));
}

// A file of torch before 1.6 begins with the byte 80.
TEST_F(WarmStartTest, TakesASafetensorsFileWhateverItsFirstByte) {
  WriteSafetensors(path_, Weights(Model(), 1));
  std::string file = ReadWholeFile(path_, 1 << 27);
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof(header));
  const std::uint64_t padding = (0x180 - header % 0x100) % 0x100;
  file.insert(sizeof(header) + header, padding, ' ');
  header += padding;
  std::memcpy(file.data(), &header, sizeof(header));
  ASSERT_EQ(file[0], '\x80');
  WriteFileAtomically(path_, file);
  EXPECT_EQ(Start(path_, Model()), Weights(Model(), 1));
}

TEST_F(WarmStartTest, LeavesTheHeadWhenTheClassesDiffer) {
  WriteSafetensors(path_, Weights(Model(1000), 1));
  const TensorMap started = Start(path_, Model(10));
  EXPECT_EQ(started.at("conv1.weight"),
            Weights(Model(10), 1).at("conv1.weight"));
  EXPECT_EQ(started.at("fc3.weight"), Weights(Model(10), 0).at("fc3.weight"));
  EXPECT_EQ(started.at("fc3.bias"), Weights(Model(10), 0).at("fc3.bias"));
  EXPECT_THAT(text_, AllOf(HasSubstr("8 tensors taken"),
                           HasSubstr("the classifier fc3 starts from new "
                                     "weights: the file has [1000, 84]")));
  EXPECT_EQ(
      head_left_,
      "the classifier fc3 is [1000, 84] in the file and [10, 84] in the model");
}

TEST_F(WarmStartTest, TakesAHeadWholeOrNotAtAllAndNamesWhatItDoesNotUse) {
  TensorMap file = Weights(Model(), 1);
  file["extra"] = file.at("fc3.bias");
  WriteSafetensors(path_, file);
  (void)Start(path_, Model());
  EXPECT_THAT(text_, AllOf(HasSubstr("10 tensors taken"),
                           HasSubstr("unused tensors: 1 (extra)")));
  file.erase("fc3.weight");
  WriteSafetensors(path_, file);
  const TensorMap started = Start(path_, Model());
  EXPECT_EQ(started.at("fc3.bias"), Weights(Model(), 0).at("fc3.bias"));
  EXPECT_THAT(text_, HasSubstr("the file has none"));
  EXPECT_THAT(head_left_, HasSubstr("is none in the file"));
}

// torch before 0.4 did not save num_batches_tracked, and TensorFlow has none.
TEST_F(WarmStartTest, DoesWithoutCountersOfBatches) {
  const ModelOptions resnet{.depth = 18, .num_classes = 10};
  TensorMap file = Weights(resnet, 1);
  std::erase_if(file, [](const auto& entry) {
    return entry.first.ends_with("num_batches_tracked");
  });
  WriteSafetensors(path_, file);
  EXPECT_EQ(Start(path_, resnet), Weights(resnet, 1));
  EXPECT_THAT(text_, HasSubstr("102 tensors taken"));
}

TEST_F(WarmStartTest, NamesTheFirstFewThatDoNotFit) {
  TensorMap file = Weights(Model(), 1);
  file.erase("conv1.weight");
  file["conv2.bias"] = file.at("fc3.bias");
  EXPECT_EQ(
      ErrorOf(file),
      path_ +
          ": does not fit the model; missing tensors: 1 (conv1.weight); "
          "tensors of another shape: 1 (conv2.bias [10] instead of [16])");
  EXPECT_THAT(
      ErrorOf({}),
      HasSubstr("missing tensors: 8 (conv1.bias, conv1.weight, conv2.bias, "
                "conv2.weight, fc1.bias, fc1.weight, ..."));
  TensorMap prefixed;
  for (const auto& [name, tensor] : Weights(Model(), 1)) {
    prefixed["backbone." + name] = tensor;
  }
  EXPECT_THAT(ErrorOf(prefixed),
              HasSubstr("; unused tensors: 10 (backbone.conv1.bias, "));
}

std::vector<float> FloatsOf(const HostTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Expected values of timm 1.0's adapt_input_conv().
TEST_F(WarmStartTest, SumsOrRepeatsTheFirstConvolutionsChannels) {
  const ModelOptions color = {.depth = 18, .num_classes = 2};
  const ModelOptions gray = {.depth = 18, .num_classes = 2, .channels = 1};
  TensorMap of_color = Weights(color, 1);
  std::vector<float> values(std::size_t{64} * 3 * 49);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i / 49 % 3 + 1);  // by channel
  }
  const auto bytes = std::as_bytes(std::span(values));
  of_color["conv1.weight"].bytes.assign(bytes.begin(), bytes.end());
  WriteSafetensors(path_, of_color);
  TensorMap started = Start(path_, gray);
  EXPECT_EQ(started["conv1.weight"].shape,
            (std::vector<std::int64_t>{64, 1, 7, 7}));
  EXPECT_EQ(FloatsOf(started["conv1.weight"]),
            std::vector<float>(std::size_t{64} * 49, 6));
  EXPECT_THAT(text_, HasSubstr("conv1.weight: 3 input channels summed to 1"));
  WriteSafetensors(path_, Weights(gray, 3));
  started = Start(path_, color);
  EXPECT_EQ(FloatsOf(started["conv1.weight"]),
            std::vector<float>(std::size_t{64} * 3 * 49, 1));
  EXPECT_THAT(text_, HasSubstr("1 input channels repeated for 3"));
  WriteSafetensors(path_, of_color);
  started = Start(path_, {.depth = 18, .num_classes = 2, .channels = 4});
  const std::vector<float> four = FloatsOf(started["conv1.weight"]);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(four[49 * i], 0.75F * static_cast<float>(i % 3 + 1));
  }
  EXPECT_THAT(text_, HasSubstr("3 input channels repeated for 4"));
}

TEST_F(WarmStartTest, TakesTheNewestCheckpointOfAModelFolder) {
  for (const std::int64_t step : {1, 2}) {
    Checkpoint checkpoint = MadeCheckpoint(step);
    checkpoint.state.model = Weights(Model(), static_cast<float>(step));
    SaveCheckpoint(folder_.path(), checkpoint);
  }
  EXPECT_EQ(Start(folder_.path(), Model()), Weights(Model(), 2));
  EXPECT_THAT(text_, HasSubstr("starting from the checkpoint of step 2 in "));
  const std::string first = CheckpointFolder(folder_.path(), 1);
  EXPECT_EQ(Start(first, Model()), Weights(Model(), 1));

  for (const std::int64_t step : {1, 2}) {
    std::ofstream(PathIn(CheckpointFolder(folder_.path(), step), kModelFile),
                  std::ios::app)
        << "x";
  }
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Start(folder_.path(), Model()); }),
      HasSubstr("all checkpoints in it are damaged"));
}

TEST_F(WarmStartTest, SaysWhatAPathMustBe) {
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)Start(folder_.path(), Model()); }),
      HasSubstr("no checkpoint in this folder"));
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)Start(folder_ / "none", Model()); }),
      HasSubstr("none: cannot read the weights: No such file"));
  std::ofstream(path_) << "some text that is no weights";
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Start(path_, Model()); }),
              HasSubstr("neither a safetensors file, nor a torch.save() file"));
  std::ofstream(path_) << "PK";
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Start(path_, Model()); }),
              HasSubstr("not a zip archive"));
}

}  // namespace
}  // namespace infeed
