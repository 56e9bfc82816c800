// Pipelines that end at any moment, and one that lives long.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "bench/common/process_status.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_life_test {

constexpr int kRecords = 24;

// What one round of the test does, drawn from its number.
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
      .image_size = 16,
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
                             .image_size = 8,
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
