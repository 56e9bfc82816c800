#include "trainer/loop/device_loop.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/made_batches.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/support/torchvision_golden.h"
#include "tests/support/train_steps.h"

namespace infeed::device_loop_test {

constexpr int kBatch = 8;
constexpr int kSide = 32;
constexpr int kClasses = 4;

// One thread with a small batch is very slow in some builds of LibTorch.
const DeviceOptions kCpu = {.device = "cpu", .threads = 2};

// A rate that changes each step: P * step / 5 with the peak P = 0.1.
const OptimizerOptions kWarmUp = {.learning_rate = {.base_learning_rate = 3.2,
                                                    .batch_size = 8,
                                                    .train_images = 8,
                                                    .train_steps = 90}};

std::unique_ptr<DeviceLoop> SmallLoop(std::uint64_t seed = 0) {
  return MakeDeviceLoop({.depth = 18, .num_classes = kClasses, .seed = seed},
                        kWarmUp, kCpu);
}

std::shared_ptr<MadeStream> Colours(std::int64_t count,
                                    std::int64_t first = 0) {
  return ColourBatches(count, kBatch, kSide, kClasses, first);
}

// The results of steps [first, first + steps) on their batches.
std::vector<StepResult> Train(DeviceLoop& loop, std::int64_t first,
                              std::int64_t steps) {
  Infeed infeed(Colours(steps, first), kBatch, kSide);
  return TrainSteps(loop, first, steps, infeed);
}

bool SameState(const ModelState& a, const ModelState& b) {
  return a.model == b.model && a.optimizer == b.optimizer;
}

ModelState GoldenState(const DeviceLoop& loop, const std::string& prefix = "") {
  ModelState state = loop.Save();
  for (auto& [name, tensor] : state.model) {
    if (tensor.type == DataType::kFloat32) {
      const std::vector<float> values =
          GoldenWeight(name, tensor.shape, prefix);
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
  }
  return state;
}

double MeanMagnitude(const HostTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  double sum = 0;
  for (const float value : values) {
    sum += std::abs(value);
  }
  return sum / static_cast<double>(values.size());
}

TEST(DeviceLoopTest, TrainsAsTorchvisionAndItsOptimizerDo) {
  OptimizerOptions optimizer = kWarmUp;
  optimizer.weight_decay = 1e-3;
  optimizer.loss.label_smoothing = 0.1;
  const auto loop = MakeDeviceLoop({.depth = 18, .num_classes = kGoldenClasses},
                                   optimizer, kCpu);
  loop->Load(GoldenState(*loop));
  Infeed infeed(
      MadeBatches(2, kGoldenBatch, kGoldenSize,
                  [](Batch& batch, std::int64_t) { FillWithGolden(batch); }),
      kGoldenBatch, kGoldenSize);
  const std::vector<StepResult> results = TrainSteps(*loop, 2, 2, infeed);
  ASSERT_EQ(results.size(), 2U);

  const nlohmann::json& golden = TorchvisionGolden();
  EXPECT_NEAR(results[0].loss, golden["losses"][0].get<double>(), 1e-4);
  EXPECT_NEAR(results[1].loss, golden["losses"][1].get<double>(), 1e-3);
  EXPECT_FLOAT_EQ(results[0].learning_rate, 0.04F);
  EXPECT_FLOAT_EQ(results[1].learning_rate, 0.06F);
  const ModelState trained = loop->Save();
  for (const auto& [name, magnitude] : golden["trained"].items()) {
    const double expected = magnitude.get<double>();
    EXPECT_NEAR(MeanMagnitude(trained.model.at(name)), expected,
                2e-4 * expected)
        << name;
  }
}

// make_step_loss_goldens.py.
TEST(DeviceLoopTest, LearnsFromTeachersAndClassWeightsAsPytorchDoes) {
  const nlohmann::json goldens =
      nlohmann::json::parse(
          std::ifstream(INFEED_TEST_DATA "/step_loss_goldens.json"))
          .at("training");
  ASSERT_EQ(goldens.size(), 4);
  const ModelOptions model = {.depth = 18, .num_classes = kGoldenClasses};
  double largest = 0;
  for (const nlohmann::json& golden : goldens) {
    const auto loop = MakeDeviceLoop(
        model,
        {.learning_rate = {.base_learning_rate = 0.01,
                           .scaled_by_batch = false,
                           .schedule = RateSchedule::kConstant,
                           .warmup_epochs = 0},
         .momentum = 0,
         .nesterov = false,
         .weight_decay = 0,
         .loss = {.label_smoothing = 0.1,
                  .class_weights = golden.at("weighted").get<bool>()
                                       ? GoldenClassWeights(kGoldenClasses)
                                       : std::vector<double>()},
         .distill = {.temperature = golden.at("temperature").get<double>()}},
        kCpu);
    loop->Load(GoldenState(*loop));
    if (golden.at("distill") != "") {
      (void)loop->SetTeacher(model, GoldenState(*loop, "teacher ").model);
    }
    Infeed infeed(
        MadeBatches(3, kGoldenBatch, kGoldenSize,
                    [](Batch& batch, std::int64_t) { FillWithGolden(batch); }),
        kGoldenBatch, kGoldenSize);
    const std::vector<StepResult> results = TrainSteps(*loop, 0, 3, infeed);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double difference =
          std::abs(results[i].loss - golden.at("losses")[i].get<double>());
      EXPECT_LT(difference, 1e-3) << golden.dump() << " step " << i;
      largest = std::max(largest, difference);
    }
  }
  RecordProperty("largest_difference", std::to_string(1e9 * largest));
}

TEST(DeviceLoopTest, ATeacherIsOfNoState) {
  const auto loop = SmallLoop();
  const ModelState before = loop->Save();
  const ModelOptions model = {.depth = 18, .num_classes = kClasses, .seed = 5};
  const TensorMap weights = MakeDeviceLoop(model, {}, kCpu)->Save().model;
  (void)loop->SetTeacher(model, weights);
  EXPECT_TRUE(SameState(loop->Save(), before));
  const auto alone = SmallLoop();
  EXPECT_NE(Train(*loop, 0, 2)[0].loss, Train(*alone, 0, 1)[0].loss);
  EXPECT_EQ(loop->Save().model.size(), before.model.size());
  EXPECT_THROW(
      (void)loop->SetTeacher({.depth = 34, .num_classes = kClasses}, weights),
      DataError);
}

TEST(DeviceLoopTest, EvaluatesThePlainLossOfGuessingAndChangesNothing) {
  const auto loop = SmallLoop();
  const ModelState before = loop->Save();
  Infeed infeed(Colours(2), kBatch, kSide);
  const EvalSums counts = loop->Evaluate(infeed, EvalWeights::kAverage);
  EXPECT_NEAR(counts.loss_sum / static_cast<double>(counts.images),
              std::log(4.0), 0.2);
  EXPECT_TRUE(SameState(loop->Save(), before));
}

TEST(DeviceLoopTest, RunsTheSameForTheSameSeedWhateverTheLengthOfLoops) {
  const auto one = SmallLoop(3);
  const auto two = SmallLoop(3);
  const std::vector<StepResult> first = Train(*one, 0, 4);
  std::vector<StepResult> second = Train(*two, 0, 1);
  for (const StepResult& result : Train(*two, 1, 3)) {
    second.push_back(result);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].loss, second[i].loss);
  }
  EXPECT_TRUE(SameState(one->Save(), two->Save()));
  EXPECT_FALSE(SameState(one->Save(), SmallLoop(4)->Save()));
}

