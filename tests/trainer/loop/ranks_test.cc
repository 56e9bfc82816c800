#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/made_batches.h"
#include "tests/support/rank_threads.h"
#include "tests/support/throws.h"
#include "tests/support/train_steps.h"
#include "trainer/loop/device_loop.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::ranks_test {

constexpr int kBatch = 16;  // of all ranks
constexpr int kClasses = 4;
constexpr int kSteps = 5;

struct RanksCase {
  std::string name;
  ModelOptions model = {.depth = 18, .num_classes = kClasses};
  OptimizerOptions optimizer = {
      .learning_rate = {.base_learning_rate = 0.01,
                        .scaled_by_batch = false,
                        .schedule = RateSchedule::kConstant,
                        .warmup_epochs = 0},
      .loss = {.label_smoothing = 0.1}};
  int batch_norm_group = 1;
  bool masked = false;  // whether some slots do not count
  bool taught = false;  // whether there is a teacher

  [[nodiscard]] int side() const {
    return model.kind == ModelKind::kLeNet ? 28 : 32;
  }
  // ranks: nullptr for a single process.
  [[nodiscard]] DeviceOptions DeviceOf(Ranks* ranks) const {
    const bool is_alone = ranks == nullptr || ranks->place().is_alone();
    return {.device = "cpu",
            .threads = 1,
            .ranks = ranks,
            .batch_norm_group = is_alone ? 1 : batch_norm_group,
            .rank_timeout = kRankTimeout};
  }
};

// Fills the whole batch. If slots are masked, three slots of the first half
// are, and in batch 1 the whole second half.
void FillWhole(Batch& batch, std::int64_t number, bool masked) {
  FillWithColours(batch, number, kClasses);
  if (!masked) {
    return;
  }
  for (const int slot : {0, 3, 7}) {
    batch.BlankSlot(slot);
  }
  for (int slot = kBatch / 2; number == 1 && slot < kBatch; ++slot) {
    batch.BlankSlot(slot);
  }
}

// A rank's part of the whole batches.
FillBatch PartOf(const RanksCase& setup, const RankPlace& place) {
  return [setup, place](Batch& part, std::int64_t number) {
    Batch whole({.size = kBatch, .image_size = setup.side()});
    FillWhole(whole, number, setup.masked);
    for (int slot = 0; slot < part.size(); ++slot) {
      const int from = place.rank * part.size() + slot;
      std::ranges::copy(whole.slot_pixels(from),
                        part.slot_pixels(slot).begin());
      const auto to = static_cast<std::size_t>(slot);
      const auto of_whole = static_cast<std::size_t>(from);
      part.labels()[to] = whole.labels()[of_whole];
      part.weights()[to] = whole.weights()[of_whole];
    }
  };
}

struct TrainedRank {
  std::vector<StepResult> steps;
  std::int64_t done = 0;
  std::uint64_t hash = 0;
};

// Trains kSteps steps as one rank, in two loops. `fill` may change the batches.
TrainedRank Train(const RanksCase& setup, Ranks& ranks, const FillBatch& fill) {
  TrainedRank run;
  const auto loop =
      MakeDeviceLoop(setup.model, setup.optimizer, setup.DeviceOf(&ranks));
  if (setup.taught) {
    ModelOptions teacher = setup.model;
    teacher.seed = 5;
    (void)loop->SetTeacher(
        teacher,
        MakeDeviceLoop(teacher, {}, setup.DeviceOf(nullptr))->Save().model);
  }
  const int slots = kBatch / ranks.place().world_size;
  Infeed infeed(MadeBatches(kSteps, slots, setup.side(), fill), slots,
                setup.side());
  Outfeed outfeed(
      [&](const StepResult& result) { run.steps.push_back(result); });
  for (const int steps : {2, kSteps - 2}) {
    run.done += loop->Train(run.done, steps, infeed, outfeed);
  }
  outfeed.Drain();
  run.hash = loop->Hash();
  return run;
}

std::vector<TrainedRank> TrainOn(int size, const RanksCase& setup) {
  return RankThreads(size).Collect<TrainedRank>([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    return Train(setup, ranks, PartOf(setup, place));
  });
}

void ExpectSameOnAllRanks(const std::vector<TrainedRank>& runs) {
  for (const TrainedRank& run : runs) {
    EXPECT_EQ(run.hash, runs[0].hash);
    EXPECT_EQ(run.done, kSteps);
    ASSERT_EQ(run.steps.size(), runs[0].steps.size());
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      EXPECT_EQ(run.steps[i].loss, runs[0].steps[i].loss);
      EXPECT_EQ(run.steps[i].top_1, runs[0].steps[i].top_1);
      EXPECT_EQ(run.steps[i].images, runs[0].steps[i].images);
    }
  }
}

class RanksTest : public testing::TestWithParam<RanksCase> {};

