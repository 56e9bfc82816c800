// Trains a network on a CPU in float32, bfloat16 and float16, the last one with
// a fixed and with a dynamic loss scale, as a GPU would: the trainer's own
// loop, whose convolutions and products read and write 16-bit numbers and add
// up in float32. LibTorch 1 computes those of float16 by half_on_cpu.cc. Prints
// the mean losses of some steps each as a table.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/flags.h"
#include "trainer/feed/data_set.h"
#include "trainer/feed/run_input.h"
#include "trainer/loop/device_loop.h"
#include "trainer/params/params.h"
#include "trainer/params/station_options.h"

namespace infeed {
namespace {

// Small images. Norms run as on a GPU: one operation with the sum and the ReLU
// after them, which rounds once. LibTorch 1 has no max pool of float16 on a
// CPU.
constexpr const char* kRecipe =
    "resnet_depth=18,replace_stem_max_pool=true,fused_batch_norm=true,"
    "recipe=cifar,image_size=32,train_batch_size=32,base_learning_rate=0.05,"
    "learning_rate_scaling=none,learning_rate_schedule=cosine,warmup_epochs=0,"
    "weight_decay=5e-4";

struct Arithmetic {
  const char* name;
  Precision precision;
  const char* loss_scale = "auto";
};
constexpr Arithmetic kArithmetics[] = {
    {"float32", Precision::kFloat32},
    {"bfloat16", Precision::kBfloat16},
    {"float16, loss_scale=1024", Precision::kFloat16, "1024"},
    {"float16, loss_scale=auto", Precision::kFloat16}};

RunParams ParamsOf(const Arithmetic& arithmetic, const DataSet& data,
                   std::int64_t steps, const std::string& more) {
  RunParams params = ReadParams(
      {.overrides = {kRecipe, fmt::format("train_steps={}", steps), more}});
  params.values.precision = arithmetic.precision;
  params.values.loss_scale = arithmetic.loss_scale;
  return Resolve(params, "cpu", data);
}

std::vector<StepResult> Train(const Arithmetic& arithmetic, const DataSet& data,
                              const TrainParams& params) {
  DeviceOptions device = MakeDeviceOptions(params, "cpu");
  device.precision = arithmetic.precision;  // In place of a CPU's.
  device.threads = 1;                       // The same sums on every machine.
  const auto loop = MakeDeviceLoop(MakeModelOptions(params),
                                   MakeOptimizerOptions(params), device);
  Infeed infeed(OpenInput(data.train_index(), params.input),
                params.input.batch_size, params.input.preprocess.image_size);
  std::vector<StepResult> results;
  Outfeed outfeed([&](const StepResult& result) { results.push_back(result); });
  loop->Train(0, params.train_steps, infeed, outfeed);
  outfeed.Drain();
  return results;
}

double MeanLoss(std::span<const StepResult> results) {
  double sum = 0;
  for (const StepResult& result : results) {
    sum += result.loss;
  }
  return sum / static_cast<double>(results.size());
}

void Print(const std::vector<std::vector<StepResult>>& runs, std::size_t steps,
           std::size_t every) {
  std::string head = "| steps |";
  std::string rule = "|---|";
  for (const Arithmetic& arithmetic : kArithmetics) {
    head += fmt::format(" {} |", arithmetic.name);
    rule += "---|";
  }
  fmt::print("{}\n{}\n", head, rule);
  for (std::size_t first = 0; first < steps; first += every) {
    const std::size_t end = std::min(first + every, steps);
    fmt::print("| {} to {} |", first + 1, end);
    for (const std::vector<StepResult>& results : runs) {
      if (results.size() < end) {  // Ended by a loss that is not finite.
        fmt::print(" none |");
      } else {
        fmt::print(" {:.3f} |",
                   MeanLoss(std::span(results).subspan(first, end - first)));
      }
    }
    fmt::print("\n");
  }
  fmt::print("| skipped steps; scale |");
  for (const std::vector<StepResult>& results : runs) {
    fmt::print(" {}; {} |", results.back().skipped_steps,
               results.back().loss_scale);
  }
  fmt::print("\n");
}

ExitCode Run(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(i < argc ? argv[i] : otherwise);
  };
  const DataSet data(argument(1, "null"));
  const std::int64_t steps = std::stoll(argument(2, "300"));
  const std::int64_t every = std::stoll(argument(3, "50"));
  std::vector<std::vector<StepResult>> runs;
  for (const Arithmetic& arithmetic : kArithmetics) {
    const RunParams params =
        ParamsOf(arithmetic, data, steps, argument(4, "seed=0"));
    runs.push_back(Train(arithmetic, data, params.values));
    fmt::print(stderr, "{}: {} steps\n", arithmetic.name, runs.back().size());
  }
  Print(runs, static_cast<std::size_t>(steps), static_cast<std::size_t>(every));
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

// usage: precision_losses [DATA_DIR [STEPS [EVERY [PARAMETERS]]]]
int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Run);
}