TEST(DeviceLoopTest, AShorterLastLoopIsNormal) {
  const auto loop = SmallLoop();
  Infeed infeed(Colours(2), kBatch, kSide);
  std::vector<std::int64_t> steps;
  Outfeed outfeed(
      [&](const StepResult& result) { steps.push_back(result.step); });
  EXPECT_EQ(loop->Train(10, 5, infeed, outfeed), 2);
  EXPECT_EQ(loop->Train(12, 5, infeed, outfeed), 0);
  outfeed.Drain();
  EXPECT_THAT(steps, testing::ElementsAre(11, 12));
}

TEST(DeviceLoopTest, ResultsArriveWhileTheLoopRuns) {
  const auto loop = SmallLoop();
  std::promise<void> seen;
  // The second batch comes only once the sink has the first step's result.
  std::shared_future<void> first_result = seen.get_future().share();
  Infeed infeed(MadeBatches(2, kBatch, kSide,
                            [&](Batch& batch, std::int64_t number) {
                              if (number == 1) {
                                first_result.wait();
                              }
                              FillWithColours(batch, number, kClasses);
                            }),
                kBatch, kSide);
  Outfeed outfeed([&](const StepResult& result) {
    if (result.step == 1) {
      seen.set_value();
    }
  });
  EXPECT_EQ(loop->Train(0, 2, infeed, outfeed), 2);
}

