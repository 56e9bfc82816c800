#include "pipeline/order/torch_order.h"

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"

namespace infeed {

std::vector<std::uint32_t> TorchOrder(std::int64_t records, std::uint64_t seed,
                                      std::uint32_t epoch) {
  Check(records >= 0 && records <= kMostTorchRecords,
        "PyTorch orders so many records like this");
  std::mt19937 engine(static_cast<std::uint32_t>(seed + epoch));
  std::vector<std::uint32_t> order(static_cast<std::size_t>(records));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    const std::size_t left = order.size() - place;
    std::swap(order[place], order[place + engine() % left]);
  }
  return order;
}

}  // namespace infeed
