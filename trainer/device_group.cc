#include "trainer/device_group.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "trainer/cuda_group.h"
#include "trainer/gloo_group.h"
#include "trainer/group_seat.h"
#include "trainer/rank_store.h"
#include "trainer/route_address.h"
#include "trainer/torch_errors.h"

namespace infeed {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;

// The part of the ranks' store that is this group's. A process may join one of
// the same name again; every rank then does.
Store StoreOf(const RankPlace& place, std::string_view name, int first,
              std::chrono::milliseconds timeout) {
  const Store store = OpenRankStore(
      place, fmt::format("device_group/{}/{}", name, first), timeout);
  const std::int64_t times = store->add(fmt::format("joins/{}", place.rank), 1);
  return c10::make_intrusive<c10d::PrefixStore>(std::to_string(times), store);
}

std::string OwnAddress(const RankPlace& place) {
  std::string address = AddressTowards(place.master_addr);
  if (IsLoopback(address) && place.local_world_size < place.world_size) {
    throw IoError(fmt::format(
        "rank {}: {} is this machine's own loopback address {}, which ranks on "
        "other machines cannot reach: give rank 0's address as they see it",
        place.rank, place.master_addr, address));
  }
  return address;
}

}  // namespace

IoError GroupError(int world_rank, std::string_view doing,
                   const std::exception& error) {
  const std::string text = ErrorText(error);
  std::string_view what = text;
  // Gloo begins with its source file, "[.../pair.cc:598] ".
  const std::size_t place = what.find(".cc:");
  const std::size_t end = what.find("] ");
  if (what.starts_with('[') && place < end && end != std::string_view::npos) {
    what.remove_prefix(end + 2);
  }
  return IoError(fmt::format("rank {}: {}: {}", world_rank, doing, what));
}

std::unique_ptr<DeviceGroup> JoinDeviceGroup(const RankPlace& place,
                                             std::string_view name, int first,
                                             int size,
                                             const torch::Device& device,
                                             std::chrono::seconds timeout) {
  if (size == 1) {
    return nullptr;
  }
  try {
    const GroupSeat seat = {.world_rank = place.rank,
                            .rank = place.rank - first,
                            .size = size,
                            .device = device,
                            .store = StoreOf(place, name, first, timeout),
                            .address = OwnAddress(place),
                            .timeout = timeout};
    return device.is_cuda() ? JoinCudaGroup(seat) : JoinGlooGroup(seat);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw GroupError(place.rank,
                     fmt::format("cannot join the ranks at {}:{}",
                                 place.master_addr, place.master_port),
                     error);
  }
}

}  // namespace infeed
