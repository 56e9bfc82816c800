// A graph whose ranges workers fill: the batches are those of graph=basic,
// whatever happens to the workers.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/bad_record_ledger.h"
#include "pipeline/engine/batch_planner.h"
#include "pipeline/engine/input_graph.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/remote/stream_settings.h"
#include "pipeline/remote/worker_links.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/test_worker.h"

#include "gtest/gtest.h"

namespace infeed::remote_batches_test {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60};
constexpr int kBatches = 8;  // more than a pool has

// What a stream is and how it ends.
struct Outcome {
  std::vector<BatchCopy> batches = {};
  std::vector<std::uint64_t> fingerprints = {};  // of all slots
  std::vector<SlotCopy> slots = {};              // in use, with their boxes
  std::vector<std::string> bad = {};             // messages of bad records
  std::int64_t met = 0;                          // bad records
  std::int64_t samples = 0;
  std::int64_t cut_lists = 0;
  std::string error = {};

  void Add(const Batch& batch) {
    batches.push_back(CopyOf(batch));
    fingerprints.insert(fingerprints.end(), batch.fingerprints().begin(),
                        batch.fingerprints().end());
    for (std::size_t slot = 0; slot < batch.weights().size(); ++slot) {
      if (batch.weights()[slot] > 0) {
        slots.push_back(SlotOf(batch, slot));
      }
    }
  }
  void SetTotals(const BadRecordTotals& totals) {
    met = totals.met();
    samples = totals.samples;
  }
};

void ExpectEqual(const Outcome& outcome, const Outcome& expected) {
  EXPECT_EQ(outcome.batches, expected.batches);
  EXPECT_EQ(outcome.slots, expected.slots);
  EXPECT_EQ(outcome.fingerprints, expected.fingerprints);
  EXPECT_EQ(outcome.bad, expected.bad);
  EXPECT_EQ(outcome.met, expected.met);
  EXPECT_EQ(outcome.samples, expected.samples);
  EXPECT_EQ(outcome.error, expected.error);
  if (expected.error.empty()) {  // Else it depends on what was in work.
    EXPECT_EQ(outcome.cut_lists, expected.cut_lists);
  }
}

