#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "base/error.h"
#include "trainer/groups/seat.h"
#include "trainer/ranks/ranks.h"

namespace infeed {
namespace {

using Gloo = c10d::ProcessGroupGloo;

[[noreturn]] void Refuse(const char* call) {
  throw IoError(fmt::format("the ranks' store has no {}()", call));
}

// The ranks' notes as a c10d store, through which Gloo's ranks exchange their
// addresses; it needs no server of its own. Stores with different prefixes have
// separate keys. Functions that Gloo does not use throw IoError. The ranks must
// outlive it.
class RankStore final : public c10d::Store {
 public:
  RankStore(Ranks& ranks, std::string prefix, std::chrono::milliseconds timeout)
      : Store(timeout), ranks_(ranks), prefix_(std::move(prefix)) {}

  void set(const std::string& key,
           const std::vector<std::uint8_t>& value) override {
    ranks_.Post(prefix_ + key, std::string(value.begin(), value.end()));
  }

  std::vector<std::uint8_t> get(const std::string& key) override {
    const std::string value = Read(key, timeout_);
    return {value.begin(), value.end()};
  }

  void wait(const std::vector<std::string>& keys) override {
    wait(keys, timeout_);
  }

  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    for (const std::string& key : keys) {
      (void)Read(key, timeout);
    }
  }

  std::int64_t add(const std::string& /*key*/,
                   std::int64_t /*value*/) override {
    Refuse("add");
  }
  bool deleteKey(const std::string& /*key*/) override { Refuse("deleteKey"); }
  bool check(const std::vector<std::string>& /*keys*/) override {
    Refuse("check");
  }
  std::int64_t getNumKeys() override { Refuse("getNumKeys"); }

 private:
  std::string Read(const std::string& key, std::chrono::milliseconds timeout) {
    return ranks_.Read(prefix_ + key, timeout);
  }

  Ranks& ranks_;
  std::string prefix_;
};

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
    // Gloo's writes to a rank that has ended raise SIGPIPE: a rank that was
    // suspended for a while would be ended by it, without a message.
    std::signal(SIGPIPE, SIG_IGN);
    const auto options = Gloo::Options::create(seat.timeout);
    options->devices.push_back(Gloo::createDeviceForHostname(seat.address));
    return c10::make_intrusive<Gloo>(
        c10::make_intrusive<RankStore>(seat.ranks, seat.prefix, seat.timeout),
        seat.rank, seat.size, options);
  }

  int world_rank_;
  c10::intrusive_ptr<Gloo> gloo_;
};

}  // namespace

std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat) {
  return std::make_unique<GlooGroup>(seat);
}

}  // namespace infeed
