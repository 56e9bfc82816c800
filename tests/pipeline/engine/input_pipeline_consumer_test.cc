// Consumers that keep batches, that wait with a deadline, and that are children
// of fork().

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/error.h"
#include "base/random.h"
#include "bench/common/growth.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/child_process.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {

namespace input_pipeline_consumer_test {

using Clock = std::chrono::steady_clock;

constexpr int kEpochs = 3;
constexpr int kBatches = kEpochs * 5;

InputOptions Options(int max_lent = 0) {
  InputOptions options = SmallTraining();
  options.repeat = kEpochs;
  options.label_offset = 1;
  options.max_lent = max_lent;
  return options;
}

std::vector<BatchCopy> Expected(int count = kBatches) {
  return Stream(SharedIndex(), Options(), count);
}

std::vector<BatchHandle> KeepAll(InputPipeline& pipeline) {
  std::vector<BatchHandle> kept;
  while (BatchHandle batch = pipeline.Next()) {
    kept.push_back(std::move(batch));
  }
  return kept;
}

std::vector<BatchCopy> CopiesOf(const std::vector<BatchHandle>& batches) {
  std::vector<BatchCopy> copies;
  for (const BatchHandle& batch : batches) {
    copies.push_back(CopyOf(*batch));
  }
  return copies;
}

TEST(InputPipelineConsumerTest, KeepsEveryBatchOfAPoolOfAnySize) {
  const std::vector<BatchCopy> expected = Expected();
  InputOptions options = Options();
  for (options.batches_in_pool = 2; options.batches_in_pool <= 8;
       ++options.batches_in_pool) {
    for (options.max_lent = 1; options.max_lent < options.batches_in_pool;
         ++options.max_lent) {
      InputPipeline pipeline(SharedIndex(), options);
      const std::vector<BatchHandle> kept = KeepAll(pipeline);
      EXPECT_EQ(CopiesOf(kept), expected);
      EXPECT_EQ(pipeline.stats().copied_batches, kBatches - options.max_lent);
    }
  }
}

TEST(InputPipelineConsumerTest, KeptBatchesOutliveThePipelineOfEachGraph) {
  for (const GraphKind graph : {GraphKind::kFlow, GraphKind::kBasic}) {
    InputOptions options = Options(1);
    options.graph = graph;
    std::vector<BatchHandle> kept;
    {
      InputPipeline pipeline(SharedIndex(), options);
      kept = KeepAll(pipeline);
    }
    EXPECT_EQ(CopiesOf(kept), Expected());
  }
}

TEST(InputPipelineConsumerTest, GetsNoCopiesIfItReturnsBatches) {
  InputPipeline pipeline(SharedIndex(), Options(1));
  EXPECT_EQ(TakeBatches(pipeline, kBatches), Expected());
  EXPECT_EQ(pipeline.stats().copied_batches, 0);
}

TEST(InputPipelineConsumerTest, ReturnsBatchesFromAnotherThread) {
  InputPipeline pipeline(SharedIndex(), Options(2));
  std::vector<BatchCopy> copies;
  BoundedQueue<BatchHandle> used(4);
  std::jthread returner([&] {
    while (std::optional<BatchHandle> batch = used.Pop()) {
      batch->reset();
    }
  });
  while (BatchHandle batch = pipeline.Next()) {
    copies.push_back(CopyOf(*batch));
    used.Push(std::move(batch));
  }
  used.Close();
  EXPECT_EQ(copies, Expected());
}

TEST(InputPipelineConsumerTest, WaitsWithoutCopiesUntilABatchIsBackOrStop) {
  InputPipeline pipeline(SharedIndex(), Options());
  std::vector<BatchHandle> kept;
  for (int i = 0; i < Options().batches_in_pool; ++i) {
    kept.push_back(pipeline.Next());
  }
  constexpr std::chrono::milliseconds kWait(50);
  EXPECT_EQ(pipeline.NextUntil(Clock::now() + kWait), std::nullopt);
  kept.pop_back();
  kept.push_back(pipeline.Next());
  EXPECT_EQ(CopyOf(*kept.back()), Expected(4).back());
  EXPECT_EQ(pipeline.stats().copied_batches, 0);
  std::jthread stopper([&] { pipeline.Stop(); });
  EXPECT_EQ(pipeline.NextUntil(Clock::now() + std::chrono::hours(1)).value(),
            nullptr);
  kept.clear();
  EXPECT_EQ(pipeline.Next(), nullptr);
}

TEST(InputPipelineConsumerTest, LosesNoBatchByDeadlines) {
  InputPipeline pipeline(SharedIndex(), Options());
  std::vector<BatchCopy> copies;
  int misses = 0;
  while (true) {
    std::optional<BatchHandle> batch = pipeline.NextUntil(
        Clock::now() + std::chrono::microseconds(misses % 50));
    if (!batch) {
      ++misses;
    } else if (*batch) {
      copies.push_back(CopyOf(**batch));
    } else {
      break;
    }
  }
  EXPECT_EQ(copies, Expected());
  EXPECT_EQ(pipeline.stats().batches, kBatches);
}

TEST(InputPipelineConsumerTest, ThrowsAnErrorBeforeTheDeadline) {
  TestShards shards(TestPayloads(4));
  shards.Damage(0);
  InputPipeline pipeline(shards.index(), Options());
  EXPECT_THROW((void)pipeline.NextUntil(Clock::now() + std::chrono::hours(1)),
               DataError);
}

TEST(InputPipelineConsumerTest, KeepsTheIndexIfItSharesIt) {
  auto shared = std::make_shared<const RecordIndex>(SharedIndex());
  InputPipeline pipeline(std::move(shared), Options());
  EXPECT_EQ(TakeBatches(pipeline, kBatches), Expected());
  EXPECT_NE(pipeline.State(), "");
}

TEST(InputPipelineConsumerTest, AChildOfForkIsToldToMakeItsOwn) {
  auto pipeline = std::make_unique<InputPipeline>(SharedIndex(), Options());
  BatchHandle held = pipeline->Next();
  EXPECT_EQ(InChild([&] {
              const std::string message =
                  MessageOf<UsageError>([&] { (void)pipeline->Next(); });
              held.reset();
              pipeline->Stop();
              pipeline.reset();
              return message;
            }),
            "this pipeline was made before fork(), and its threads are not in "
            "the child: make a pipeline in the child");
  // The parent's stream goes on.
  EXPECT_EQ(CopyOf(*held), Expected(1).front());
  held.reset();
  EXPECT_EQ(TakeBatches(*pipeline, kBatches).size(), kBatches - 1U);
}

TEST(InputPipelineConsumerTest, WorkersNeedThreadsThatReceive) {
  InputOptions options = Options();
  options.workers = "127.0.0.1:1";
  const auto refusal = [&options] {
    return MessageOf<UsageError>(
        [&] { InputPipeline(SharedIndex(), options); });
  };
  const InputPipeline inherited(SharedIndex(), Options());
  EXPECT_THAT(InChild(refusal), HasSubstr("by spawn"));
  options.graph = GraphKind::kBasic;
  EXPECT_THAT(refusal(), HasSubstr("graph=basic"));
}

}  // namespace input_pipeline_consumer_test