TEST(DeviceLoopTest, EvaluatesTheMeanOfViews) {
  DeviceOptions options = kCpu;
  options.eval_views = {.crops = 4, .flip = true};
  const auto loop =
      MakeDeviceLoop({.depth = 18, .num_classes = kClasses}, kWarmUp, options);
  EXPECT_EQ(loop->eval_crops(), 4);
  // Each image four times, and its mirror image.
  const auto views = MadeBatches(2, kBatch, kSide, [](Batch& batch, auto) {
    FillWithColours(batch, 0, kClasses);
    const std::size_t image = batch.pixels().size() / kBatch;
    for (std::size_t slot = 0; slot < kBatch; ++slot) {
      const std::size_t first = slot / 4 * 4;
      batch.labels()[slot] = batch.labels()[first];
      std::ranges::copy(batch.pixels().subspan(first * image, image),
                        batch.pixels().subspan(slot * image, image).begin());
    }
  });
  Infeed infeed(views, kBatch, kSide);
  const EvalSums sums = loop->Evaluate(infeed, EvalWeights::kAverage);
  EXPECT_EQ(sums.images, 4);
  ASSERT_EQ(sums.scores.size(), std::size_t{4} * kClasses);
  // A prediction has one view. Mirrored, a colour is nearly the same.
  Infeed again(Colours(1), kBatch, kSide);
  loop->Predict(again, [&](const Predictions& predictions) {
    ASSERT_EQ(predictions.size(), kBatch);
    const auto top = static_cast<std::size_t>(predictions.classes_of(4)[0]);
    EXPECT_NEAR(sums.scores[kClasses + top], predictions.probabilities_of(4)[0],
                1e-2);
  });
}

TEST(DeviceLoopTest, PredictsWhatAnEvaluationCounts) {
  const auto loop = SmallLoop();
  Infeed evaluated(Colours(3), kBatch, kSide);
  const EvalSums sums = loop->Evaluate(evaluated, EvalWeights::kAverage);
  Infeed infeed(Colours(3), kBatch, kSide);
  std::int64_t right = 0;
  std::vector<float> scores(sums.scores.size());
  std::size_t image = 0;
  loop->Predict(infeed, [&](const Predictions& predictions) {
    ASSERT_EQ(predictions.size(), kBatch);
    ASSERT_EQ(predictions.top, kClasses);
    for (int slot = 0; slot < kBatch; ++slot, ++image) {
      const std::int32_t label =
          predictions.labels[static_cast<std::size_t>(slot)];
      EXPECT_EQ(predictions.weights[static_cast<std::size_t>(slot)], 1);
      EXPECT_EQ(label, sums.labels[image]);
      right += predictions.classes_of(slot)[0] == label ? 1 : 0;
      for (std::size_t i = 0; i < kClasses; ++i) {
        scores[image * kClasses +
               static_cast<std::size_t>(predictions.classes_of(slot)[i])] =
            predictions.probabilities_of(slot)[i];
      }
    }
  });
  EXPECT_EQ(right, sums.top_1);
  EXPECT_EQ(scores, sums.scores);
}

TEST(DeviceLoopTest, ABatchOfMaskedSlotsHasNoLossButDecay) {
  OptimizerOptions optimizer = kWarmUp;
  optimizer.weight_decay = 0;
  const auto loop =
      MakeDeviceLoop({.depth = 18, .num_classes = kClasses}, optimizer, kCpu);
  Infeed infeed(MadeBatches(1, kBatch, kSide, [](Batch&, std::int64_t) {}),
                kBatch, kSide);
  const std::vector<StepResult> results = TrainSteps(*loop, 3, 1, infeed);
  EXPECT_EQ(results.at(0).loss, 0);
  EXPECT_EQ(results.at(0).top_1, 0);
  for (const auto& entry : loop->Save().optimizer) {
    // Matchers take seconds for so many bytes.
    EXPECT_EQ(std::ranges::count(entry.second.bytes, std::byte{0}),
              std::ssize(entry.second.bytes))
        << entry.first;
  }
}

TEST(DeviceLoopTest, Bfloat16TrainsToo) {
  const auto exact = SmallLoop();
  const auto loop = MakeDeviceLoop(
      {.depth = 18, .num_classes = kClasses}, kWarmUp,
      {.device = "cpu", .precision = Precision::kBfloat16, .threads = 2});
  EXPECT_EQ(loop->Describe(), "cpu, 2 threads, bfloat16");
  const std::vector<StepResult> expected = Train(*exact, 0, 3);
  const std::vector<StepResult> results = Train(*loop, 0, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(results[i].loss, expected[i].loss, 0.05 * expected[i].loss);
  }
  EXPECT_EQ(loop->Save().model.at("conv1.weight").type, DataType::kFloat32);
}

