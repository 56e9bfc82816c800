#include <errno.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/rank_meeting.h"
#include "trainer/rank_star.h"
#include "trainer/rank_store.h"
#include "trainer/ranks.h"
#include "trainer/torch_errors.h"

namespace infeed {
namespace {

constexpr const char* kListenerKey = "rank 0";

// Once the ranks are over and this one's main thread hangs, often in a call of
// its device's that waits for a rank that is gone.
void EndProcess(const RankPlace& place, const std::string& message) {
  fmt::print(stderr, "{}: rank {}: {}\n", program_invocation_short_name,
             place.rank, message);
  ::_exit(static_cast<int>(ExitCode::kRuntimeError));
}

std::vector<std::uint8_t> ToBytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string MakeToken() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}", device(), device(), device());
}

// Where rank 0 listens, as the store has it: "PORT TOKEN".
std::pair<int, std::string> ReadListener(c10d::Store& store) {
  const std::vector<std::uint8_t> bytes = store.get(kListenerKey);
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t space = text.find(' ');
  return {std::stoi(text.substr(0, space)), text.substr(space + 1)};
}

void RequireFirstOfThisRank(const RankPlace& place, c10d::Store& store) {
  if (store.add(fmt::format("came/{}", place.rank), 1) > 1) {
    throw IoError(fmt::format(
        "another process at {}:{} is rank {} already: give each a rank of its "
        "own, or each job a port of its own",
        place.master_addr, place.master_port, place.rank));
  }
}

std::vector<FrameStream> Meet(const RankPlace& place, c10d::Store& store,
                              std::chrono::milliseconds timeout) {
  RequireFirstOfThisRank(place, store);
  if (place.is_first()) {
    const RankListener listener(IsThisMachineOnly(place.master_addr));
    const std::string token = MakeToken();
    store.set(kListenerKey,
              ToBytes(fmt::format("{} {}", listener.port(), token)));
    return AwaitRanks(listener, place.world_size, token, timeout);
  }
  const auto [port, token] = ReadListener(store);
  std::vector<FrameStream> links;
  links.push_back(MeetRankZero(place, port, token, timeout));
  return links;
}

// The star, and the store that the devices' groups find each other by.
class TcpRanks final : public Ranks {
 public:
  TcpRanks(const RankPlace& place, std::chrono::milliseconds timeout)
      : Ranks(place),
        store_(OpenRankStore(place, "ranks", timeout)),
        star_(place, Meet(place, *store_, timeout),
              {.timeout = timeout,
               .end_process = [place](const std::string& message) {
                 EndProcess(place, message);
               }}) {}

  std::string Reduce(std::string_view mine, const Reduction& reduce) override {
    return star_.Reduce(mine, reduce);
  }
  void Fail(std::string_view message) noexcept override { star_.Fail(message); }
  std::optional<std::string> WhyOver(
      std::chrono::milliseconds patience) override {
    return star_.WhyOver(patience);
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  StarRanks star_;
};

}  // namespace

std::unique_ptr<Ranks> JoinRanks(const RankPlace& place,
                                 std::chrono::seconds timeout) {
  if (place.is_alone()) {
    return OneRank();
  }
  try {
    return std::make_unique<TcpRanks>(place, timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // c10d's
    throw IoError(fmt::format("{}:{}: the ranks' store failed: {}",
                              place.master_addr, place.master_port,
                              ErrorText(error)));
  }
}

}  // namespace infeed
