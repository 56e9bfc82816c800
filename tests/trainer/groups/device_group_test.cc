#include "trainer/groups/device_group.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_threads.h"
#include "tests/support/throws.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/socket.h"

namespace infeed::device_group_test {

std::unique_ptr<DeviceGroup> JoinAll(
    Ranks& ranks, std::chrono::seconds timeout = kRankTimeout) {
  return JoinDeviceGroup(&ranks, 0, ranks.place().world_size, torch::kCPU,
                         timeout);
}

// Numbers of many sizes: the order in which they are added shows.
torch::Tensor NumbersOf(int rank, std::int64_t count = 100'003) {
  return (torch::arange(count, torch::kFloat) * (0.37 + rank))
      .sin()
      .mul_(1 + 100 * rank);
}

class DeviceGroupTest : public testing::TestWithParam<int> {
 protected:
  std::vector<torch::Tensor> Sums() const {
    return RankThreads(GetParam()).Collect<torch::Tensor>([](Ranks& ranks) {
      const RankPlace& place = ranks.place();
      const auto group = JoinAll(ranks);
      torch::Tensor numbers = NumbersOf(place.rank);
      group->Sum(numbers);
      return numbers;
    });
  }
};

TEST_P(DeviceGroupTest, SumsAreTheSameBitsOnAllRanksAndInAllRuns) {
  const std::vector<torch::Tensor> sums = Sums();
  torch::Tensor expected = torch::zeros({sums[0].numel()}, torch::kDouble);
  for (int rank = 0; rank < GetParam(); ++rank) {
    expected += NumbersOf(rank);
  }
  EXPECT_TRUE(sums[0].to(torch::kDouble).allclose(expected, 1e-5, 1e-3));
  for (const torch::Tensor& sum : sums) {
    EXPECT_TRUE(sum.equal(sums[0]));
  }
  for (const torch::Tensor& again : Sums()) {
    EXPECT_TRUE(again.equal(sums[0]));
  }
}

// Its libraries write to sockets of ranks that may have ended.
TEST_P(DeviceGroupTest, ALostConnectionDoesNotEndTheProcessByASignal) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  RankThreads(GetParam()).Run([](Ranks& ranks) { (void)JoinAll(ranks); });
  EXPECT_EQ(std::signal(SIGPIPE, before), SIG_IGN);
}

TEST_P(DeviceGroupTest, SeveralSumsMayBeUnderWay) {
  RankThreads(GetParam()).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    std::vector<torch::Tensor> numbers;
    std::vector<std::unique_ptr<DeviceGroup::Pending>> sums;
    for (const int count : {7, 100'000, 1, 5000}) {
      numbers.push_back(
          torch::full({count}, count + place.rank, torch::kDouble));
      sums.push_back(group->BeginSum(numbers.back()));
    }
    const int size = place.world_size;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i]->Wait();
      const auto expected = numbers[i].numel() * size + size * (size - 1) / 2;
      EXPECT_TRUE(
          numbers[i].eq(static_cast<double>(expected)).all().item<bool>());
    }
  });
}

TEST_P(DeviceGroupTest, BroadcastsTensorsOfAllTypes) {
  RankThreads(GetParam()).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    const std::vector<torch::Tensor> tensors = {
        torch::full({2, 3, 2, 2}, place.rank + 1.5)
            .contiguous(at::MemoryFormat::ChannelsLast),
        torch::full({}, place.rank + 7, torch::kLong),
        torch::full({8'000'000}, place.rank + 0.5), NumbersOf(place.rank, 100)};
    Broadcast(tensors, *group);
    EXPECT_TRUE(tensors[0].equal(torch::full({2, 3, 2, 2}, 1.5)));
    EXPECT_TRUE(tensors[0].is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_EQ(tensors[1].item<std::int64_t>(), 7);
    EXPECT_TRUE(tensors[2].equal(torch::full({8'000'000}, 0.5)));
    EXPECT_TRUE(tensors[3].equal(NumbersOf(0, 100)));
  });
}

