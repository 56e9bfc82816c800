#include "trainer/cuda/resident_loop.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>

#include "base/error.h"
#include "preprocess/pixels/image_size.h"
#include "records/bytes/byte_size.h"
#include "trainer/cuda/graphs.h"
#include "trainer/cuda/log.h"
#include "trainer/loop/gpu_cards.h"

namespace infeed {
namespace {

constexpr int kWarmUp = 3;

// Most steps of one launch: half of the ring, so that the other half can hold
// the results of the launch before.
constexpr auto kMostSteps = static_cast<std::int64_t>(kCudaRecords / 2);

// Steps of a loop's first launches: few, since the device waits while the host
// takes the choices of the first one.
constexpr std::int64_t kFirstSteps = 8;

// How many launches the host may be ahead. The ring of results has room for
// fewer, the short ones included.
constexpr std::size_t kLaunches = 64;

// Steps of the next launch of a loop, in which `done` were launched. Each
// launch has one and a half times the steps of the one before, so that the host
// has taken its choices before the device has run the earlier launches.
std::int64_t LaunchSteps(std::int64_t done) {
  return std::clamp(done / 2, kFirstSteps, kMostSteps);
}

void RequireRoom(const ResidentShape& shape) {
  const std::int64_t free = FreeCardMemory();
  if (shape.bytes() > free) {
    throw UsageError("data_on_device: " + std::to_string(shape.images) +
                     " images take " + MemorySizeText(shape.bytes()) +
                     ", but the GPU has " + MemorySizeText(free) +
                     " free: give data_on_device=false, or fewer or "
                     "smaller images");
  }
}

torch::Tensor NewLabels(const ResidentShape& shape,
                        const torch::Device& device) {
  RequireRoom(shape);
  return torch::empty({shape.images}, torch::device(device).dtype(torch::kInt));
}

template <typename T>
T* WordsOf(const torch::Tensor& tensor) {
  static_assert(sizeof(T) == sizeof(std::int32_t));
  return reinterpret_cast<T*>(tensor.data_ptr<std::int32_t>());
}

}  // namespace

CudaResidentLoop::CudaResidentLoop(const DeviceModel& model,
                                   const c10::cuda::CUDAStream& stream,
                                   CudaWaits& waits, GraphPolicy& policy,
                                   const ResidentShape& shape)
    : model_(model),
      stream_(stream),
      waits_(waits),
      policy_(policy),
      shape_(shape),
      labels_(NewLabels(shape, model.device)),
      status_(model.device),
      idle_(stream, kLaunches),
      inputs_(model.device),
      records_(kCudaRecords),
      results_(records_.host(), [this] { status_.Check(); }) {
  pixels_ = torch::empty(
      {shape.images, shape.image_size.height, shape.image_size.width},
      labels_.options());
}

void CudaResidentLoop::Append(const Batch& batch) {
  const std::int64_t count =
      std::min<std::int64_t>(batch.size(), shape_.images - appended_);
  if (count <= 0) {
    return;
  }
  Check(batch.image_size() == shape_.image_size,
        "images have the size announced");
  const CudaStreamScope scope(stream_);
  const auto copy = [&](const torch::Tensor& to, const void* from) {
    const torch::Tensor rows = to.narrow(0, appended_, count);
    C10_CUDA_CHECK(cudaMemcpyAsync(rows.data_ptr(), from, rows.nbytes(),
                                   cudaMemcpyHostToDevice, stream_.stream()));
  };
  copy(pixels_, batch.pixels().data());
  copy(labels_, batch.labels().data());
  waits_.For(stream_);  // Before the batch returns to its pool.
  appended_ += count;
}

std::int64_t CudaResidentLoop::Run(std::int64_t first_step, std::int64_t steps,
                                   Infeed& infeed, Outfeed& outfeed) {
  const CudaStreamScope scope(stream_);
  const std::int64_t waits_before = waits_.count();
  marks_.assign(1, infeed.mark());
  const std::atomic_ref<std::int32_t> stop_word(stop_.host()[0]);
  stop_word = 0;
  const std::stop_callback set_stop_word(infeed.stop_token(),
                                         [&] { stop_word = 1; });
  if (inputs_.Load(model_.step.UploadTo(torch::kCPU, first_step, steps,
                                        infeed.image_size()),
                   first_step)) {
    ForgetGraph();
  }
  const std::int64_t done = RunCudaLoop(
      first_step, steps, {stream_, waits_, status_, idle_, results_, infeed},
      [&](std::int64_t before) {
        return LaunchSome(first_step, before, steps - before, infeed, outfeed);
      });
  syncs_ += waits_.count() - waits_before;
  const auto used = static_cast<std::size_t>(done);
  if (used + 1 < marks_.size()) {
    infeed.SetBack(marks_[used]);
  }
  return done;
}

// Launches some steps and returns how many; 0 at the end of the stream.
std::int64_t CudaResidentLoop::LaunchSome(std::int64_t first_step,
                                          std::int64_t done, std::int64_t most,
                                          Infeed& infeed, Outfeed& outfeed) {
  const std::int64_t count =
      TakeChoices(done, done + most, std::min(most, LaunchSteps(done)), infeed);
  if (count == 0) {
    return 0;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    results_.Expect(first_step + done + i + 1, outfeed);
  }
  model_.step.Begin(first_step + done);
  idle_.BeginStep();
  RunSteps(done, count, infeed.stop_token());
  idle_.EndStep();
  return count;
}

// Takes the choices of steps [done, done + most) of the loop's `steps`, and
// enqueues their copy.
std::int64_t CudaResidentLoop::TakeChoices(std::int64_t done,
                                           std::int64_t steps,
                                           std::int64_t most, Infeed& infeed) {
  std::int64_t count = 0;
  for (; count < most; ++count) {
    const BatchHandle batch = infeed.Next();
    if (!batch) {
      break;
    }
    Check(batch->content() == BatchContent::kChoices,
          "the device has the images, and is told which to take");
    if (count == 0 && done == 0) {
      MakeRoom(steps, batch->size());
    }
    std::ranges::copy(batch->pixels(),
                      WordsOf<std::uint32_t>(host_choices_[done + count]));
    marks_.push_back(infeed.mark());
  }
  if (count > 0) {
    choices_.narrow(0, done, count)
        .copy_(host_choices_.narrow(0, done, count), /*non_blocking=*/true);
  }
  return count;
}

// Allocates memory for a loop. Requires: no step is running.
void CudaResidentLoop::MakeRoom(std::int64_t steps, int batch_size) {
  if (choices_.defined() && choices_.size(0) >= steps &&
      choices_.size(1) == batch_size) {
    return;
  }
  ForgetGraph();
  const auto options = labels_.options();
  host_choices_ = torch::zeros({steps, batch_size},
                               torch::dtype(torch::kInt).pinned_memory(true));
  choices_ = torch::empty({steps, batch_size}, options);
  const ImageSize& size = shape_.image_size;
  batch_pixels_ = torch::empty({batch_size, size.height, size.width}, options);
  batch_labels_ = torch::empty({batch_size}, options);
  batch_weights_ = torch::empty({batch_size}, options.dtype(torch::kFloat));
}

void CudaResidentLoop::RunSteps(std::int64_t done, std::int64_t count,
                                const std::stop_token& stop) {
  for (std::int64_t run = 0; run < count && !stop.stop_requested(); ++run) {
    if (warmed_up_ == kWarmUp && HasGraph()) {
      loop_->Launch(done + count, stream_.stream());
      return;
    }
    warmed_up_ = std::min(warmed_up_ + 1, kWarmUp);
    Step();
  }
}

// Captures the graph if that has not been done.
bool CudaResidentLoop::HasGraph() {
  return loop_ != nullptr ||
         (policy_.enabled() && policy_.Try([this] { Capture(); }));
}

// The body of the graph's loop, without its condition.
void CudaResidentLoop::Step() {
  const auto slots = static_cast<int>(batch_labels_.size(0));
  LaunchGather({.pixels = WordsOf<std::uint32_t>(pixels_),
                .labels = WordsOf<std::int32_t>(labels_),
                .height = shape_.image_size.height,
                .width = shape_.image_size.width},
               WordsOf<std::uint32_t>(choices_), inputs_.clock(),
               {.pixels = WordsOf<std::uint32_t>(batch_pixels_),
                .labels = WordsOf<std::int32_t>(batch_labels_),
                .weights = batch_weights_.data_ptr<float>(),
                .slots = slots},
               stream_.stream());
  RunCudaStep(model_,
              {.pixels = WordsOf<std::uint32_t>(batch_pixels_),
               .labels = WordsOf<std::int32_t>(batch_labels_),
               .weights = batch_weights_.data_ptr<float>()},
              {.size = slots, .image_size = shape_.image_size}, inputs_,
              records_);
}

void CudaResidentLoop::Capture() {
  try {
    step_ = CaptureWork([this] { Step(); }, {}, NewGraphPool(waits_),
                        GraphUse::kAsPart);
    WithCudaLog([this] {
      loop_ = std::make_unique<CudaWhileGraph>(step_->raw_cuda_graph(),
                                               inputs_.clock(), stop_.device(),
                                               model_.device);
    });
  } catch (...) {
    step_.reset();
    model_.step.Forget();
    throw;
  }
}

void CudaResidentLoop::ForgetGraph() {
  loop_.reset();
  step_.reset();
  warmed_up_ = 0;
}

}  // namespace infeed