TEST_P(RanksTest, TrainAsOneProcessDoes) {
  const RanksCase& setup = GetParam();
  const std::unique_ptr<Ranks> one = OneRank();
  const TrainedRank alone = Train(setup, *one, PartOf(setup, one->place()));
  for (const int ranks : {2, 4}) {
    const std::vector<TrainedRank> runs = TrainOn(ranks, setup);
    ExpectSameOnAllRanks(runs);
    ASSERT_EQ(runs[0].steps.size(), alone.steps.size());
    for (std::size_t i = 0; i < alone.steps.size(); ++i) {
      const StepResult& step = runs[0].steps[i];
      EXPECT_NEAR(step.loss, alone.steps[i].loss, 1e-5)
          << ranks << " ranks, step " << i;
      EXPECT_NEAR(step.top_1, alone.steps[i].top_1, 1e-6);
      EXPECT_EQ(step.images, alone.steps[i].images);
      EXPECT_EQ(step.step, alone.steps[i].step);
      EXPECT_EQ(step.learning_rate, alone.steps[i].learning_rate);
    }
  }
}

RanksCase LeNet(const std::string& name) {
  RanksCase setup = {.name = "LeNet" + name};
  setup.model = {.kind = ModelKind::kLeNet, .num_classes = kClasses};
  return setup;
}

RanksCase FrozenNorm(const std::string& name) {
  RanksCase setup = {.name = "FrozenNorm" + name};
  setup.model.freeze_batch_norm = true;
  return setup;
}

RanksCase SharedNorm(const std::string& name) {
  return {.name = "SharedNorm" + name, .batch_norm_group = 0};
}

RanksCase With(RanksCase setup, const std::function<void(RanksCase&)>& change) {
  change(setup);
  return setup;
}

std::vector<RanksCase> Cases() {
  const auto masked = [](RanksCase& s) { s.masked = true; };
  const auto in_parts = [](RanksCase& s) {
    s.masked = true;
    s.optimizer.accumulation_steps = 2;
  };
  const auto weighted = [](RanksCase& s) {
    s.masked = true;
    s.optimizer.loss.class_weights = {0.5, 2, 1, 3};
  };
  const auto clipped = [](RanksCase& s) {
    s.optimizer.clip_gradient_norm = 0.5;
  };
  const auto by_adam = [](RanksCase& s) {
    s.optimizer.kind = OptimizerKind::kAdam;
    s.optimizer.learning_rate.base_learning_rate = 0.001;
  };
  const auto mixed = [](RanksCase& s) { s.optimizer.mixup_alpha = 0.4; };
  const auto taught = [](RanksCase& s) { s.taught = true; };
  const auto masked_by_lars = [](RanksCase& s) {
    s.masked = true;
    s.optimizer.kind = OptimizerKind::kLars;
    s.optimizer.learning_rate.base_learning_rate = 0.5;
  };
  return {LeNet(""),
          With(LeNet("Masked"), masked),
          With(LeNet("InParts"), in_parts),
          With(LeNet("Clipped"), clipped),
          With(LeNet("Adam"), by_adam),
          With(LeNet("Mixed"), mixed),
          With(LeNet("Weighted"), weighted),
          With(With(LeNet("TaughtInParts"), taught), in_parts),
          With(With(LeNet("TaughtWeighted"), taught), weighted),
          FrozenNorm(""),
          With(FrozenNorm("MaskedInParts"), in_parts),
          SharedNorm(""),
          With(SharedNorm("MaskedLars"), masked_by_lars)};
}

INSTANTIATE_TEST_SUITE_P(Setups, RanksTest, testing::ValuesIn(Cases()),
                         [](const auto& setup) { return setup.param.name; });

TEST(RanksLocalNormTest, WeightsAndStatisticsAreTheSameEverywhere) {
  RanksCase setup = {.name = ""};
  setup.optimizer.moving_average_decay = 0.9;
  const std::vector<TrainedRank> runs = TrainOn(2, setup);
  ExpectSameOnAllRanks(runs);
  EXPECT_TRUE(std::isfinite(runs[0].steps.back().loss));
}

TEST(RanksLocalNormTest, GroupsOfSomeRanksShareTheirs) {
  RanksCase setup = {.name = "", .batch_norm_group = 2};
  const std::vector<TrainedRank> pairs = TrainOn(4, setup);
  ExpectSameOnAllRanks(pairs);
  setup.batch_norm_group = 1;
  EXPECT_NE(TrainOn(4, setup)[0].steps[0].loss, pairs[0].steps[0].loss);
}

// The first loss where every rank has the same images.
float LossOfSameImages(int size, double dropout_rate) {
  RanksCase setup = FrozenNorm("");
  setup.model.dropout_rate = dropout_rate;
  return RankThreads(size)
      .Collect<float>([&](Ranks& ranks) {
        const auto loop = MakeDeviceLoop(setup.model, setup.optimizer,
                                         setup.DeviceOf(&ranks));
        Infeed infeed(ColourBatches(1, 4, 32, kClasses), 4, 32);
        return TrainSteps(*loop, 0, 1, infeed).at(0).loss;
      })
      .front();
}

