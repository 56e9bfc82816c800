#include "trainer/groups/gloo_group.h"

#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "trainer/groups/rank_store.h"

namespace infeed {
namespace {

using Gloo = c10d::ProcessGroupGloo;

class GlooPending final : public DeviceGroup::Pending {
 public:
  GlooPending(c10::intrusive_ptr<c10d::Work> work, int world_rank)
      : work_(std::move(work)), world_rank_(world_rank) {}

  void Wait() override {
    try {
      work_->wait();
    } catch (const std::exception& error) {
      throw GroupError(world_rank_, "connection to another rank lost", error);
    }
  }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  int world_rank_;
};

class GlooGroup final : public DeviceGroup {
 public:
  explicit GlooGroup(const GroupSeat& seat)
      : world_rank_(seat.world_rank), gloo_(Join(seat)) {}

  [[nodiscard]] int size() const override { return gloo_->getSize(); }
  [[nodiscard]] int rank() const override { return gloo_->getRank(); }

  [[nodiscard]] std::unique_ptr<Pending> BeginSum(
      const torch::Tensor& tensor) override {
    std::vector<torch::Tensor> tensors = {tensor};
    return std::make_unique<GlooPending>(gloo_->allreduce(tensors),
                                         world_rank_);
  }

  void Broadcast(const torch::Tensor& tensor) override {
    std::vector<torch::Tensor> tensors = {tensor};
    GlooPending(gloo_->broadcast(tensors), world_rank_).Wait();
  }

 private:
  static c10::intrusive_ptr<Gloo> Join(const GroupSeat& seat) {
    const auto options = Gloo::Options::create(seat.timeout);
    options->devices.push_back(Gloo::createDeviceForHostname(seat.address));
    return c10::make_intrusive<Gloo>(
        MakeRankStore(seat.ranks, seat.prefix, seat.timeout), seat.rank,
        seat.size, options);
  }

  int world_rank_;
  c10::intrusive_ptr<Gloo> gloo_;
};

}  // namespace

std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat) {
  return std::make_unique<GlooGroup>(seat);
}

}  // namespace infeed
