#include "trainer/feed/slot_graphs.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// A device that notes what it is asked for, and rejects captures from the
// `allowed`-th on.
class FakeGraphs final : public GraphDevice {
 public:
  explicit FakeGraphs(int allowed) : allowed_(allowed) {}

  void Run(int slot) override { Note("run ", slot); }
  void Capture(int slot) override {
    Note("capture ", slot);
    if (allowed_-- == 0) {
      throw std::runtime_error("operation not permitted\nCUDA: it is not");
    }
  }
  void Replay(int slot) override { Note("replay ", slot); }
  void Drop() override { calls.emplace_back("drop"); }

  std::vector<std::string> calls = {};

 private:
  void Note(const std::string& what, int slot) {
    calls.push_back(what + std::to_string(slot));
  }
  int allowed_;
};

class SlotGraphsTest : public testing::Test {
 protected:
  // Runs passes on two slots in turn.
  std::vector<std::string> Passes(int count, GraphReplay replay,
                                  int allowed = 100) {
    FakeGraphs device(allowed);
    GraphPolicy policy(replay, Sayer());
    SlotGraphs graphs({.slots = 2, .warm_up = 1}, policy, device);
    for (int i = 0; i < count; ++i) {
      graphs.Run(i % 2);
    }
    return device.calls;
  }
  std::function<void(const std::string&)> Sayer() {
    return [this](const std::string& line) { said_.push_back(line); };
  }

  // A training and an evaluation, which share a policy.
  struct TwoWorks {
    TwoWorks(int in_training, int in_evaluation, GraphPolicy& policy)
        : training(in_training),
          evaluation(in_evaluation),
          steps({.slots = 2, .warm_up = 0}, policy, training),
          passes({.slots = 2, .warm_up = 0}, policy, evaluation) {}

    FakeGraphs training;
    FakeGraphs evaluation;
    SlotGraphs steps;
    SlotGraphs passes;
  };

  std::vector<std::string> said_;
  GraphPolicy policy_{GraphReplay::kTrue, Sayer()};
};

TEST_F(SlotGraphsTest, CapturesEachSlotOnceAfterTheWarmUp) {
  EXPECT_THAT(Passes(5, GraphReplay::kTrue),
              ElementsAre("run 0", "capture 1", "replay 1", "capture 0",
                          "replay 0", "replay 1", "replay 0"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SlotGraphsTest, CapturesNothingWithoutGraphs) {
  EXPECT_THAT(Passes(3, GraphReplay::kFalse),
              ElementsAre("run 0", "run 1", "run 0"));
}

// The pass whose capture was rejected runs too, and so does a slot that has a
// graph.
TEST_F(SlotGraphsTest, GoesOnWithoutGraphsAndSaysSoOnce) {
  EXPECT_THAT(Passes(6, GraphReplay::kTrue, /*allowed=*/1),
              ElementsAre("run 0", "capture 1", "replay 1", "capture 0",
                          "run 0", "run 1", "run 0", "run 1"));
  EXPECT_THAT(said_, ElementsAre(EndsWith("rejected a CUDA graph: operation "
                                          "not permitted\nCUDA: it is not")));
}

TEST_F(SlotGraphsTest, ThrowsWhereGraphsAreRequired) {
  EXPECT_EQ(MessageOf<IoError>(
                [&] { Passes(2, GraphReplay::kRequired, /*allowed=*/0); }),
            "cuda_graph=required: the GPU rejected a CUDA graph: operation "
            "not permitted\nCUDA: it is not");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SlotGraphsTest, CapturesAnewAfterAReset) {
  FakeGraphs device(100);
  GraphPolicy policy(GraphReplay::kTrue, {});
  SlotGraphs graphs({.slots = 2, .warm_up = 1}, policy, device);
  graphs.Run(0);
  graphs.Run(0);
  graphs.Reset();
  graphs.Run(0);
  graphs.Run(0);
  EXPECT_THAT(device.calls,
              ElementsAre("run 0", "capture 0", "replay 0", "drop", "run 0",
                          "capture 0", "replay 0"));
}

TEST_F(SlotGraphsTest, ARejectionHoldsForAllWorkOfADevice) {
  TwoWorks of(0, 100, policy_);
  EXPECT_EQ(of.passes.warm_up_runs(), 2);
  of.steps.Run(0);
  of.passes.Run(0);
  EXPECT_THAT(of.evaluation.calls, ElementsAre("run 0"));
  EXPECT_EQ(of.passes.warm_up_runs(), 0);
  EXPECT_EQ(said_.size(), 1U);
}

// A large evaluation has no memory for its graphs; the training has its own.
TEST_F(SlotGraphsTest, ARejectionLeavesTheGraphsOfOtherWork) {
  TwoWorks of(100, 0, policy_);
  of.steps.Run(0);
  of.steps.Run(1);
  of.passes.Run(0);
  of.steps.Run(0);
  EXPECT_THAT(of.training.calls,
              ElementsAre("capture 0", "replay 0", "capture 1", "replay 1",
                          "replay 0"));
  EXPECT_THAT(of.evaluation.calls, ElementsAre("capture 0", "run 0"));
  // Other shapes need other graphs.
  of.steps.Reset();
  of.steps.Run(0);
  EXPECT_THAT(of.training.calls.back(), "run 0");
}

// Not each slot had a graph.
TEST_F(SlotGraphsTest, ARejectionOfOtherWorkEndsGraphsThatAreNotComplete) {
  TwoWorks of(100, 0, policy_);
  of.steps.Run(0);
  of.passes.Run(0);
  of.steps.Run(1);
  of.steps.Run(0);
  EXPECT_THAT(of.training.calls,
              ElementsAre("capture 0", "replay 0", "run 1", "run 0"));
}

TEST(GraphPolicyTest, NeedNotSaySo) {
  GraphPolicy policy(GraphReplay::kTrue, {});
  EXPECT_FALSE(policy.Try([] { throw std::runtime_error("no"); }));
  EXPECT_FALSE(policy.enabled());
}

}  // namespace
}  // namespace infeed
