// A training step as a GPU's graph captures it: nothing in it may read a value
// on the host. It runs on tensors of the device `meta`, which have no values:
// a read throws, and the branches for the CPU are left out, as on a GPU.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>
#include <torch/types.h>

#include "tests/support/model_variants.h"
#include "tests/trainer/loop/value_reads.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/step.h"
#include "trainer/network/batch_norm.h"
#include "trainer/network/network.h"
#include "trainer/network/tensors.h"

#include "gtest/gtest.h"

namespace infeed::capture_test {

using c10::IValue;
using Stack = torch::jit::Stack;

constexpr int kBatch = 4;
const torch::Device kMeta = torch::kMeta;

// The value with each tensor replaced by convert(tensor).
template <typename Convert>
IValue Converted(const IValue& value, const Convert& convert) {
  if (value.isTensor()) {
    return convert(value.toTensor());
  }
  if (value.isTensorList()) {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      tensors.push_back(convert(tensor));
    }
    return tensors;
  }
  return value;
}

at::Tensor OnCpu(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_meta()
             ? at::zeros_like(tensor, tensor.options().device(at::kCPU))
             : tensor;
}

at::Tensor OnMeta(const at::Tensor& tensor) {
  return tensor.defined()
             ? at::empty_like(tensor, tensor.options().device(kMeta))
             : tensor;
}

// Whether a result is the argument that the operation writes to.
bool IsThat(const c10::Argument& result, const c10::Argument& argument) {
  return result.alias_info() != nullptr && argument.alias_info() != nullptr &&
         result.alias_info()->beforeSets() ==
             argument.alias_info()->beforeSets();
}

// Removes an operation's arguments from the stack.
Stack TakeArguments(const c10::OperatorHandle& operation, Stack* stack) {
  const auto begin = stack->end() - static_cast<std::ptrdiff_t>(
                                        operation.schema().arguments().size());
  Stack arguments(begin, stack->end());
  stack->erase(begin, stack->end());
  return arguments;
}

// For operations that LibTorch has no kernel of for `meta`: computes on the CPU
// with zeros, and returns tensors on `meta` like its results.
void ComputeWithZeros(const c10::OperatorHandle& operation, Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  TORCH_CHECK(!ReadsValues(operation), schema.name(), " reads values");
  const Stack arguments = TakeArguments(operation, stack);
  Stack on_cpu;
  for (const IValue& argument : arguments) {
    on_cpu.push_back(Converted(argument, OnCpu));
  }
  operation.callBoxed(&on_cpu);
  for (std::size_t i = 0; i < on_cpu.size(); ++i) {
    const auto written = std::ranges::find_if(
        schema.arguments(), [&](const c10::Argument& argument) {
          return IsThat(schema.returns()[i], argument);
        });
    if (written == schema.arguments().end()) {
      stack->push_back(Converted(on_cpu[i], OnMeta));
      continue;
    }
    const auto at =
        static_cast<std::size_t>(written - schema.arguments().begin());
    stack->push_back(arguments[at]);
    if (on_cpu[i].isTensor()) {
      // The `out` of an operation may be empty before.
      arguments[at].toTensor().resize_(on_cpu[i].toTensor().sizes());
    }
  }
}

// Replaces the operation that LibTorch calls for a convolution on an unknown
// device.
void Convolve(const c10::OperatorHandle& operation, Stack* stack) {
  const Stack arguments = TakeArguments(operation, stack);
  const at::Tensor& x = arguments[0].toTensor();
  const at::Tensor& weight = arguments[1].toTensor();
  const std::vector<std::int64_t> stride = arguments[3].toIntVector();
  const std::vector<std::int64_t> padding = arguments[4].toIntVector();
  const auto side = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i - 2);
    return (x.size(i) + 2 * padding[at] - weight.size(i)) / stride[at] + 1;
  };
  stack->push_back(at::empty({x.size(0), weight.size(0), side(2), side(3)},
                             x.options(), x.suggest_memory_format()));
}

