#include "trainer/groups/torchrun_store.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

// The key has the attempt, since the store outlives an attempt.
std::string KeyOf(const RankPlace& place) {
  return fmt::format("infeed/{}/meeting", place.attempt);
}

// Connects as a client only: this process does not listen.
void WithStore(const RankPlace& place, std::chrono::milliseconds timeout,
               const std::function<void(c10d::Store& store)>& use) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.master_port);
  options.isServer = false;
  options.waitWorkers = false;
  options.timeout = timeout;
  try {
    c10d::TCPStore store(place.master_addr, options);
    use(store);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    throw IoError(fmt::format("{}:{}: torchrun's store does not answer: {}",
                              place.master_addr, place.master_port,
                              text.substr(0, text.find('\n'))));
  }
}

}  // namespace

void PublishMeeting(const RankPlace& place, const MeetingPoint& meeting,
                    std::chrono::milliseconds timeout) {
  const std::string text = fmt::format("{} {}", meeting.port, meeting.token);
  WithStore(place, timeout, [&](c10d::Store& store) {
    store.set(KeyOf(place),
              std::vector<std::uint8_t>(text.begin(), text.end()));
  });
}

MeetingPoint FindMeeting(const RankPlace& place,
                         std::chrono::milliseconds timeout) {
  MeetingPoint meeting;
  WithStore(place, timeout, [&](c10d::Store& store) {
    const std::vector<std::uint8_t> bytes = store.get(KeyOf(place));
    const std::string text(bytes.begin(), bytes.end());
    std::string_view rest = text;
    const std::optional<int> port = TakePlainNumber<int>(rest);
    if (!port || !rest.starts_with(' ')) {
      throw IoError(
          fmt::format("{}:{}: torchrun's store has the address of rank 0 in an "
                      "unknown format: do all ranks run the same version?",
                      place.master_addr, place.master_port));
    }
    meeting.port = *port;
    meeting.token = rest.substr(1);
  });
  return meeting;
}

}  // namespace infeed