namespace input_pipeline_life_test {

constexpr int kRecords = 24;

// The actions of one round of the test, drawn from its number.
struct Moment {
  InputOptions options = {};
  int taken = 0;       // batches before the end, by this thread
  bool taker = false;  // another thread takes batches until the end
  bool stop = false;   // Stop() before the destructor
  SampleRandom spin;   // this thread draws so many words from it meanwhile
  int words = 0;
};

Moment DrawMoment(int round, const std::string& report) {
  SampleRandom draws({.position = static_cast<std::uint64_t>(round)},
                     RandomStream::kMadeData);
  Moment moment{.spin = draws};
  moment.options = {
      .batch_size = 4,
      .preprocess = {.image_size = 16},
      .training = draws.Below(4) != 0,
      .on_bad_record = static_cast<OnBadRecord>(draws.Below(3)),
      .graph = draws.Below(8) == 0 ? GraphKind::kBasic : GraphKind::kFlow,
      .threads = 1 + static_cast<int>(draws.Below(4)),
      .bad_record_report = draws.Below(2) == 0 ? "" : report};
  moment.taken = static_cast<int>(draws.Below(8));
  moment.taker = draws.Below(2) == 0;
  moment.stop = draws.Below(2) == 0;
  moment.words = static_cast<int>(draws.Below(200'000));
  return moment;
}

// Takes batches until there is none, or a bad record ends the stream.
void TakeAll(InputPipeline& pipeline, int most) {
  try {
    while (most-- > 0 && pipeline.Next() != nullptr) {
    }
  } catch (const DataError&) {
  }
}

void Live(const RecordIndex& index, Moment moment) {
  InputPipeline pipeline(index, moment.options);
  std::jthread taker;
  if (moment.taker) {
    taker = std::jthread([&] { TakeAll(pipeline, 1 << 20); });
  } else {
    TakeAll(pipeline, moment.taken);
  }
  for (int word = 0; word < moment.words; ++word) {
    (void)moment.spin.Below(2);
  }
  if (moment.taker || moment.stop) {
    pipeline.Stop();
  }
}

// A thread that was joined is in /proc for a moment longer.
std::size_t ThreadsOnceEnded(std::size_t expected) {
  constexpr int kTurns = 1'000'000;
  for (int turn = 0; turn < kTurns && RunningThreads() > expected; ++turn) {
    std::this_thread::yield();
  }
  return RunningThreads();
}

TEST(InputPipelineLifeTest, EndsAtAHundredMomentsAndLeavesNothing) {
  constexpr int kMoments = 100;
  TestShards shards(TestPayloads(kRecords), 5);
  shards.Damage(7);
  shards.DamageHeader(18);
  const TemporaryFolder folder;
  Live(shards.index(), DrawMoment(0, folder / "bad"));
  const std::size_t descriptors = OpenDescriptors();
  const std::size_t threads = RunningThreads();
  for (int round = 0; round < kMoments; ++round) {
    Live(shards.index(), DrawMoment(round, folder / "bad"));
    ASSERT_EQ(OpenDescriptors(), descriptors) << "round " << round;
    ASSERT_EQ(ThreadsOnceEnded(threads), threads) << "round " << round;
  }
}

TEST(InputPipelineLifeTest, DoesNotGrowInTenThousandEpochs) {
  constexpr int kTiny = 4;
  constexpr int kWarm = 1000;
  constexpr int kEpochs = 10'000;
  std::vector<std::string> payloads;
  for (int label = 0; label < kTiny; ++label) {
    payloads.push_back(
        PayloadWithImage(TestJpeg({.width = 8, .height = 8}), label));
  }
  TestShards shards(payloads);
  shards.Damage(1);
  const InputOptions options{.batch_size = kTiny,
                             .preprocess = {.image_size = 8},
                             .on_bad_record = OnBadRecord::kSkip,
                             .threads = 2};
  InputPipeline pipeline(shards.index(), options);
  TakeAll(pipeline, kWarm);
  [[maybe_unused]] const std::int64_t bytes = ResidentBytes();
  const std::size_t descriptors = OpenDescriptors();
  TakeAll(pipeline, kEpochs - kWarm);
  EXPECT_EQ(pipeline.position(), (StreamPosition{kEpochs, 0, kEpochs}));
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_GE(pipeline.stats().bad_records, kEpochs);
// AddressSanitizer keeps what is freed.
#if !defined(__SANITIZE_ADDRESS__)
  constexpr std::int64_t kSlack = 2 << 20;
  EXPECT_LT(ResidentBytes(), bytes + kSlack);
#endif
}

}  // namespace input_pipeline_life_test

}  // namespace infeed