void ConvolveBackward(const c10::OperatorHandle& operation, Stack* stack) {
  const Stack arguments = TakeArguments(operation, stack);
  const c10::List<bool> wanted = arguments.back().toBoolList();
  const at::Tensor& x = arguments[1].toTensor();
  const at::Tensor& weight = arguments[2].toTensor();
  stack->push_back(wanted[0] ? at::empty_like(x) : at::Tensor());
  stack->push_back(wanted[1] ? at::empty_like(weight) : at::Tensor());
  stack->push_back(wanted[2] ? at::empty({weight.size(0)}, weight.options())
                             : at::Tensor());
}

bool HasKernelForMeta(const c10::OperatorHandle& operation) {
  return std::ranges::any_of(
      std::array{c10::DispatchKey::Meta,
                 c10::DispatchKey::CompositeExplicitAutograd,
                 c10::DispatchKey::CompositeExplicitAutogradNonFunctional,
                 c10::DispatchKey::CompositeImplicitAutograd},
      [&](c10::DispatchKey key) {
        return operation.hasKernelForDispatchKey(key);
      });
}

// Kernels for `meta` while it lives.
class MetaKernels {
 public:
  MetaKernels()
      : kernels_(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__,
                 __LINE__) {
    // One by one: newer versions of LibTorch have a fallback of their own.
    for (const c10::OperatorName& name :
         c10::Dispatcher::singleton().getAllOpNames()) {
      const auto operation = c10::Dispatcher::singleton().findSchema(name);
      if (name.name.starts_with("aten::") && operation &&
          !HasKernelForMeta(*operation)) {
        kernels_.impl(
            c10::toString(name).c_str(),
            torch::CppFunction::makeFromBoxedFunction<&ComputeWithZeros>());
      }
    }
    kernels_.impl("convolution_overrideable",
                  torch::CppFunction::makeFromBoxedFunction<&Convolve>());
    kernels_.impl(
        "convolution_backward_overrideable",
        torch::CppFunction::makeFromBoxedFunction<&ConvolveBackward>());
  }

 private:
  torch::Library kernels_;
};

// In place, for all that share the tensors: Module::to() refuses `meta`.
void MoveToMeta(const std::vector<torch::Tensor>& tensors) {
  for (const torch::Tensor& tensor : tensors) {
    tensor.unsafeGetTensorImpl()->shallow_copy_from(
        tensor.detach().to(kMeta).getIntrusivePtr());
  }
}

std::shared_ptr<Network> MetaNetwork(const ModelOptions& options) {
  std::shared_ptr<Network> network = MakeNetwork(options);
  MoveToMeta(network->parameters());
  MoveToMeta(network->buffers());
  return network;
}

// With the channel of zeros that a GPU's batches have.
DeviceBatch MetaBatch(int side) {
  const auto options = torch::device(kMeta);
  return {.images = torch::empty({kBatch, 4, side, side}, options)
                        .contiguous(at::MemoryFormat::ChannelsLast),
          .labels = torch::empty({kBatch}, options.dtype(torch::kLong)),
          .weights = torch::empty({kBatch}, options)};
}

class CaptureTest : public testing::Test {
 protected:
  // Two steps: the second one has the optimizer's state of the first.
  // teacher: nullptr: none.
  static void Train(Network& network, const OptimizerOptions& options,
                    const ModelVariantCase& model,
                    const std::shared_ptr<Network>& teacher = nullptr) {
    TrainStep step({.begin_step = [](std::int64_t) {},
                    .forward =
                        [&](const torch::Tensor& images) {
                          return network.Forward(images);
                        },
                    .parameters = ParametersOf(network, options),
                    .statistics = StatisticsOf(network)},
                   options, model.options.num_classes, kMeta);
    if (teacher) {
      step.SetTeacher([teacher](const torch::Tensor& images) {
        return teacher->Forward(images);
      });
    }
    const StepInputs inputs = step.Upload(0, 2, model.side);
    for (int i = 0; i < 2; ++i) {
      const StepResults results = step.Run(MetaBatch(model.side), inputs.Of(i));
      EXPECT_TRUE(results.loss.is_meta());
      EXPECT_TRUE(results.top_1.is_meta());
    }
  }
  static void Train(const OptimizerOptions& options,
                    const std::shared_ptr<Network>& teacher = nullptr) {
    const ModelVariantCase model = {
        "", {.kind = ModelKind::kLeNet, .num_classes = 5}, 28};
    Train(*MetaNetwork(model.options), options, model, teacher);
  }
  static void Evaluate(Network& network, const ModelVariantCase& model) {
    const torch::NoGradGuard no_grad;
    network.eval();
    EvalCounter counter(kMeta, model.options.num_classes, 0.1);
    const DeviceBatch batch = MetaBatch(model.side);
    const torch::Tensor logits = network.Forward(batch.images);
    counter.Count(logits, batch);
    counter.KeepScores(logits, batch);
  }

