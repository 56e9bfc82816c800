#include "trainer/rank_store.h"

#include <cstdint>
#include <exception>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"

namespace infeed {
namespace {

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string Advice(const RankPlace& place) {
  return place.is_first()
             ? "rank 0 serves there: give a port that is free on this machine, "
               "by --master_port or MASTER_PORT"
             : "no rank 0 answers there: see whether it runs, and whether "
               "--master_addr or MASTER_ADDR is its machine";
}

}  // namespace

c10::intrusive_ptr<c10d::Store> OpenRankStore(
    const RankPlace& place, std::string_view name,
    std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.master_port);
  options.isServer = place.is_first() && !place.store_is_served;
  options.waitWorkers = false;
  options.timeout = timeout;
  // Each store of this process may be the first: they share one server.
  options.multiTenant = true;
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        fmt::format("infeed/{}/{}", place.attempt, name),
        c10::make_intrusive<c10d::TCPStore>(place.master_addr, options));
  } catch (const std::exception& error) {
    throw IoError(fmt::format("{}:{}: the ranks cannot meet ({}); {}",
                              place.master_addr, place.master_port,
                              FirstLine(error.what()), Advice(place)));
  }
}

}  // namespace infeed