// The stream by graph=basic.
Outcome LocalOutcome(const RecordIndex& index, InputOptions options) {
  Outcome outcome;
  options.graph = GraphKind::kBasic;
  options.on_bad = [&](const BadRecord& bad) {
    outcome.bad.emplace_back(bad.error.what());
  };
  InputPipeline pipeline(index, options);
  try {
    while (std::ssize(outcome.batches) < kBatches) {
      const BatchHandle batch = pipeline.Next();
      if (batch == nullptr) {
        break;
      }
      outcome.Add(*batch);
    }
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  const PipelineStats stats = pipeline.stats();
  outcome.SetTotals(stats.bad_record_totals);
  outcome.cut_lists = stats.cut_lists;
  return outcome;
}

struct RemoteCase {
  int workers = 1;
  int threads = 1;  // local ones
  int range = 16;   // slots
  milliseconds deadline{10'000};
};

// The same stream by a graph with links to workers. Used once.
class RemoteStream {
 public:
  RemoteStream(const RecordIndex& index, InputOptions options,
               const RemoteCase& how)
      : index_(index),
        how_(how),
        options_(ResolvedOptions(
            CheckedInputOptions(WithOnBad(std::move(options))), index)) {
    std::string list;
    for (int i = 0; i < how.workers; ++i) {
      const std::string address = "w" + std::to_string(i) + ":1";
      workers_.emplace_back(rpc_, address, index);
      list += (i == 0 ? "" : ",") + address;
    }
    graph_.emplace(
        filler_,
        InputGraphOptions{.threads = how.threads, .slots_per_task = how.range},
        [this](OpenBatch& open) { Deliver(open); });
    if (how.workers > 0) {
      links_.emplace(rpc_, *graph_->lender(), options_, WorkerList(list),
                     &check_, counters_, Options());
    }
  }

  // must_use: the first batch waits until a worker's slots have been used.
  Outcome Run(bool must_use = false) {
    must_use_ = must_use;
    for (int i = 0; i < kBatches; ++i) {
      OpenBatch* const open = planner_.BeginNext(pool_);
      if (open == nullptr) {
        break;
      }
      graph_->Put(*open);
      if (links_) {
        links_->Pump();
      }
    }
    links_.reset();
    graph_.reset();
    outcome_.SetTotals(ledger_.totals());
    outcome_.cut_lists = counters_.cut_lists;
    return std::move(outcome_);
  }

  // Lets workers die, fall silent and be slow, until the end.
  void Disturb(std::uint32_t seed, const std::atomic<bool>& is_over) {
    std::mt19937 random(seed);
    while (!is_over) {
      const std::string address =
          "w" + std::to_string(random() % static_cast<unsigned>(how_.workers)) +
          ":1";
      rpc_.SetFaults(
          address,
          {.is_dead = random() % 4 == 0,
           .is_silent = random() % 4 == 0,
           .delay = milliseconds(random() % 3 == 0 ? random() % 10 : 0),
           .piece = random() % 2 == 0 ? 100 : std::size_t{0}});
      std::this_thread::sleep_for(milliseconds(random() % 4));
    }
  }

  [[nodiscard]] std::int64_t images_of_workers() const {
    return counters_.receive.Read().items;
  }

 private:
  [[nodiscard]] InputOptions WithOnBad(InputOptions options) {
    options.on_bad = [this](const BadRecord& bad) {
      outcome_.bad.emplace_back(bad.error.what());
    };
    return options;
  }

  [[nodiscard]] LinkOptions Options() const {
    return {.open = {.build = "test",
                     .pixels_version = kPixelsVersion,
                     .data = index_.identity(),
                     .settings = SlotSettings(options_)},
            .check_every = 10,
            .slots_per_range = how_.range,
            .times = {.tick = milliseconds(2),
                      .resolve = milliseconds(50),
                      .open = std::max(how_.deadline, milliseconds(300)),
                      .least_fill = how_.deadline,
                      .first_retry = milliseconds(2),
                      .last_retry = milliseconds(20)},
            .note = [](const std::string& line) {
              EXPECT_EQ(line.find("not used any more"), std::string::npos)
                  << line;
            }};
  }

  void Deliver(OpenBatch& open) {
    if (filler_.is_cancelled()) {
      return;
    }
    try {
      ledger_.Enter(open.BadRecords(), open.plan().samples);
      if (open.error() != nullptr) {
        std::rethrow_exception(open.error());
      }
    } catch (const Error& error) {
      outcome_.error = error.what();
      filler_.Cancel();
      pool_.Close();
      return;
    }
    open.GatherFields();
    outcome_.Add(*open.TakeBatch());
    if (must_use_.exchange(false)) {
      const auto end = std::chrono::steady_clock::now() + kPatience;
      while (images_of_workers() == 0 &&
             std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(1));
      }
      EXPECT_GT(images_of_workers(), 0);
    }
  }

  const RecordIndex& index_;
  const RemoteCase how_;
  Outcome outcome_;
  std::atomic<bool> must_use_{false};
  const InputOptions options_;
  const SampleOrder order_{ShardSizes(index_, options_.max_records), options_};
  const BatchSequence sequence_{order_.places(), options_, {}};
  BadRecordLedger ledger_{options_, sequence_.batches_per_epoch()};
  const RecordStore store_{index_, {.image_key = StoreImageKey(options_)}};
  const SeekStore seek_store_{index_};
  StageCounters counters_;
  BatchPool pool_{options_.batches_in_pool, BatchSpecOf(options_)};
  SlotFiller filler_{store_, seek_store_, order_.places(), options_, counters_};
  BatchPlanner planner_{
      Prefetcher(order_, sequence_, PlanPrefetch(index_, options_), nullptr),
      options_, counters_};
  RangeCheck check_{store_, seek_store_, options_, how_.range};
  LoopbackRpc rpc_;
  std::deque<TestWorker> workers_;
  std::optional<InputGraph> graph_;
  std::optional<WorkerLinks> links_;
};

constexpr RemoteCase kCases[] = {{0, 1, 16}, {1, 1, 1}, {1, 1, 16}, {1, 3, 4},
                                 {3, 1, 64}, {3, 1, 3}, {3, 3, 16}, {3, 3, 1},
                                 {1, 3, 64}, {17, 4, 2}};

// Expects the stream of these options for each case, and in a storm.
void ExpectStream(const RecordIndex& index, const InputOptions& options) {
  const Outcome expected = LocalOutcome(index, options);
  ASSERT_GT(expected.batches.size(), 3U);
  for (const RemoteCase& how : kCases) {
    SCOPED_TRACE(std::to_string(how.workers) + " workers, " +
                 std::to_string(how.threads) + " threads, ranges of " +
                 std::to_string(how.range));
    RemoteStream stream(index, options, how);
    // Batches of one range may all be filled before the first one is delivered.
    ExpectEqual(stream.Run(how.workers > 0 && how.threads == 1 &&
                           how.range < options.batch_size),
                expected);
  }
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    RemoteStream stream(index, options,
                        {.workers = 3,
                         .threads = 1 + static_cast<int>(seed % 2),
                         .range = 1 + static_cast<int>(seed),
                         .deadline = milliseconds(60)});
    std::atomic<bool> is_over = false;
    std::thread storm([&] { stream.Disturb(seed, is_over); });
    const Outcome outcome = stream.Run();
    is_over = true;
    storm.join();
    ExpectEqual(outcome, expected);
  }
}

