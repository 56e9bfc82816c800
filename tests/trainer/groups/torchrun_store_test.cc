#include "trainer/groups/torchrun_store.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "tests/support/closed_port.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/ranks/ranks.h"

namespace infeed {
namespace {

constexpr std::chrono::seconds kLong{120};

// The store, as torchrun serves it to its ranks.
class TorchrunStoreTest : public testing::Test {
 protected:
  TorchrunStoreTest() : server_(MakeServer()) {}

  [[nodiscard]] RankPlace PlaceOf(int rank) const {
    return {.rank = rank,
            .world_size = 2,
            .local_rank = rank,
            .local_world_size = 2,
            .master_port = server_->getPort(),
            .store_is_served = true,
            .attempt = 3};
  }
  [[nodiscard]] c10d::Store& store() const { return *server_; }
  [[nodiscard]] std::string Shown() const {
    const auto bytes = server_->get("infeed/3/meeting");
    return {bytes.begin(), bytes.end()};
  }

  void Meet(const std::string& token) const {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        RankPlace place = PlaceOf(rank);
        place.token = token;
        const std::unique_ptr<Ranks> ranks = JoinRanks(place, kLong);
        EXPECT_TRUE(ranks->Any(rank == 1));
      });
    }
  }

 private:
  static c10::intrusive_ptr<c10d::TCPStore> MakeServer() {
    c10d::TCPStoreOptions options;
    options.port = 0;  // any
    options.isServer = true;
    options.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  }

  c10::intrusive_ptr<c10d::TCPStore> server_;
};

TEST_F(TorchrunStoreTest, RanksMeetWhereItSays) {
  Meet("");
  EXPECT_THAT(Shown(), testing::MatchesRegex("[0-9]+ [0-9a-f]+"));
}

TEST_F(TorchrunStoreTest, DoesNotShowATokenOfTheUsers) {
  Meet("secret");
  EXPECT_THAT(Shown(), testing::MatchesRegex("[0-9]+ "));
}

TEST_F(TorchrunStoreTest, InvalidMeetingPointsAreRefused) {
  for (const std::string text : {"", "port token", "7"}) {
    store().set("infeed/3/meeting", {text.begin(), text.end()});
    EXPECT_THAT(
        MessageOf<IoError>([&] { (void)FindMeeting(PlaceOf(1), kLong); }),
        HasSubstr("do all ranks run the same version?"));
  }
}

TEST_F(TorchrunStoreTest, ASilentStoreIsNamed) {
  const ClosedPort closed;
  RankPlace place = PlaceOf(1);
  place.master_port = closed.port();
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)FindMeeting(place, std::chrono::seconds(1)); }),
              StartsWith("127.0.0.1:" + std::to_string(closed.port()) +
                         ": torchrun's store does not answer"));
}

}  // namespace
}  // namespace infeed
