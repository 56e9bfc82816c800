#include "trainer/params/precision_trial.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/feed/run_input.h"
#include "trainer/log/messages.h"
#include "trainer/model/cost.h"
#include "trainer/params/resumed_run.h"
#include "trainer/params/station_options.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Smaller differences are noise.
constexpr double kClearly = 1.2;
// About 0.1 s of work for a core in float32.
constexpr double kOperationsOfACore = 10e9;
// Steps in each precision; the first one allocates memory and selects kernels.
constexpr int kMostSteps = 4;
constexpr Seconds kEnough{1.5};
// If the first two steps take longer, no more steps run.
constexpr Seconds kTooLong{4};
// A trial takes at most 1 / kShareOfRun of a run.
constexpr int kShareOfRun = 20;

// A model in one precision, with its optimizer and loop.
class Copy {
 public:
  Copy(const TrainParams& params, DeviceOptions device, int batch,
       Precision precision)
      : loop_(MakeDeviceLoop(MakeModelOptions(params), OptimizerOfCopy(params),
                             InPrecision(std::move(device), precision))),
        infeed_(OpenInput(nullptr, {.batch_size = batch,
                                    .preprocess = params.input.preprocess,
                                    .batches_in_pool = kLeastBatches}),
                batch, params.input.preprocess.image_size),
        outfeed_([](const StepResult& /*result*/) {}) {}

  void Train() {
    const Clock::time_point start = Clock::now();
    step_ += loop_->Train(step_, 1, infeed_, outfeed_);
    const double seconds = Seconds(Clock::now() - start).count();
    least_seconds_ = step_ <= 2 ? seconds : std::min(least_seconds_, seconds);
  }

  // The shortest time of a step, without the first one if there are more.
  [[nodiscard]] double least_seconds() const { return least_seconds_; }

 private:
  static OptimizerOptions OptimizerOfCopy(const TrainParams& params) {
    OptimizerOptions optimizer = MakeOptimizerOptions(params);
    optimizer.accumulation_steps = 1;  // The batch is small enough.
    return optimizer;
  }
  static DeviceOptions InPrecision(DeviceOptions device, Precision precision) {
    device.precision = precision;
    return device;
  }

  std::unique_ptr<DeviceLoop> loop_;
  Infeed infeed_;
  Outfeed outfeed_;
  std::int64_t step_ = 0;
  double least_seconds_ = 0;
};

std::string TrialText(const PrecisionSpeeds& speeds) {
  const bool bfloat16 = ClearlyFaster(speeds) == Precision::kBfloat16;
  return fmt::format(
      "{}, {:.4g} against {:.4g} images/s in {}",
      PrecisionText(ClearlyFaster(speeds)),
      bfloat16 ? speeds.bfloat16 : speeds.float32,
      bfloat16 ? speeds.float32 : speeds.bfloat16,
      PrecisionText(bfloat16 ? Precision::kFloat32 : Precision::kBfloat16));
}

// The line to print, which begins with the precision: "float32, " and why.
std::string Settle(const RunOptions& options, const TrainParams& params) {
  if (const std::optional<std::string> so_far =
          ParamSoFar(options, "precision")) {
    const std::optional<Precision> precision =
        ParseChoice("precision", *so_far, kPrecisions);
    if (precision && precision != Precision::kFloat16) {  // CheckDevice()
      return std::string(PrecisionText(*precision)) +
             ", as in the params.yaml of the resumed run";
    }
  }
  if (!CpuHasBfloat16()) {
    return "float32, this CPU has no units for bfloat16";
  }
  if (const std::string fault = CpuBfloat16Fault(); !fault.empty()) {
    return "float32, bfloat16 fails on this CPU: " + fault;
  }
  DeviceOptions device = MakeDeviceOptions(params, options.device);
  device.threads = ThreadsOf(options.place);
  const int cores = device.threads > 0
                        ? device.threads
                        : static_cast<int>(std::thread::hardware_concurrency());
  const int batch = TrialBatch(params, options.place.world_size, cores);
  return IsWorthATrial(params, batch)
             ? TrialText(TimePrecisions(params, device, batch))
             : "float32, the run is too short to time bfloat16";
}

}  // namespace

void SettlePrecision(const RunOptions& options, Ranks& ranks,
                     RunParams& resolved) {
  std::optional<Precision>& precision = resolved.values.precision;
  const bool is_open =
      !precision && Trains(options.mode) && !IsGpu(options.device);
  const std::string text = ranks.Broadcast(
      is_open && ranks.place().is_first() ? Settle(options, resolved.values)
                                          : "");
  if (!is_open || text.empty()) {
    return;
  }
  precision =
      ParseChoice("precision", text.substr(0, text.find(',')), kPrecisions);
  resolved.origins["precision"] = "precision=auto";
  Say("precision: " + text);
}

void RequireUsablePrecision(const TrainParams& params,
                            const std::string& device) {
  if (IsGpu(device) || PrecisionOf(params, device) != Precision::kBfloat16) {
    return;
  }
  if (const std::string fault = CpuBfloat16Fault(); !fault.empty()) {
    throw UsageError(fmt::format(
        "precision=bfloat16: LibTorch cannot compute in it on this CPU: {}; "
        "unset DNNL_MAX_CPU_ISA and ONEDNN_MAX_CPU_ISA if they are set, or "
        "give precision=float32",
        fault));
  }
}

int TrialBatch(const TrainParams& params, int ranks, int cores) {
  const double operations = StepOperations(
      ComputeCost(MakeModelOptions(params), params.input.preprocess.image_size),
      1);
  const double most = cores * kOperationsOfACore / operations;
  const int part = std::max(1, params.input.batch_size / ranks);
  return static_cast<int>(std::clamp<double>(most, 1, part));
}

bool IsWorthATrial(const TrainParams& params, int batch) {
  return params.train_steps * params.input.batch_size >=
         std::int64_t{kShareOfRun} * 2 * kMostSteps * batch;
}

PrecisionSpeeds TimePrecisions(const TrainParams& params,
                               const DeviceOptions& device, int batch) {
  Copy float32(params, device, batch, Precision::kFloat32);
  Copy bfloat16(params, device, batch, Precision::kBfloat16);
  const Clock::time_point start = Clock::now();
  int steps = 0;
  // Alternates, so that other load on the machine slows both.
  do {
    float32.Train();
    bfloat16.Train();
    ++steps;
  } while (steps < kMostSteps &&
           Clock::now() - start < (steps < 2 ? kTooLong : kEnough));
  return {.float32 = batch / float32.least_seconds(),
          .bfloat16 = batch / bfloat16.least_seconds()};
}

Precision ClearlyFaster(const PrecisionSpeeds& speeds) {
  return speeds.bfloat16 >= kClearly * speeds.float32 ? Precision::kBfloat16
                                                      : Precision::kFloat32;
}

}  // namespace infeed
