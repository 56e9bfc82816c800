#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "trainer/ranks/ranks.h"

namespace infeed {

// The ranks that train together, for their devices: sums of tensors inside a
// step. Uses Gloo between CPUs, NCCL between GPUs.
//
// All ranks make the same calls in the same order, with tensors of the same
// shapes, dense, float32 or float64, on the group's device. Sums have the same
// bits on every rank, and in every run with the same number of ranks. One
// thread at a time.
class DeviceGroup {
 public:
  // A sum in progress. On a GPU, Wait() makes the current stream wait, not the
  // host, and can be captured into a graph. Throws IoError when a rank is gone.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void Wait() = 0;
  };

  virtual ~DeviceGroup() = default;

  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int rank() const = 0;  // in this group

  // Begins to replace the tensor by its sum over the ranks. The tensor must not
  // be used before Wait().
  [[nodiscard]] virtual std::unique_ptr<Pending> BeginSum(
      const torch::Tensor& tensor) = 0;
  // Replaces the tensor by that of rank 0.
  virtual void Broadcast(const torch::Tensor& tensor) = 0;

  void Sum(const torch::Tensor& tensor) { BeginSum(tensor)->Wait(); }
};

// Joins the group of the world's ranks [first, first + size), which include
// this one, for tensors on `device`. Every rank of the world calls it, for its
// own group. nullptr for a group of one, for which `ranks` may be null; else
// `ranks` must outlive the group. Throws IoError.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinDeviceGroup(
    Ranks* ranks, int first, int size, const torch::Device& device,
    std::chrono::seconds timeout);

// Replaces each tensor by its mean over the ranks, summed in float64, so that
// values equal on all ranks keep their bits. Requires: float32.
void Average(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

// Replaces each tensor by that of rank 0. Tensors may have any types.
void Broadcast(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

}  // namespace infeed
