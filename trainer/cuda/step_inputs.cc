#include "trainer/cuda/step_inputs.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/kernels/kernels.h"

namespace infeed {
namespace {

// The columns of a row: learning rate, newest, and the numbers of a mix if
// there is one.
constexpr std::int64_t kMixColumn = 2;
constexpr std::int64_t kLeastRows = 1024;

static_assert(sizeof(StepClock) == 2 * sizeof(std::int64_t));

torch::Tensor Pinned(at::IntArrayRef shape, torch::ScalarType type) {
  return torch::zeros(shape, torch::dtype(type).pinned_memory(true));
}

}  // namespace

CudaStepInputs::CudaStepInputs(const torch::Device& device)
    : device_(device),
      host_clock_(Pinned({2}, torch::kLong)),
      clock_(torch::zeros({2}, torch::device(device).dtype(torch::kLong))) {}

StepClock* CudaStepInputs::clock() const {
  return reinterpret_cast<StepClock*>(clock_.data_ptr<std::int64_t>());
}

bool CudaStepInputs::MakeRoom(std::int64_t steps, std::int64_t columns) {
  if (table_.defined() && table_.size(0) >= steps) {
    return false;
  }
  const std::int64_t rows = std::max(steps, kLeastRows);
  host_table_ = Pinned({rows, columns}, torch::kFloat);
  table_ = torch::empty({rows, columns}, torch::device(device_));
  row_ = torch::empty({columns}, torch::device(device_));
  return true;
}

bool CudaStepInputs::Load(const StepInputs& host, std::int64_t first_step) {
  const std::int64_t steps = host.rates.size(0);
  const std::int64_t columns =
      kMixColumn + (host.mixes.defined() ? host.mixes.size(1) : 0);
  const bool moved = MakeRoom(steps, columns);
  const torch::Tensor rows = host_table_.narrow(0, 0, steps);
  rows.select(1, 0).copy_(host.rates);
  rows.select(1, 1).copy_(host.newest);
  if (host.mixes.defined()) {
    rows.narrow(1, kMixColumn, columns - kMixColumn).copy_(host.mixes);
  }
  table_.narrow(0, 0, steps).copy_(rows, /*non_blocking=*/true);
  auto* const clock = host_clock_.data_ptr<std::int64_t>();
  clock[0] = first_step;
  clock[1] = 0;
  clock_.copy_(host_clock_, /*non_blocking=*/true);
  return moved;
}

StepInputs CudaStepInputs::Select() const {
  const auto columns = static_cast<int>(row_.size(0));
  LaunchSelectRow(table_.data_ptr<float>(), columns, clock(),
                  row_.data_ptr<float>(),
                  c10::cuda::getCurrentCUDAStream().stream());
  return {.rates = row_[0],
          .newest = row_[1],
          .mixes = columns > kMixColumn
                       ? row_.narrow(0, kMixColumn, columns - kMixColumn)
                       : torch::Tensor()};
}

}  // namespace infeed