InputOptions TrainingOf(Recipe recipe) {
  return {.batch_size = 8,
          .preprocess = {.recipe = recipe, .image_size = 16},
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = 2};
}

TEST(RemoteBatchesTest, RecipesInWords) {
  for (const auto& [name, recipe] : kRecipes) {
    SCOPED_TRACE(name);
    ExpectStream(SharedIndex(), TrainingOf(recipe));
  }
}

TEST(RemoteBatchesTest, RgbBytesInEachShuffle) {
  for (const Shuffle shuffle :
       {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    InputOptions options = TrainingOf(Recipe::kTorchvision);
    options.layout = BatchContent::kRgb;
    options.shuffle = shuffle;
    options.input_hash = InputHash::kPixels;
    ExpectStream(SharedIndex(), options);
  }
}

TEST(RemoteBatchesTest, AnEvaluationWithAPaddedBatch) {
  InputOptions options = TrainingOf(Recipe::kTpu);
  options.batch_size = 4;
  options.training = false;
  ExpectStream(SharedIndex(), options);
}

TEST(RemoteBatchesTest, Views) {
  InputOptions options = TrainingOf(Recipe::kTorchvision);
  options.views.push_back(MakeView(options, {}));
  options.views.push_back(options.views.front());
  options.views.back().preprocess.image_size = {9, 11};
  options.input_hash = InputHash::kPixels;
  ExpectStream(SharedIndex(), options);
  options.layout = BatchContent::kRgb;
  ExpectStream(SharedIndex(), options);
}

TEST(RemoteBatchesTest, BoxesAndTheirLists) {
  std::vector<std::string> payloads = TestPayloads(20);
  for (std::size_t i = 0; i < payloads.size(); i += 2) {
    payloads[i] += ExtraBox();
  }
  const TestShards shards(payloads);
  InputOptions options = TrainingOf(Recipe::kTorchvision);
  options.objects = ObjectsPreset("tf");
  ExpectStream(shards.index(), options);
}

TEST(RemoteBatchesTest, FieldsWithoutImages) {
  std::vector<std::string> payloads;
  for (std::int64_t record = 0; record < 40; ++record) {
    payloads.push_back(
        ExtraInt64s("ids", std::vector<std::int64_t>(
                               static_cast<std::size_t>(record % 6), record)) +
        ExtraBytes("name",
                   {std::string(static_cast<std::size_t>(record % 9), 'n')}));
  }
  const TestShards shards(payloads);
  ExpectStream(shards.index(),
               {.batch_size = 8,
                .layout = BatchContent::kNone,
                .seed = 3,
                .on_bad_record = OnBadRecord::kFail,
                .require_labels = false,
                .fields = {{.key = "ids",
                            .shape = std::vector<std::int64_t>{4},
                            .type = ItemType::kInt32,
                            .pad = std::string(4, '\0')},
                           {.key = "name", .kind = FeatureKind::kBytes}},
                .threads = 2});
}

TEST(RemoteBatchesTest, BadRecordsAreThoseOfTheLocalRun) {
  std::vector<std::string> payloads = TestPayloads(60);
  payloads[20] = "\xff\xff\xff";
  payloads[33] = PayloadWithImage("no image at all", 33);
  TestShards shards(payloads, 3);
  shards.Damage(11);
  for (const OnBadRecord policy :
       {OnBadRecord::kSkip, OnBadRecord::kReplace, OnBadRecord::kFail}) {
    InputOptions options = TrainingOf(Recipe::kTpu);
    options.shuffle = Shuffle::kNone;
    options.on_bad_record = policy;
    const Outcome expected = LocalOutcome(shards.index(), options);
    EXPECT_EQ(expected.error.empty(), policy != OnBadRecord::kFail);
    for (const RemoteCase& how : kCases) {
      RemoteStream stream(shards.index(), options, how);
      ExpectEqual(stream.Run(), expected);
    }
  }
}

}  // namespace infeed::remote_batches_test