TEST(RanksDropTest, EachDropsItsOwn) {
  EXPECT_NEAR(LossOfSameImages(2, 0), LossOfSameImages(1, 0), 1e-5);
  EXPECT_GT(std::abs(LossOfSameImages(2, 0.5) - LossOfSameImages(1, 0.5)),
            1e-3);
}

TEST(RanksBroadcastTest, AllGoOnFromRankZerosState) {
  RanksCase setup = LeNet("");
  setup.optimizer.kind = OptimizerKind::kAdam;
  RankThreads(2).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    RanksCase own = setup;
    own.model.seed = static_cast<std::uint64_t>(place.rank);
    const auto loop =
        MakeDeviceLoop(own.model, own.optimizer, own.DeviceOf(&ranks));
    ModelState expected = loop->Save();
    for (auto& [name, tensor] : expected.optimizer) {
      tensor.bytes[0] = static_cast<std::byte>(place.rank + 1);
    }
    loop->Load(expected);
    const std::uint64_t before = loop->Hash();
    loop->Broadcast();
    if (place.rank == 0) {
      EXPECT_EQ(loop->Hash(), before);
    } else {
      EXPECT_NE(loop->Hash(), before);
    }
    for (const auto& [name, tensor] : loop->Save().optimizer) {
      EXPECT_EQ(tensor.bytes[0], std::byte{1}) << name;
    }
  });
}

TEST(RanksBroadcastTest, OneRankBroadcastsNothing) {
  const RanksCase setup = LeNet("");
  const auto loop =
      MakeDeviceLoop(setup.model, setup.optimizer, setup.DeviceOf(nullptr));
  const std::uint64_t before = loop->Hash();
  loop->Broadcast();
  EXPECT_EQ(loop->Hash(), before);
  TensorMap weights = loop->Save().model;
  weights.at("fc3.bias").bytes[0] ^= std::byte{1};
  loop->LoadWeights(weights);
  EXPECT_NE(loop->Hash(), before);
}

// Trains up to kSteps steps in one loop, asked to end from the batch `ask` of
// rank 1 on; -1: from the start.
std::int64_t StepsUntilEnd(Ranks& ranks, int ask) {
  const RanksCase setup = LeNet("");
  const RankPlace& place = ranks.place();
  const auto loop =
      MakeDeviceLoop(setup.model, setup.optimizer, setup.DeviceOf(&ranks));
  const int slots = kBatch / place.world_size;
  const FillBatch fill = PartOf(setup, place);
  Infeed* asked = nullptr;
  Infeed infeed(MadeBatches(kSteps, slots, setup.side(),
                            [&](Batch& batch, std::int64_t number) {
                              fill(batch, number);
                              if (place.rank == 1 && number == ask) {
                                asked->RequestEnd();
                              }
                            }),
                slots, setup.side());
  asked = &infeed;
  if (place.rank == 1 && ask < 0) {
    infeed.RequestEnd();
  }
  std::int64_t results = 0;
  Outfeed outfeed([&](const StepResult& /*result*/) { ++results; });
  const std::int64_t steps = loop->Train(0, kSteps, infeed, outfeed);
  outfeed.Drain();
  EXPECT_EQ(results, steps);
  return steps;
}

TEST(RanksVoteTest, AllEndAfterTheStepInWhichOneIsAsked) {
  for (const auto& steps : RankThreads(3).Collect<std::int64_t>(
           [](Ranks& ranks) { return StepsUntilEnd(ranks, -1); })) {
    EXPECT_EQ(steps, 1);
  }
}

TEST(RanksVoteTest, AllEndAfterTheSameStep) {
  const auto steps = RankThreads(2).Collect<std::int64_t>(
      [](Ranks& ranks) { return StepsUntilEnd(ranks, 3); });
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_GE(steps[0], 2);
}

// Also where they share their batch norms.
TEST(RanksErrorTest, ARankWhoseInputFailsEndsTheOthers) {
  for (const RanksCase& setup : {LeNet(""), SharedNorm("")}) {
    RankThreads(4).Run([&](Ranks& ranks) {
      const bool fails = ranks.place().rank == 2;
      const FillBatch fill = PartOf(setup, ranks.place());
      const auto train = [&] {
        static_cast<void>(
            Train(setup, ranks, [&](Batch& batch, std::int64_t number) {
              if (fails && number == 2) {
                throw DataError("record 7 is bad");
              }
              fill(batch, number);
            }));
      };
      if (fails) {
        EXPECT_THROW(train(), DataError);
      } else {
        EXPECT_THAT(MessageOf<IoError>(train),
                    testing::HasSubstr("connection to another"));
      }
    });
  }
}

}  // namespace infeed::ranks_test