 private:
  MetaKernels kernels_;
};

class NetworkCaptureTest
    : public CaptureTest,
      public testing::WithParamInterface<ModelVariantCase> {};

TEST_P(NetworkCaptureTest, NeitherAStepNorAnEvaluationReadsAValue) {
  ModelOptions options = GetParam().options;
  options.fused_batch_norm = true;
  const std::shared_ptr<Network> network = MetaNetwork(options);
  Train(*network, {}, GetParam());
  for (const auto& module : network->modules(/*include_self=*/false)) {
    if (auto* norm = module->as<BatchNormImpl>()) {
      norm->set_fused(false);
    }
  }
  Train(*network, {}, GetParam());
  Evaluate(*network, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, NetworkCaptureTest,
                         testing::ValuesIn(ModelVariantCases()),
                         testing::PrintToStringParamName());

TEST_F(CaptureTest, TheStemOnSquaresReadsNoValue) {
  const ModelVariantCase model = {
      "",
      {.depth = 18, .num_classes = 5, .stem_layout = StemLayout::kSpaceToDepth},
      64};
  Train(*MetaNetwork(model.options), {}, model);
}

TEST_F(CaptureTest, NoOptimizerReadsAValue) {
  for (const auto& [name, kind] : kOptimizers) {
    Train({.kind = kind});
    Train({.kind = kind, .nesterov = false, .weight_decay = 0});
  }
}

TEST_F(CaptureTest, NoOptionOfAStepReadsAValue) {
  Train({.mixup_alpha = 0.2});
  Train({.cutmix_alpha = 1});
  Train({.mixup_alpha = 0.2, .cutmix_alpha = 1});
  Train({.clip_gradient_norm = 1});
  Train({.moving_average_decay = 0.9});
  Train({.moving_average_decay = 0.9, .moving_average_every = 2});
  Train({.loss = {.label_smoothing = 0.1}});
  Train({.loss = {.kind = LossKind::kBce,
                  .label_smoothing = 0.1,
                  .target_threshold = 0.2}});
  Train({.accumulation_steps = 3});
  const std::vector<double> weights = {0, 1, 2, 3, 4};
  Train({.loss = {.class_weights = weights}});
  Train({.loss = {.kind = LossKind::kBce, .class_weights = weights}});
  Train({.loss = {.class_weights = weights}, .mixup_alpha = 0.2});
}

TEST_F(CaptureTest, NoTeacherReadsAValue) {
  const std::shared_ptr<Network> teacher =
      MetaNetwork({.depth = 18, .num_classes = 5});
  teacher->eval();
  for (const double temperature : {0, 2}) {
    Train({.loss = {.class_weights = {0, 1, 2, 3, 4}},
           .distill = {.temperature = temperature},
           .accumulation_steps = 2},
          teacher);
  }
}

// The assumption of the tests above.
TEST_F(CaptureTest, AReadThrows) {
  const torch::Tensor values = torch::ones({4}, torch::device(kMeta));
  EXPECT_THROW((void)values.sum().item<float>(), c10::Error);
  EXPECT_THROW((void)values.nonzero(), c10::Error);
  EXPECT_THROW((void)values.cpu(), c10::Error);
  EXPECT_THROW((void)values.index({values.gt(0)}), c10::Error);
  EXPECT_THROW((void)values.masked_select(values.gt(0)), c10::Error);
  EXPECT_THROW((void)values.equal(values), c10::Error);
}

}  // namespace infeed::capture_test
