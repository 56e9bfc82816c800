#include "trainer/groups/flat_tensors.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include <ATen/ATen.h>

namespace infeed {
namespace {

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
