#include "trainer/feed/upload_ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/memory/batch_pool.h"
#include "tests/support/matchers.h"
#include "trainer/feed/device_failure.h"
#include "trainer/feed/infeed.h"

namespace infeed {
namespace {

constexpr int kSlots = 3;

// The two queues of a device, which work when they are told to. A slot holds
// the first label of the batch that was copied to it.
class FakeStreams final : public UploadStreams {
 public:
  void CopyAfterUse(int slot) override {
    const std::size_t uses = used_[static_cast<std::size_t>(slot)];
    copies_.push_back({.ready = [this, uses] { return computed_ >= uses; }});
    ++copies_put_;
  }
  void Copy(int slot, const Batch& batch) override {
    const std::int32_t label = batch.labels()[0];
    PutCopy([this, slot, label, &batch] {
      EXPECT_EQ(batch.labels()[0], label) << "given back before its copy";
      slots_[static_cast<std::size_t>(slot)] = label;
      ++copies_done;
    });
  }
  std::function<void()> MarkCopied() override {
    const auto copied = std::make_shared<std::atomic<bool>>(false);
    PutCopy([copied] {
      *copied = true;
      copied->notify_all();
    });
    return [copied] { copied->wait(false); };
  }
  void ComputeAfterCopy() override {
    const std::size_t copies = copies_put_;
    computes_.push_back(
        {.ready = [this, copies] { return copied_ >= copies; }});
    ++computes_put_;
  }
  void MarkUsed(int slot) override {
    used_[static_cast<std::size_t>(slot)] = computes_put_;
  }
  void Finish() noexcept override {
    while (!copies_.empty()) {
      Work(0);
      Work(1);
    }
  }

  // A step on the slot, which must hold what was uploaded.
  void PutStep(int slot, std::int32_t label) {
    computes_.push_back({.work = [this, slot, label] {
      EXPECT_EQ(slots_[static_cast<std::size_t>(slot)], label)
          << "overwritten while used, or used before it was there";
      ++steps_done;
    }});
    ++computes_put_;
  }
  // Does the first thing of a queue, if it need not wait.
  void Work(unsigned queue) {
    std::deque<Item>& items = queue == 0 ? copies_ : computes_;
    if (items.empty() || !items.front().ready()) {
      return;
    }
    const Item item = std::move(items.front());
    items.pop_front();
    item.work();
    ++(queue == 0 ? copied_ : computed_);
  }
  void FinishSteps() {
    while (!computes_.empty()) {
      Work(0);
      Work(1);
    }
  }

  int copies_done = 0;
  int steps_done = 0;

 private:
  struct Item {
    std::function<bool()> ready = [] { return true; };
    std::function<void()> work = [] {};
  };
  void PutCopy(std::function<void()> work) {
    copies_.push_back({.work = std::move(work)});
    ++copies_put_;
  }

  std::deque<Item> copies_;
  std::deque<Item> computes_;
  std::size_t copies_put_ = 0;
  std::size_t computes_put_ = 0;
  std::size_t copied_ = 0;
  std::size_t computed_ = 0;
  std::vector<std::size_t> used_ = std::vector<std::size_t>(kSlots);
  std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(kSlots, -1);
};

class UploadRingTest : public ::testing::Test {
 protected:
  // The pool's next batch, with the queues at work until there is one.
  BatchHandle Take() {
    while (pool_.free() == 0) {
      Work();
      std::this_thread::yield();
    }
    return pool_.Take();
  }
  void Work() { streams_.Work(random_.Word() % 2); }
  void Step(UploadRing& ring, std::int32_t label) {
    BatchHandle batch = Take();
    batch->labels()[0] = label;
    const int slot = ring.Upload(std::move(batch));
    streams_.PutStep(slot, label);
    ring.MarkUsed();
  }

