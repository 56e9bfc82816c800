#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "trainer/groups/seat.h"

namespace infeed {
namespace {

// Throws IoError for a call that failed.
void CheckNccl(ncclResult_t result, int world_rank, std::string_view doing) {
  if (result != ncclSuccess && result != ncclInProgress) {
    throw IoError(fmt::format("rank {}: {}: NCCL: {}", world_rank, doing,
                              ncclGetErrorString(result)));
  }
}

// One stream for all groups of the process on this device: with separate
// streams, two GPUs could run the collectives in different orders, and wait for
// each other.
c10::cuda::CUDAStream GroupStream(const torch::Device& device) {
  static const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index());
  Check(stream.device() == device, "a process has ranks on one GPU");
  return stream;
}

// NCCL has no time-out while it connects, but notes do: the group's first rank
// waits for a note of all others, and they for its id.
ncclUniqueId ShareId(const GroupSeat& seat) {
  ncclUniqueId id = {};
  const auto here = [&](int rank) {
    return fmt::format("{}here/{}", seat.prefix, rank);
  };
  const std::string key = seat.prefix + "id";
  if (seat.rank > 0) {
    seat.ranks.Post(here(seat.rank), "");
    const std::string bytes = seat.ranks.Read(key, seat.timeout);
    Check(bytes.size() == sizeof id.internal, "the id has NCCL's size");
    std::ranges::copy(bytes, id.internal);
    return id;
  }
  for (int rank = 1; rank < seat.size; ++rank) {
    (void)seat.ranks.Read(here(rank), seat.timeout);
  }
  CheckNccl(ncclGetUniqueId(&id), seat.world_rank, "begin a group");
  seat.ranks.Post(key, {id.internal, sizeof id.internal});
  return id;
}

ncclDataType_t TypeOf(const torch::Tensor& tensor) {
  Check(tensor.scalar_type() == torch::kFloat ||
            tensor.scalar_type() == torch::kDouble,
        "sums are of float32 or float64");
  return tensor.scalar_type() == torch::kFloat ? ncclFloat32 : ncclFloat64;
}

class CudaGroup final : public DeviceGroup {
 public:
  explicit CudaGroup(const GroupSeat& seat)
      : world_rank_(seat.world_rank),
        rank_(seat.rank),
        size_(seat.size),
        device_(seat.device),
        stream_(GroupStream(seat.device)) {
    const c10::cuda::CUDAGuard guard(device_);
    CheckNccl(ncclCommInitRank(&communicator_, size_, ShareId(seat), rank_),
              world_rank_, "join the other ranks");
  }
  ~CudaGroup() override;
  CudaGroup(const CudaGroup&) = delete;
  CudaGroup& operator=(const CudaGroup&) = delete;

  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int rank() const override { return rank_; }

  [[nodiscard]] std::unique_ptr<Pending> BeginSum(
      const torch::Tensor& tensor) override {
    return Begin([&](cudaStream_t stream) {
      return ncclAllReduce(tensor.data_ptr(), tensor.data_ptr(),
                           static_cast<std::size_t>(tensor.numel()),
                           TypeOf(tensor), ncclSum, communicator_, stream);
    });
  }

  void Broadcast(const torch::Tensor& tensor) override {
    Begin([&](cudaStream_t stream) {
      return ncclBroadcast(tensor.data_ptr(), tensor.data_ptr(),
                           tensor.nbytes(), ncclInt8, 0, communicator_, stream);
    })->Wait();
  }

  // Throws IoError when NCCL has noticed that a rank is gone.
  void CheckRanks();

 private:
  template <typename Call>
  std::unique_ptr<Pending> Begin(const Call& call);

  int world_rank_;
  int rank_;
  int size_;
  torch::Device device_;
  c10::cuda::CUDAStream stream_;
  ncclComm_t communicator_ = nullptr;
  bool failed_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

class CudaPending final : public DeviceGroup::Pending {
 public:
  CudaPending(CudaGroup& group, const c10::cuda::CUDAStream& stream)
      : group_(group) {
    done_.record(stream);
  }

  void Wait() override {
    done_.block(c10::cuda::getCurrentCUDAStream());
    group_.CheckRanks();
  }

 private:
  CudaGroup& group_;
  at::cuda::CUDAEvent done_;
};

template <typename Call>
std::unique_ptr<DeviceGroup::Pending> CudaGroup::Begin(const Call& call) {
  const c10::cuda::CUDAGuard guard(device_);
  at::cuda::CUDAEvent ready;
  ready.record(c10::cuda::getCurrentCUDAStream());
  ready.block(stream_);
  const ncclResult_t result = call(stream_.stream());
  failed_ = failed_ || result != ncclSuccess;
  CheckNccl(result, world_rank_, "send to the other ranks");
  return std::make_unique<CudaPending>(*this, stream_);
}

void CudaGroup::CheckRanks() {
  ncclResult_t result = ncclSuccess;
  CheckNccl(ncclCommGetAsyncError(communicator_, &result), world_rank_,
            "ask for errors");
  failed_ = failed_ || result != ncclSuccess;
  CheckNccl(result, world_rank_, "connection to another rank lost");
}

// After a failure on any rank, sums may never end: they are aborted. Otherwise
// the last ones are completed.
CudaGroup::~CudaGroup() {
  const c10::cuda::CUDAGuard guard(device_);
  if (failed_ || std::uncaught_exceptions() > exceptions_) {
    ncclCommAbort(communicator_);
  } else {
    stream_.synchronize();
    ncclCommDestroy(communicator_);
  }
}

}  // namespace

std::unique_ptr<DeviceGroup> JoinCudaGroup(const GroupSeat& seat) {
  return std::make_unique<CudaGroup>(seat);
}

}  // namespace infeed
