#include "trainer/log/loss_spikes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/matchers.h"

namespace infeed::loss_spikes_test {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

// The losses of the steps 1, 2, 3 and so on.
std::vector<HistoryPoint> PointsWith(const std::vector<double>& losses) {
  std::vector<HistoryPoint> points;
  for (const double loss : losses) {
    points.push_back(
        {.step = static_cast<std::int64_t>(points.size()) + 1, .loss = loss});
  }
  return points;
}

// Losses that fall from 7 to 0.5, most of it in the first `fall` steps, with
// noise of 5 %.
std::vector<double> FallingLosses(int count, double fall) {
  std::mt19937 bits(8);
  std::vector<double> losses;
  for (int i = 0; i < count; ++i) {
    // A sum of twelve is close to normal, the same in every library.
    double noise = -6;
    for (int k = 0; k < 12; ++k) {
      noise += static_cast<double>(bits()) * 0x1p-32;
    }
    losses.push_back((0.5 + 6.5 * std::exp(-i / fall)) * (1 + 0.05 * noise));
  }
  return losses;
}

std::vector<std::int64_t> SpikeSteps(const std::vector<double>& losses) {
  std::vector<std::int64_t> steps;
  for (const LossSpike& spike : FindLossSpikes(PointsWith(losses))) {
    steps.push_back(spike.step);
  }
  return steps;
}

TEST(LossSpikesTest, PlantedSpikesAreFoundInNoiseTheWorstFirst) {
  std::vector<double> losses = FallingLosses(1000, 1e-9);
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
  losses[299] = 0.9;
  losses[599] = 2;
  losses[999] = 1.2;  // the newest step
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(600, 1000, 300));
}

TEST(LossSpikesTest, PlantedSpikesAreFoundInAFallingLoss) {
  std::vector<double> losses = FallingLosses(1000, 200);
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
  losses[99] *= 2;
  losses[899] *= 1.6;  // below the losses of the beginning
  ASSERT_LT(losses[899], losses[0]);
  EXPECT_THAT(SpikeSteps(losses), testing::UnorderedElementsAre(100, 900));
}

TEST(LossSpikesTest, DistancesAreInUnitsOfTheMad) {
  std::vector<double> losses;
  for (int i = 0; i < 60; ++i) {
    losses.push_back(1 + 0.5 * (i % 3));
  }
  losses[40] = 6;
  const std::vector<LossSpike> spikes = FindLossSpikes(PointsWith(losses));
  ASSERT_EQ(spikes.size(), 1U);
  EXPECT_EQ(spikes[0].step, 41);
  EXPECT_EQ(spikes[0].first_step, 41);
  EXPECT_EQ(spikes[0].loss, 6);
  EXPECT_EQ(spikes[0].median, 1.5);
  EXPECT_EQ(spikes[0].distance, (6 - 1.5) / 0.5);
}

TEST(LossSpikesTest, FlatLossesHaveNone) {
  std::vector<double> losses(100, 0.7);
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
  losses[50] = std::nextafter(0.7, 1.0);  // the rounding of a sum
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
  losses[50] = 0.71;
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(51));
  EXPECT_THAT(SpikeSteps(std::vector<double>(100, 0.0)), IsEmpty());
}

// A loss without noise falls, first fast: no step stands out, also not where
// the windows begin and end.
TEST(LossSpikesTest, ASmoothFallHasNone) {
  std::vector<double> losses;
  for (int i = 0; i < 200; ++i) {
    losses.push_back(10.0 / (1 + i));
  }
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
}

TEST(LossSpikesTest, FewLossesAreNotCompared) {
  EXPECT_THAT(FindLossSpikes(std::span<const HistoryPoint>()), IsEmpty());
  std::vector<double> losses(10, 1.0);
  losses[9] = 50;
  EXPECT_THAT(SpikeSteps(losses), IsEmpty());
  losses = std::vector<double>(11, 1.0);
  losses[10] = 50;
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(11));
}

