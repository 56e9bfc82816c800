#include "trainer/groups/device_group.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "trainer/groups/seat.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/ranks/socket.h"

namespace infeed {
namespace {

// Gloo takes the first connection for the rank that it waits for; if it is
// another process, that rank finds the port closed. So if one rank cannot join,
// all try again.
constexpr int kMostTries = 10;

std::string OwnAddress(const RankPlace& place) {
  std::string address = AddressTowards(place.master_addr);
  if (IsThisMachineOnly(address) && place.local_world_size < place.world_size) {
    throw IoError(fmt::format(
        "rank {}: {} is this machine's own loopback address {}, which ranks on "
        "other machines cannot reach: give rank 0's address as they see it",
        place.rank, place.master_addr, address));
  }
  return address;
}

struct Joined {
  std::unique_ptr<DeviceGroup> group;
  std::optional<IoError> error;  // from the library that connects devices
};

Joined TryToJoin(const GroupSeat& seat) {
  try {
    return {.group = seat.device.is_cuda() ? JoinCudaGroup(seat)
                                           : JoinGlooGroup(seat),
            .error = std::nullopt};
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const RankPlace& place = seat.ranks.place();
    return {
        .group = nullptr,
        .error = GroupError(place.rank,
                            fmt::format("cannot join the ranks at {}:{}",
                                        place.master_addr, place.master_port),
                            error)};
  }
}

constexpr std::size_t kPieceBytes = 25'000'000;

torch::Tensor Flat(const std::vector<torch::Tensor>& tensors,
                   torch::ScalarType type) {
  std::vector<torch::Tensor> rows;
  rows.reserve(tensors.size());
  for (const torch::Tensor& tensor : tensors) {
    rows.push_back(tensor.detach().reshape(-1).to(type));
  }
  return torch::cat(rows);
}

void CopyBack(const torch::Tensor& flat,
              const std::vector<torch::Tensor>& tensors) {
  std::int64_t offset = 0;
  for (const torch::Tensor& tensor : tensors) {
    torch::Tensor target = tensor.detach();
    target.copy_(
        flat.narrow(0, offset, tensor.numel()).reshape(tensor.sizes()));
    offset += tensor.numel();
  }
}

// Pieces of tensors of the same type.
std::vector<std::vector<torch::Tensor>> PiecesOf(
    const std::vector<torch::Tensor>& tensors) {
  std::map<torch::ScalarType, std::vector<std::vector<torch::Tensor>>> by_type;
  std::map<torch::ScalarType, std::size_t> bytes;
  for (const torch::Tensor& tensor : tensors) {
    auto& pieces = by_type[tensor.scalar_type()];
    std::size_t& in_last = bytes[tensor.scalar_type()];
    if (pieces.empty() || in_last >= kPieceBytes) {
      pieces.emplace_back();
      in_last = 0;
    }
    pieces.back().push_back(tensor);
    in_last += tensor.nbytes();
  }
  std::vector<std::vector<torch::Tensor>> all;
  for (const auto& [type, pieces] : by_type) {
    all.insert(all.end(), pieces.begin(), pieces.end());
  }
  return all;
}

}  // namespace

IoError GroupError(int world_rank, std::string_view doing,
                   const std::exception& error) {
  const std::string text = ErrorText(error);
  std::string_view what = text;
  // Gloo's messages begin with its source file, "[.../pair.cc:598] ".
  const std::size_t place = what.find(".cc:");
  const std::size_t end = what.find("] ");
  if (what.starts_with('[') && place < end && end != std::string_view::npos) {
    what.remove_prefix(end + 2);
  }
  return IoError(fmt::format("rank {}: {}: {}", world_rank, doing, what));
}

std::unique_ptr<DeviceGroup> JoinDeviceGroup(Ranks* ranks, int first, int size,
                                             const torch::Device& device,
                                             std::chrono::seconds timeout) {
  if (size == 1) {
    return nullptr;
  }
  Check(ranks != nullptr, "a group of several has ranks");
  const std::string address = OwnAddress(ranks->place());
  for (int tries = 1;; ++tries) {
    Joined joined = TryToJoin(
        {.world_rank = ranks->place().rank,
         .rank = ranks->place().rank - first,
         .size = size,
         .device = device,
         .ranks = *ranks,
         .prefix = ranks->NextPrefix(fmt::format("device_group/{}", first)),
         .address = address,
         .timeout = timeout});
    if (!ranks->Any(joined.error.has_value())) {
      return std::move(joined.group);
    }
    if (tries == kMostTries) {
      throw joined.error.value_or(IoError(fmt::format(
          "rank {}: another rank cannot join", ranks->place().rank)));
    }
  }
}

void Average(const std::vector<torch::Tensor>& tensors, DeviceGroup& group) {
  if (tensors.empty()) {
    return;
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor flat = Flat(tensors, torch::kDouble);
  group.Sum(flat);
  CopyBack(flat / group.size(), tensors);
}

void Broadcast(const std::vector<torch::Tensor>& tensors, DeviceGroup& group) {
  const torch::NoGradGuard no_grad;
  for (const std::vector<torch::Tensor>& piece : PiecesOf(tensors)) {
    const torch::Tensor flat = Flat(piece, piece.front().scalar_type());
    group.Broadcast(flat);
    CopyBack(flat, piece);
  }
}

}  // namespace infeed
