// The operations of a training step on the CPU, as LibTorch's observer sees
// them: in channels_last order throughout, with no copy to get there, and none
// that reads a value on the host.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/types.h>
#include <torch/version.h>

#include "tests/support/made_batches.h"
#include "tests/support/matchers.h"
#include "tests/trainer/loop/value_reads.h"
#include "trainer/loop/device_loop.h"

namespace infeed::operations_test {

constexpr int kBatch = 2;
constexpr int kSide = 64;  // of the last convolutions: 2

// The observed operations of a step.
struct Seen {
  // Operations called by the step and autograd; those called inside them depend
  // on the CPU.
  std::map<std::string, int> operations;
  int depth = 0;                     // of calls, at this moment
  int convolutions = 0;              // those of convolutions among them
  std::vector<std::string> strange;  // tensors that are not channels_last
  // Images and weights that are copied to the same type, other than by a
  // convolution's kernels of the CPU.
  std::vector<std::string> copies;
  std::vector<std::string> reads;  // operations that read values

  [[nodiscard]] int Count() const {
    int count = 0;
    for (const auto& [name, times] : operations) {
      count += times;
    }
    return count;
  }
  [[nodiscard]] std::string Text() const {
    std::string text;
    for (const auto& [name, times] : operations) {
      text += name + " " + std::to_string(times) + "\n";
    }
    return text;
  }
};

Seen& TheSeen() {
  static Seen seen;
  return seen;
}

// Autograd's nodes are seen, too.
bool IsOfTensors(const at::RecordFunction& operation) {
  return std::string_view(operation.name()).starts_with("aten::");
}

std::string TextOf(const torch::Tensor& tensor) {
  return c10::str(tensor.sizes(), " with strides ", tensor.strides());
}

void ExpectChannelsLast(const std::string& name, const torch::Tensor& tensor) {
  if (!tensor.is_contiguous(at::MemoryFormat::ChannelsLast)) {
    TheSeen().strange.push_back(name + ": " + TextOf(tensor));
  }
}

void SeeConvolution(const at::RecordFunction& operation) {
  const std::string name = operation.name();
  const auto tensor = [&](std::size_t i) {
    return operation.inputs()[i].toTensor();
  };
  if (name == "aten::convolution") {
    ExpectChannelsLast(name + "'s input", tensor(0));
    ExpectChannelsLast(name + "'s weight", tensor(1));
  } else if (name == "aten::convolution_backward") {
    ExpectChannelsLast(name + "'s gradient", tensor(0));
    ExpectChannelsLast(name + "'s input", tensor(1));
    ExpectChannelsLast(name + "'s weight", tensor(2));
  }
}

void SeeCopy(const at::RecordFunction& operation) {
  const torch::Tensor to = operation.inputs()[0].toTensor();
  const torch::Tensor from = operation.inputs()[1].toTensor();
  if (from.dim() == 4 && from.scalar_type() == to.scalar_type()) {
    TheSeen().copies.push_back(TextOf(from));
  }
}

bool IsConvolution(const at::RecordFunction& operation) {
  return std::string_view(operation.name()).starts_with("aten::convolution");
}

std::unique_ptr<at::ObserverContext> See(const at::RecordFunction& operation) {
  const std::string name = operation.name();
  Seen& seen = TheSeen();
  if (IsOfTensors(operation) && seen.depth++ == 0) {
    ++seen.operations[name];
  }
  if (IsConvolution(operation)) {
    SeeConvolution(operation);
    ++seen.convolutions;
  }
  if (name == "aten::copy_" && seen.convolutions == 0) {
    SeeCopy(operation);
  }
  const auto schema = operation.operator_name();
  const auto handle =
      schema ? c10::Dispatcher::singleton().findSchema(*schema) : c10::nullopt;
  if (handle && ReadsValues(*handle)) {
    seen.reads.push_back(name);
  }
  return nullptr;
}

void SeeEnd(const at::RecordFunction& operation,
            at::ObserverContext* /*context*/) {
  TheSeen().depth -= IsOfTensors(operation) ? 1 : 0;
  TheSeen().convolutions -= IsConvolution(operation) ? 1 : 0;
}

// Sees the third step of a training: the first two make the optimizer's state.
Seen ThirdStep(const ModelOptions& model, const OptimizerOptions& optimizer,
               Precision precision) {
  const auto loop =
      MakeDeviceLoop(model, optimizer,
                     {.device = "cpu", .precision = precision, .threads = 2});
  Outfeed outfeed([](const StepResult&) {});
  const auto train = [&](std::int64_t first, std::int64_t steps) {
    Infeed infeed(ColourBatches(steps, kBatch, kSide, 4), kBatch, kSide);
    EXPECT_EQ(loop->Train(first, steps, infeed, outfeed), steps);
  };
  train(0, 2);
  TheSeen() = {};
  const at::CallbackHandle handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(See, SeeEnd)
                                     .needsInputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
  train(2, 1);
  at::removeCallback(handle);
  outfeed.Drain();
  return TheSeen();
}

class OperationsTest
    : public testing::TestWithParam<std::tuple<bool, Precision>> {};

TEST_P(OperationsTest, AllOperationsAreInChannelsLastOrder) {
  const auto [fused, precision] = GetParam();
  Seen seen =
      ThirdStep({.depth = 50, .num_classes = 4, .fused_batch_norm = fused}, {},
                precision);
  EXPECT_EQ(seen.operations["aten::convolution_backward"], 53);
  EXPECT_THAT(seen.strange, IsEmpty());
  EXPECT_THAT(seen.copies, IsEmpty());
  EXPECT_THAT(seen.reads, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, OperationsTest,
    testing::Combine(testing::Bool(), testing::Values(Precision::kFloat32,
                                                      Precision::kBfloat16)));

// Another version of LibTorch has other operations.
TEST(OperationsOfAStepTest, AStepHasTheExpectedOperations) {
  if (TORCH_VERSION_MAJOR != 1 || TORCH_VERSION_MINOR != 13) {
    GTEST_SKIP() << "counted with LibTorch 1.13, not with " << TORCH_VERSION;
  }
  for (const auto& [fused, count] : {std::pair(false, 294), {true, 1131}}) {
    const Seen seen =
        ThirdStep({.depth = 18, .num_classes = 4, .fused_batch_norm = fused},
                  {}, Precision::kFloat32);
    EXPECT_EQ(seen.Count(), count) << seen.Text();
  }
}

// Random parts, which a step on `meta` (capture_test.cc) does not have.
TEST(OperationsOfAStepTest, ReadNoValueToDropAtRandom) {
  const Seen seen = ThirdStep(
      {.depth = 50,
       .num_classes = 4,
       .se_ratio = 0.25,
       .drop_connect_rate = 0.2,
       .dropout_rate = 0.5,
       .drop_block = {.groups = {3, 4}, .keep_prob = 0.9, .train_steps = 4}},
      {.moving_average_decay = 0.9,
       .clip_gradient_norm = 1,
       .mixup_alpha = 0.2,
       .cutmix_alpha = 1},
      Precision::kFloat32);
  EXPECT_THAT(seen.reads, IsEmpty());
}

}  // namespace infeed::operations_test