TEST(LossSpikesTest, LossesThatAreNotFiniteComeFirst) {
  EXPECT_THAT(SpikeSteps({2, kNotFinite}), ElementsAre(2));
  std::vector<double> losses(100, 1.0);
  losses[20] = 1000;
  losses[60] = std::numeric_limits<double>::infinity();
  losses[97] = losses[98] = losses[99] = kNotFinite;
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(61, 98, 21));
}

TEST(LossSpikesTest, AtMostFiveAreListed) {
  std::vector<double> losses(400, 1.0);
  for (int i = 1; i <= 7; ++i) {
    losses[static_cast<std::size_t>(50 * i)] = 10 + i;
  }
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(351, 301, 251, 201, 151));
}

// A spike that lasts for some steps leaves room for the others.
TEST(LossSpikesTest, NeighboursAreOneSpikeAtTheWorst) {
  std::vector<double> losses(400, 1.0);
  const std::vector<double> spike = {5, 9, 8, 4, 4, 1, 3};
  std::ranges::copy(spike, losses.begin() + 99);
  losses[299] = losses[300] = 7;
  EXPECT_THAT(SpikeSteps(losses), ElementsAre(101, 300, 106));
}

TEST(LossSpikesTest, LossesOfIntervalsSayTheirSteps) {
  RunHistory history("nowhere");
  for (int i = 1; i <= 30; ++i) {
    history.Add(R"({"event":"train","loss":)" +
                std::to_string(i == 20 ? 9 : 1) + R"(,"step":)" +
                std::to_string(100 * i) + "}");
  }
  const std::vector<LossSpike> spikes = FindLossSpikes(history);
  ASSERT_EQ(spikes.size(), 1U);
  EXPECT_EQ(spikes[0].first_step, 1901);
  EXPECT_EQ(spikes[0].step, 2000);
  EXPECT_THAT(SpikesTable(spikes, "runs/my run"),
              AllOf(HasSubstr("<td>1901-2000</td><td>9</td><td>1</td>"),
                    HasSubstr("train_resnet --mode replay --model_dir "
                              "'runs/my run' --step 2000 --losses</td>"),
                    HasSubstr("the last step of each range")));
}

// The log may have no line of the step at which a run diverged.
TEST(LossSpikesTest, TheStepAtWhichTheRunDivergedIsThere) {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0})");
  history.Add(R"({"event":"train","loss":2,"step":100})");
  history.Add(R"({"event":"train","loss":null,"step":200})");
  history.Add(R"({"event":"end","loss":null,"step":150,"state":"diverged"})");
  const std::vector<LossSpike> spikes = FindLossSpikes(history);
  ASSERT_EQ(spikes.size(), 1U);
  EXPECT_EQ(spikes[0].step, 150);
  EXPECT_TRUE(std::isnan(spikes[0].loss));
  EXPECT_THAT(SpikesTable(spikes, "m"),
              HasSubstr("<td>101-150</td><td>not finite</td>"));
  // A later run that passed that step has repaired it.
  history.Add(R"({"event":"start","step":100})");
  history.Add(R"({"event":"train","loss":1,"step":200})");
  EXPECT_THAT(FindLossSpikes(history), IsEmpty());
}

TEST(LossSpikesTest, TablesWithoutBatchesHaveNoCommand) {
  EXPECT_EQ(SpikesTable({}, "m"), "");
  const std::vector<LossSpike> spikes = {
      {.step = 7, .first_step = 7, .loss = 3.25, .median = 1, .distance = 9}};
  EXPECT_THAT(SpikesTable(spikes, ""),
              AllOf(HasSubstr("<td>7</td><td>3.25</td><td>1</td><td>9.0</td>"),
                    Not(HasSubstr("replay")), Not(HasSubstr("its batch")),
                    Not(HasSubstr("range"))));
}

}  // namespace infeed::loss_spikes_test