TEST_P(DeviceGroupTest, AveragesLeaveEqualNumbersAsTheyAre) {
  RankThreads(GetParam()).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    const std::vector<torch::Tensor> tensors = {
        NumbersOf(5), torch::full({3}, place.rank, torch::kFloat)};
    Average(tensors, *group);
    EXPECT_TRUE(tensors[0].equal(NumbersOf(5)));
    EXPECT_TRUE(
        tensors[1].allclose(torch::full({3}, (place.world_size - 1) / 2.0)));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, DeviceGroupTest, testing::Values(2, 3, 4));

TEST(JoinDeviceGroupTest, OneRankNeedsNoGroup) {
  EXPECT_EQ(JoinDeviceGroup(nullptr, 0, 1, torch::kCPU, kRankTimeout), nullptr);
}

TEST(JoinDeviceGroupTest, MakesGroupsOfNeighboursAgainAndAgain) {
  RankThreads(4).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const int first = place.rank / 2 * 2;
    for (int time = 1; time <= 3; ++time) {
      const auto group =
          JoinDeviceGroup(&ranks, first, 2, torch::kCPU, kRankTimeout);
      EXPECT_EQ(group->size(), 2);
      EXPECT_EQ(group->rank(), place.rank % 2);
      const torch::Tensor sum = torch::full({1}, place.rank, torch::kFloat);
      group->Sum(sum);
      EXPECT_EQ(sum.item<float>(), 2 * first + 1);
    }
  });
}

std::string JoinError(Ranks& ranks) {
  return MessageOf<IoError>(
      [&] { static_cast<void>(JoinAll(ranks, std::chrono::seconds(1))); });
}

TEST(JoinDeviceGroupTest, DoesNotWaitForeverForARankThatIsNotThere) {
  std::latch rank_0_has_given_up(1);
  RankThreads(2).Run([&](Ranks& ranks) {
    if (ranks.place().is_first()) {
      EXPECT_THAT(JoinError(ranks), HasSubstr("rank 0: cannot join"));
      rank_0_has_given_up.count_down();
    } else {
      rank_0_has_given_up.wait();
    }
  });
}

TEST(JoinDeviceGroupTest, RefusesAnAddressThatOtherMachinesCannotReach) {
  RankThreads(2, 1).Run([](Ranks& ranks) {
    EXPECT_THAT(JoinError(ranks),
                AllOf(HasSubstr("loopback"), HasSubstr("127.0.0.1")));
  });
}

TEST(DeviceGroupErrorTest, ARankThatIsGoneEndsTheSum) {
  RankThreads(3).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    if (place.rank != 1) {
      EXPECT_THAT(
          MessageOf<IoError>([&] { group->Sum(NumbersOf(place.rank)); }),
          HasSubstr("rank " + std::to_string(place.rank) +
                    ": connection to another rank lost"));
    }
  });
}

TEST(DeviceGroupErrorTest, ASilentRankEndsTheSumAfterTheTimeOut) {
  std::latch rank_0_has_given_up(1);
  RankThreads(2).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    // Long enough for two threads of a busy machine to meet.
    const auto group = JoinAll(ranks, std::chrono::seconds(10));
    if (place.rank == 1) {
      rank_0_has_given_up.wait();
      return;
    }
    EXPECT_THROW(group->Sum(NumbersOf(0)), IoError);
    rank_0_has_given_up.count_down();
  });
}

TEST(AddressTowardsTest, TheAddressIsOnTheRoute) {
  EXPECT_EQ(AddressTowards("127.0.0.1"), "127.0.0.1");
  EXPECT_TRUE(IsThisMachineOnly(AddressTowards("localhost")));
  EXPECT_THROW(AddressTowards("no.such.host.invalid"), IoError);
  EXPECT_TRUE(IsThisMachineOnly("127.0.1.1"));
  EXPECT_TRUE(IsThisMachineOnly("::1"));
  EXPECT_FALSE(IsThisMachineOnly("10.127.0.1"));
}

}  // namespace infeed::device_group_test