  SampleRandom random_{{.seed = 3}, RandomStream::kNetwork};
  BatchPool pool_{4, {.size = 1, .image_size = 1}};
  FakeStreams streams_;
};

TEST_F(UploadRingTest, StepsSeeTheirBatchesWhateverTheOrderOfWork) {
  for (int run = 0; run < 100; ++run) {
    {
      UploadRing ring(streams_, kSlots);
      for (std::int32_t label = 0; label < 20; ++label) {
        Step(ring, run * 100 + label);
        for (unsigned i = random_.Word() % 8; i > 0; --i) {
          Work();
        }
      }
    }
    streams_.FinishSteps();
  }
  EXPECT_EQ(streams_.copies_done, 2000);
  EXPECT_EQ(streams_.steps_done, 2000);
}

TEST_F(UploadRingTest, CopiesAheadOfTheStepsAsFarAsThereAreSlots) {
  UploadRing ring(streams_, kSlots);
  for (std::int32_t label = 0; label < 4; ++label) {
    Step(ring, label);
  }
  for (int i = 0; i < 100; ++i) {
    streams_.Work(0);
  }
  EXPECT_EQ(streams_.copies_done, kSlots);
  EXPECT_EQ(streams_.steps_done, 0);
}

TEST_F(UploadRingTest, ABatchGoesBackWhenItsCopyHasEnded) {
  UploadRing ring(streams_, kSlots);
  Step(ring, 0);
  Step(ring, 1);
  EXPECT_EQ(pool_.free(), 2);
  while (streams_.copies_done < 1) {
    streams_.Work(0);
  }
  streams_.Work(0);  // Reaches the mark.
  while (pool_.free() < 3) {
    std::this_thread::yield();
  }
  EXPECT_EQ(streams_.steps_done, 0);
}

TEST_F(UploadRingTest, TheEndWaitsForTheCopies) {
  {
    UploadRing ring(streams_, kSlots);
    Step(ring, 0);
    Step(ring, 1);
  }
  EXPECT_EQ(streams_.copies_done, 2);
  EXPECT_EQ(pool_.free(), 4);
}

// A device whose copies never end: until it fails, or until Finish() has seen
// that it has.
class FailingStreams final : public UploadStreams {
 public:
  void CopyAfterUse(int) override {
    if (refuses) {
      throw IoError("the copy was refused");
    }
  }
  void Copy(int, const Batch&) override {}
  std::function<void()> MarkCopied() override {
    return [this] {
      state_.wait(kCopying);
      if (state_ == kFailed) {
        throw IoError("an illegal memory access was encountered");
      }
    };
  }
  void ComputeAfterCopy() override {}
  void MarkUsed(int) override {}
  void Finish() noexcept override { Change(kFinished); }

  void FailNow() { Change(kFailed); }

  bool refuses = false;

 private:
  enum State { kCopying, kFailed, kFinished };
  void Change(State state) {
    state_ = state;
    state_.notify_all();
  }
  std::atomic<State> state_ = kCopying;
};

TEST(FailedUploadTest, GivesBackBatchesWhoseCopiesNeverEnd) {
  BatchPool pool(2, {.size = 1, .image_size = 1});
  FailingStreams streams;
  {
    UploadRing ring(streams, 2);
    EXPECT_EQ(ring.Upload(pool.Take()), 0);
    EXPECT_EQ(ring.Upload(pool.Take()), 1);
    EXPECT_EQ(pool.free(), 0);
  }
  EXPECT_EQ(pool.free(), 2);
}

TEST(FailedUploadTest, GivesBackABatchWhoseCopyIsRefused) {
  BatchPool pool(1, {.size = 1, .image_size = 1});
  FailingStreams streams;
  streams.refuses = true;
  UploadRing ring(streams, 2);
  EXPECT_THROW((void)ring.Upload(pool.Take()), IoError);
  EXPECT_EQ(pool.free(), 1);
}

// The infeed's stream: any number of batches, from a pool.
class EndlessStream final : public BatchStream {
 public:
  explicit EndlessStream(BatchPool& pool) : pool_(pool) {}
  BatchHandle Next() override {
    ++taken;
    return pool_.Take();  // Waits while all batches are being copied.
  }
  void Stop() override {}
  [[nodiscard]] StreamPosition position() const override { return {}; }
  [[nodiscard]] PipelineStats stats() const override { return {}; }
  [[nodiscard]] std::int64_t memory_bytes() const override { return 0; }

  std::atomic<int> taken = 0;

 private:
  BatchPool& pool_;
};

TEST(FailedUploadTest, EndsALoopThatWaitsForABatch) {
  BatchPool pool(3, {.size = 1, .image_size = 1});
  const auto stream = std::make_shared<EndlessStream>(pool);
  Infeed infeed(stream, 1, 1);
  FailingStreams streams;
  const std::jthread device([&] {
    while (stream->taken < 4) {  // The loop waits for the fourth batch.
      std::this_thread::yield();
    }
    streams.FailNow();
  });
  UploadRing ring(streams, 3);
  const auto loop = [&] {
    while (BatchHandle batch = infeed.Next()) {
      (void)ring.Upload(std::move(batch));
    }
  };
  EXPECT_THAT(loop, ThrowsMessage<IoError>("an illegal memory access was "
                                           "encountered"));
  EXPECT_THAT(loop, Throws<IoError>());  // And so do all later ones.
}

TEST(DeviceFailureTest, NamesDeviceStepAndReason) {
  EXPECT_THAT(
      DeviceFailure("cuda:1", "after step 41", "an illegal address").what(),
      StartsWith("cuda:1 failed after step 41: an illegal address ("));
}

TEST(UploadRingDeathTest, AbortsWithOneSlot) {
  FailingStreams streams;
  EXPECT_DEATH(UploadRing(streams, 1), "one slot is copied to");
}

}  // namespace
}  // namespace infeed