TEST(DeviceLoopTest, SavedTensorsAreRowMajor) {
  const auto loop = SmallLoop();
  ModelState state = loop->Save();
  HostTensor& convolution = state.model.at("layer1.0.conv1.weight");
  for (std::size_t i = 0; i < convolution.bytes.size() / 4; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(convolution.bytes.data() + 4 * i, &value, 4);
  }
  loop->Load(state);
  EXPECT_TRUE(SameState(loop->Save(), state));
}

// Loads a state that has been tampered with and returns the error's message.
std::string MessageOfLoad(const std::function<void(ModelState&)>& tamper) {
  const auto loop = SmallLoop();
  const ModelState good = loop->Save();
  ModelState bad = good;
  tamper(bad);
  std::string message = MessageOf<DataError>([&] { loop->Load(bad); });
  EXPECT_TRUE(SameState(loop->Save(), good));
  return message;
}

TEST(DeviceLoopTest, RefusesAStateThatIsNotTheModels) {
  EXPECT_EQ(MessageOfLoad([](ModelState& s) { s.optimizer.erase("fc.bias"); }),
            "tensor fc.bias is missing");
  EXPECT_EQ(MessageOfLoad([](ModelState& s) { s.model["head"] = {}; }),
            "tensor head is not one of the model's");
  EXPECT_EQ(MessageOfLoad([](ModelState& s) {
              s.model.at("fc.weight").shape = {4, 256};
            }),
            "tensor fc.weight has the shape [4, 256], the model's has [4, "
            "512]");
  EXPECT_EQ(MessageOfLoad([](ModelState& s) {
              s.model.at("fc.bias").type = DataType::kInt64;
            }),
            "tensor fc.bias is int64, the model's is float32");
  EXPECT_EQ(MessageOfLoad(
                [](ModelState& s) { s.model.at("fc.bias").bytes.pop_back(); }),
            "tensor fc.bias has 15 bytes instead of 16");
}

TEST(DeviceLoopTest, UsesTheAverageOfAnotherOptimizersState) {
  OptimizerOptions averaging = kWarmUp;
  averaging.moving_average_decay = 0.5;
  const ModelOptions model = {.depth = 18, .num_classes = kClasses};
  const auto trained = MakeDeviceLoop(model, averaging, kCpu);
  Train(*trained, 0, 2);
  averaging.kind = OptimizerKind::kAdamW;
  const auto user = MakeDeviceLoop(model, averaging, kCpu);
  ModelState state = trained->Save();
  EXPECT_THROW(user->Load(state), DataError);
  user->LoadForUse(state);
  EXPECT_TRUE(user->Save().model == state.model);
  EXPECT_TRUE(user->SaveForUse() == trained->SaveForUse());
  EXPECT_FALSE(user->SaveForUse() == state.model);
  state.optimizer.erase("fc.bias/average");
  EXPECT_EQ(MessageOf<DataError>([&] { user->LoadForUse(state); }),
            "tensor fc.bias/average is missing");
}

TEST(DeviceLoopTest, DescribesItself) {
  const auto loop = SmallLoop();
  EXPECT_EQ(loop->Describe(), "cpu, 2 threads, float32");
  EXPECT_EQ(loop->parameter_count(), 11689512 - 996 * 513);
}

std::string MessageOfDevice(const DeviceOptions& device) {
  return MessageOf<UsageError>([&] {
    const auto loop =
        MakeDeviceLoop({.depth = 18, .num_classes = 2}, {}, device);
  });
}

TEST(DeviceLoopTest, RefusesDevicesThatAreNot) {
  for (const std::string name : {"tpu", "", "cuda:", "cuda:x", "cuda:1000"}) {
    EXPECT_EQ(MessageOfDevice({.device = name}),
              "device is '" + name + "': give auto, cpu, cuda or cuda:N");
  }
  EXPECT_THAT(MessageOfDevice({.device = "cuda:999"}),
              testing::AnyOf(HasSubstr("this is a CPU build"),
                             HasSubstr("no NVIDIA GPU is found"),
                             HasSubstr("device is cuda:999, but there are")));
  EXPECT_EQ(MessageOfDevice({.device = "cpu", .threads = -1}),
            "the device's threads are -1: give 0 for one thread per core, or a "
            "positive number");
  EXPECT_THROW((void)MakeDeviceLoop({.depth = 20}, {}, kCpu), UsageError);
}

}  // namespace infeed::device_loop_test
