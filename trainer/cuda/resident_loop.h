#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include "trainer/cuda/idle.h"
#include "trainer/cuda/slots.h"
#include "trainer/cuda/step.h"
#include "trainer/cuda/while_graph.h"
#include "trainer/feed/slot_graphs.h"
#include "trainer/kernels/resident.h"

namespace infeed {

// The training loop on a GPU that has all images: the host uploads the choice
// of images for some steps, and launches these at once.
//
//   host    choices ► launch, choices of more steps ► launch ...   wait, once
//   device  WHILE [ gather ► unpack ► forward, backward, update ► record ]
//
// The first three steps run kernel by kernel, as in CudaLoop; if the GPU
// rejects the graph, all steps do. A loop takes several launches, the first
// ones short: the device runs one while the host takes the choices of the next,
// and the ring of results is limited. Models with random draws in their steps
// are not supported: the draws are not seeded for each step.
//
// The device checks after each step whether the infeed was stopped. The loop
// then ends, and the infeed's position is that after the last step that ran.
//
// Always the same thread. Throws c10::Error for errors of the GPU.
class CudaResidentLoop {
 public:
  // All arguments' references must outlive it. Throws UsageError where the
  // images do not fit into the free memory.
  CudaResidentLoop(const DeviceModel& model,
                   const c10::cuda::CUDAStream& stream, CudaWaits& waits,
                   GraphPolicy& policy, const ResidentShape& shape);

  // Copies the next images; slots beyond the last image are left out.
  void Append(const Batch& batch);

  // DevicePasses::Train(), on batches of choices. Requires: all images were
  // appended.
  std::int64_t Run(std::int64_t first_step, std::int64_t steps, Infeed& infeed,
                   Outfeed& outfeed);

  // The waits of all loops so far.
  [[nodiscard]] std::int64_t syncs() const { return syncs_; }

 private:
  std::int64_t LaunchSome(std::int64_t first_step, std::int64_t done,
                          std::int64_t most, Infeed& infeed, Outfeed& outfeed);
  std::int64_t TakeChoices(std::int64_t done, std::int64_t steps,
                           std::int64_t most, Infeed& infeed);
  void MakeRoom(std::int64_t steps, int batch_size);
  void RunSteps(std::int64_t done, std::int64_t count,
                const std::stop_token& stop);
  [[nodiscard]] bool HasGraph();
  void Step();
  void Capture();
  void ForgetGraph();

  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits& waits_;
  GraphPolicy& policy_;
  std::int64_t syncs_ = 0;
  ResidentShape shape_;
  std::int64_t appended_ = 0;  // images
  torch::Tensor pixels_;       // int32 [images, height, width]
  torch::Tensor labels_;       // int32 [images]

  // At fixed addresses while there is a graph.
  torch::Tensor host_choices_;   // int32 [steps, slots], pinned
  torch::Tensor choices_;        // the same on the device
  torch::Tensor batch_pixels_;   // int32 [slots, height, width]
  torch::Tensor batch_labels_;   // int32 [slots]
  torch::Tensor batch_weights_;  // float32 [slots]

  CudaStatus status_;
  CudaIdle idle_;
  CudaStepInputs inputs_;
  MappedRecords records_;
  ResultRing results_;
  Mapped<std::int32_t> stop_{1};  // not 0: the loop is to end
  std::vector<FeedMark> marks_;   // before and after the loop's batches
  int warmed_up_ = 0;  // warm-up steps since the addresses last changed
  std::unique_ptr<at::cuda::CUDAGraph> step_;
  std::unique_ptr<CudaWhileGraph> loop_;
};

}  // namespace infeed
