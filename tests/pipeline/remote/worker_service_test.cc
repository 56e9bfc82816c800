// A worker without a network: its calls are the test's.

#include "pipeline/remote/worker_service.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/option_text.h"
#include "pipeline/order/label_class.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/stream_settings.h"
#include "pipeline/slots/range_filler.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_file.h"
#include "tests/support/record_file.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::worker_service_test {

constexpr int kRecords = 22;
constexpr std::chrono::seconds kPatience{60};

// An event that threads wait for.
class Event {
 public:
  void Happen() {
    {
      const std::lock_guard lock(mutex_);
      has_happened_ = true;
    }
    happened_.notify_all();
  }
  // Returns false if it does not happen.
  bool Wait() {
    std::unique_lock lock(mutex_);
    return happened_.wait_for(lock, kPatience,
                              [this] { return has_happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable happened_;
  bool has_happened_ = false;
};

// What a call ended with.
struct Reply {
  RpcStatus status;
  std::vector<RpcPiece> pieces;

  [[nodiscard]] std::vector<std::span<const std::byte>> bytes() const {
    std::vector<std::span<const std::byte>> views;
    for (const RpcPiece& piece : pieces) {
      views.push_back(piece.bytes);
    }
    return views;
  }
};

class FakeCall final : public RpcServerCall {
 public:
  // asked: is_cancelled(), when a thread of the service asks.
  FakeCall(
      std::string_view method, std::string request,
      std::function<bool()> asked = [] { return false; })
      : method_(method),
        request_(std::move(request)),
        asked_(std::move(asked)) {}

  [[nodiscard]] std::string_view method() const override { return method_; }
  [[nodiscard]] std::string_view request() const override { return request_; }
  [[nodiscard]] bool is_cancelled() const override { return asked_(); }
  void Finish(const RpcStatus& status, std::vector<RpcPiece> reply) override {
    EXPECT_FALSE(reply_) << "a second answer";
    EXPECT_TRUE(status.is_ok() || reply.empty());
    reply_ = {status, std::move(reply)};
    ended_.Happen();
  }

  // Waits for the answer.
  Reply Take() {
    EXPECT_TRUE(ended_.Wait()) << "no answer";
    return std::exchange(reply_, Reply()).value_or(Reply());
  }

 private:
  const std::string_view method_;
  const std::string request_;
  const std::function<bool()> asked_;
  std::optional<Reply> reply_;
  Event ended_;
};

using Call = std::shared_ptr<FakeCall>;

Call Begin(WorkerService& service, std::string_view method,
           std::string request) {
  Call call = std::make_shared<FakeCall>(method, std::move(request));
  service.Handle(call);
  return call;
}

Reply Ask(WorkerService& service, std::string_view method,
          std::string request) {
  return Begin(service, method, std::move(request))->Take();
}

std::shared_ptr<const RecordIndex> Borrowed(const RecordIndex& index) {
  return {std::shared_ptr<const RecordIndex>(), &index};
}

InputOptions Resolved(InputOptions options,
                      const RecordIndex& index = SharedIndex()) {
  return ResolvedOptions(CheckedInputOptions(std::move(options)), index);
}

InputOptions Options(std::uint64_t seed = 7) {
  InputOptions options = SmallTraining();
  options.layout = BatchContent::kRgb;
  options.label_offset = 1;
  options.seed = seed;
  return Resolved(options);
}

OpenRequest RequestFor(const InputOptions& options,
                       const RecordIndex& index = SharedIndex()) {
  return {.build = "of the test",
          .pixels_version = kPixelsVersion,
          .data = index.identity(),
          .settings = SlotSettings(options)};
}

OpenReply Open(WorkerService& service, const OpenRequest& request) {
  const Reply reply = Ask(service, kOpenMethod, Serialize(request));
  EXPECT_TRUE(reply.status.is_ok()) << reply.status.message;
  return ParseOpenReply(reply.bytes());
}

// The key of a stream that is opened.
std::uint64_t Key(WorkerService& service, const InputOptions& options,
                  const RecordIndex& index = SharedIndex()) {
  const OpenReply reply = Open(service, RequestFor(options, index));
  EXPECT_THAT(reply.differences, IsEmpty());
  return reply.key;
}

// Opens as many streams as there can be.
std::vector<std::uint64_t> OpenAll(WorkerService& service) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    keys.push_back(Key(service, Options(seed)));
  }
  return keys;
}

std::vector<SlotRequest> FirstRecords(int count) {
  std::vector<SlotRequest> slots;
  for (int i = 0; i < count; ++i) {
    slots.push_back({.epoch = 2, .position = 5 * i, .record = i});
  }
  return slots;
}

std::string FillOf(std::uint64_t key, int slots = 3) {
  return Serialize(FillRequest{.key = key, .slots = FirstRecords(slots)});
}

// Fills ranges here.
class Local {
 public:
  explicit Local(const InputOptions& options,
                 const RecordIndex& index = SharedIndex())
      : store_(index, {.image_key = StoreImageKey(options)}),
        seek_store_(index),
        filler_(store_, seek_store_, options),
        range_(filler_.options(), 64) {}

  const FilledRange& Fill(std::span<const SlotRequest> slots) {
    EXPECT_TRUE(filler_.Fill(
        slots, [] { return false; }, range_));
    return range_;
  }

 private:
  RecordStore store_;
  SeekStore seek_store_;
  RangeFiller filler_;
  FilledRange range_;
};

// Expects a reply with the first records, filled as here.
void ExpectFilled(const InputOptions& options, const Reply& reply,
                  int slots = 3) {
  ASSERT_TRUE(reply.status.is_ok()) << reply.status.message;
  Local local(options);
  const FilledRange& here = local.Fill(FirstRecords(slots));
  const auto bytes = reply.bytes();
  const FilledSlots filled(options, slots, bytes, true);
  EXPECT_EQ(filled.declined(), 0U);
  EXPECT_GT(filled.note().cpu_nanoseconds, 0);
  for (int slot = 0; slot < slots; ++slot) {
    EXPECT_EQ(filled.Difference(static_cast<std::size_t>(slot), here), "");
  }
}

RpcCode CodeOf(const Reply& reply) { return reply.status.code; }

// A service of the shared data, with one thread.
class WorkerServiceTest : public ::testing::Test {
 protected:
  // No stream is in use longer than it is asked for.
  static WorkerOptions OneThread() {
    return {.name = "here", .threads = 1, .use_time = {}};
  }

  static std::unique_ptr<WorkerService> Serve(const WorkerOptions& options) {
    return std::make_unique<WorkerService>(std::vector{Borrowed(SharedIndex())},
                                           options);
  }

  // A range that occupies the service's thread until may_go happens, and may
  // then be filled.
  Call Hold(std::uint64_t key) {
    Call call = std::make_shared<FakeCall>(kFillMethod, FillOf(key), [this] {
      is_held_.Happen();
      return !may_go_.Wait();
    });
    service_->Handle(call);
    EXPECT_TRUE(is_held_.Wait());
    return call;
  }

  Event is_held_;
  Event may_go_;
  std::unique_ptr<WorkerService> service_ = Serve(OneThread());
};

TEST_F(WorkerServiceTest, RangesAreTheSameForAnyOptionsOfTheWorker) {
  InputOptions options = Options();
  options.preprocess.recipe = Recipe::kTorchvision;
  const std::vector<OptionAssignment> given = {
      {.name = "image_size", .value = "9", .place = ""}};
  options.views.push_back(MakeView(options, given));
  options = Resolved(options);
  for (const WorkerOptions& worker :
       {WorkerOptions{.name = "a", .threads = 3},
        WorkerOptions{.name = "b", .threads = 1, .use_cache = true},
        WorkerOptions{.name = "c",
        .threads = 1,
        .verify_checksums = false,
        .map_files = false}}) {
    const std::unique_ptr<WorkerService> service = Serve(worker);
    const OpenReply opened = Open(*service, RequestFor(options));
    EXPECT_EQ(opened.worker, worker.name);
    EXPECT_EQ(opened.credit, 2 * worker.threads);
    for (const int slots : {1, 3, 22, 3}) {
      const std::string request = FillOf(opened.key, slots);
      ExpectFilled(options, Ask(*service, kFillMethod, request), slots);
    }
    const WorkerServiceStats stats = service->stats();
    EXPECT_EQ(stats.ranges, 4);
    EXPECT_EQ(stats.slots, 1 + 3 + 22 + 3);
    EXPECT_EQ(stats.declined, 0);
    EXPECT_EQ(stats.in_work, 0);
  }
}

TEST_F(WorkerServiceTest, ManyRangesAreAnsweredByManyThreads) {
  const std::unique_ptr<WorkerService> service =
      Serve({.name = "here", .threads = 4});
  const InputOptions options = Options();
  const std::uint64_t key = Key(*service, options);
  {
    std::vector<std::jthread> trainers;
    for (int trainer = 0; trainer < 4; ++trainer) {
      trainers.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          ExpectFilled(options, Ask(*service, kFillMethod, FillOf(key)));
        }
      });
    }
  }
  EXPECT_EQ(service->stats().ranges, 80);
}

TEST_F(WorkerServiceTest, ABadRecordIsDeclined) {
  TestShards shards(TestPayloads(kRecords));
  shards.Damage(1);
  WorkerService service({Borrowed(shards.index())}, OneThread());
  const InputOptions options = Options();
  const std::uint64_t key = Key(service, options, shards.index());
  const Reply reply = Ask(service, kFillMethod, FillOf(key));
  ASSERT_TRUE(reply.status.is_ok());
  const auto bytes = reply.bytes();
  EXPECT_EQ(FilledSlots(options, 3, bytes, true).declined(), 2U);
  EXPECT_EQ(service.stats().slots, 2);
  EXPECT_EQ(service.stats().declined, 1);
}

TEST_F(WorkerServiceTest, AFileThatIsGoneFailsTheCall) {
  const TestShards shards(TestPayloads(kRecords), 1);
  WorkerOptions worker = OneThread();
  worker.map_files = false;
  WorkerService service({Borrowed(shards.index())}, worker);
  const std::uint64_t key = Key(service, Options(), shards.index());
  ASSERT_TRUE(std::filesystem::remove(shards.index().shards()[0]));
  const Reply reply = Ask(service, kFillMethod, FillOf(key));
  EXPECT_EQ(CodeOf(reply), RpcCode::kFailed);
  EXPECT_THAT(reply.status.message, HasSubstr(shards.index().shards()[0]));
  EXPECT_EQ(service.stats().declined, 0);
  EXPECT_EQ(service.stats().in_work, 0);
}

TEST_F(WorkerServiceTest, AStreamIsOpenedOnce) {
  const std::uint64_t key = Key(*service_, Options());
  EXPECT_EQ(Key(*service_, Options()), key);
  EXPECT_EQ(service_->stats().streams, 1);
  EXPECT_NE(Key(*service_, Options(8)), key);
  EXPECT_EQ(service_->stats().streams, 2);
}

TEST_F(WorkerServiceTest, AStreamThatIsNotOpenIsNotFilled) {
  const std::uint64_t key = Key(*service_, Options());
  EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, FillOf(key + 1))),
            RpcCode::kNotOpen);
  const std::unique_ptr<WorkerService> restarted = Serve(OneThread());
  EXPECT_EQ(CodeOf(Ask(*restarted, kFillMethod, FillOf(key))),
            RpcCode::kNotOpen);
  EXPECT_EQ(Key(*restarted, Options()), key);
}

TEST_F(WorkerServiceTest, OtherDataAreADifference) {
  const TestShards others(TestPayloads(5));
  OpenRequest request = RequestFor(Options(), others.index());
  EXPECT_THAT(Open(*service_, request).differences,
              ElementsAre("the data are others: this worker has 2 shards (22 "
                          "records)"));
  request.pixels_version = kPixelsVersion + 1;
  const OpenReply reply = Open(*service_, request);
  EXPECT_EQ(reply.worker, "here");
  EXPECT_THAT(
      reply.differences,
      ElementsAre(AllOf(StartsWith("pixels version"), HasSubstr("of the test")),
                  StartsWith("the data are others")));
  EXPECT_EQ(service_->stats().refused, 2);
  EXPECT_EQ(service_->stats().streams, 0);
}

TEST_F(WorkerServiceTest, EachOfItsDataSetsIsFilled) {
  const TestShards others(TestPayloads(5), 1);
  WorkerService service({Borrowed(SharedIndex()), Borrowed(others.index())},
                        OneThread());
  const std::uint64_t first = Key(service, Options());
  const std::uint64_t second = Key(service, Options(), others.index());
  ExpectFilled(Options(), Ask(service, kFillMethod, FillOf(first, 6)), 6);
  EXPECT_EQ(CodeOf(Ask(service, kFillMethod, FillOf(second, 6))),
            RpcCode::kInvalid);
  EXPECT_EQ(CodeOf(Ask(service, kFillMethod, FillOf(second, 5))), RpcCode::kOk);
}

TEST_F(WorkerServiceTest, CompressedShardsAreADifference) {
  const TemporaryFolder folder;
  RecordFile file;
  file.Add(TestPayload(0)).Add(TestPayload(1));
  const RecordIndex index({WritePacked(folder / "train.gz", file.bytes())});
  WorkerService service({Borrowed(index)}, OneThread());
  EXPECT_THAT(Open(service, RequestFor(Options(), index)).differences,
              ElementsAre(HasSubstr("compressed")));
}

TEST_F(WorkerServiceTest, TooLittleMemoryIsADifference) {
  WorkerOptions worker = OneThread();
  worker.memory_limit = 1 << 20;
  const std::unique_ptr<WorkerService> service = Serve(worker);
  EXPECT_THAT(Open(*service, RequestFor(Options())).differences,
              ElementsAre(StartsWith("memory_limit is 1.0 MiB")));
  EXPECT_EQ(service->stats().refused, 1);
}

TEST_F(WorkerServiceTest, ACacheLeavesMemoryToOtherStreams) {
  WorkerOptions worker = OneThread();
  worker.use_cache = true;
  const std::unique_ptr<WorkerService> service = Serve(worker);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::uint64_t key = Key(*service, Options(seed));
    ExpectFilled(Options(seed), Ask(*service, kFillMethod, FillOf(key)));
  }
}

TEST_F(WorkerServiceTest, ARecordOutsideTheDataIsRefused) {
  const std::uint64_t key = Key(*service_, Options());
  for (const std::int64_t record : {-1, kRecords}) {
    FillRequest request = {.key = key, .slots = FirstRecords(2)};
    request.slots[1].record = record;
    EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, Serialize(request))),
              RpcCode::kInvalid);
  }
  EXPECT_EQ(service_->stats().in_work, 0);
}

TEST_F(WorkerServiceTest, AThirdRangeIsRefusedWhileTwoAreInWork) {
  const InputOptions options = Options();
  const std::uint64_t key = Key(*service_, options);
  const Call held = Hold(key);
  const Call waiting = Begin(*service_, kFillMethod, FillOf(key));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, FillOf(key))), RpcCode::kBusy);
  }
  EXPECT_EQ(service_->stats().in_work, 2);
  EXPECT_EQ(service_->stats().busy, 3);
  may_go_.Happen();
  ExpectFilled(options, held->Take());
  ExpectFilled(options, waiting->Take());
  ExpectFilled(options, Ask(*service_, kFillMethod, FillOf(key)));
  EXPECT_EQ(service_->stats().in_work, 0);
}

TEST_F(WorkerServiceTest, AStreamIsOpenedWhileRangesWait) {
  const std::uint64_t key = Key(*service_, Options());
  const Call held = Hold(key);
  const Call waiting = Begin(*service_, kFillMethod, FillOf(key));
  const Call open =
      Begin(*service_, kOpenMethod, Serialize(RequestFor(Options(8))));
  // What is open is answered at once.
  EXPECT_EQ(Key(*service_, Options()), key);
  may_go_.Happen();
  EXPECT_TRUE(open->Take().status.is_ok());
  EXPECT_TRUE(held->Take().status.is_ok());
  EXPECT_TRUE(waiting->Take().status.is_ok());
  EXPECT_EQ(service_->stats().streams, 2);
}

// Their memory is what bounds the worker's.
TEST_F(WorkerServiceTest, RepliesThatAreNotSentKeepItBusy) {
  const InputOptions options = Options();
  const std::uint64_t key = Key(*service_, options);
  Reply first = Ask(*service_, kFillMethod, FillOf(key, 5));
  const Reply second = Ask(*service_, kFillMethod, FillOf(key, 4));
  EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, FillOf(key))), RpcCode::kBusy);
  ExpectFilled(options, first, 5);
  first = {};
  ExpectFilled(options, Ask(*service_, kFillMethod, FillOf(key)));
  ExpectFilled(options, second, 4);
  // A stream without a range gets another one's.
  const std::uint64_t other = Key(*service_, Options(8));
  ExpectFilled(Options(8), Ask(*service_, kFillMethod, FillOf(other)));
  ExpectFilled(options, Ask(*service_, kFillMethod, FillOf(key)));
}

TEST_F(WorkerServiceTest, TheStreamThatWasNotAskedForTheLongestGoes) {
  std::vector<std::uint64_t> keys = OpenAll(*service_);
  const Reply kept = Ask(*service_, kFillMethod, FillOf(keys[1]));
  ExpectFilled(Options(0), Ask(*service_, kFillMethod, FillOf(keys[0])));
  keys.push_back(Key(*service_, Options(16)));
  keys.push_back(Key(*service_, Options(17)));
  EXPECT_EQ(service_->stats().streams, WorkerService::kMostStreams);
  for (std::uint64_t seed = 0; seed < keys.size(); ++seed) {
    const Reply reply = Ask(*service_, kFillMethod, FillOf(keys[seed]));
    if (seed == 2 || seed == 3) {
      EXPECT_EQ(CodeOf(reply), RpcCode::kNotOpen) << seed;
    } else {
      ExpectFilled(Options(seed), reply);
    }
  }
  ExpectFilled(Options(1), kept);
}

TEST_F(WorkerServiceTest, AStreamIsRefusedWhileAllOthersAreInUse) {
  WorkerOptions options = OneThread();
  options.use_time = std::chrono::hours(1);
  const std::unique_ptr<WorkerService> service = Serve(options);
  const std::vector<std::uint64_t> keys = OpenAll(*service);
  const Reply refusal =
      Ask(*service, kOpenMethod, Serialize(RequestFor(Options(16))));
  EXPECT_EQ(CodeOf(refusal), RpcCode::kBusy);
  EXPECT_EQ(refusal.status.message,
            "16 streams are open, each asked for within the last 3600 s");
  EXPECT_EQ(service->stats().refused, 1);
  EXPECT_EQ(Key(*service, Options(0)), keys[0]);
  for (const std::uint64_t key : keys) {
    EXPECT_TRUE(Ask(*service, kFillMethod, FillOf(key)).status.is_ok());
  }
}

TEST_F(WorkerServiceTest, ARangeInWorkKeepsItsStream) {
  const std::uint64_t key = Key(*service_, Options());
  const Call held = Hold(key);
  // The thread is held, so the streams are opened one by one afterwards.
  std::vector<Call> opens;
  for (std::uint64_t seed = 100; seed < 116; ++seed) {
    opens.push_back(
        Begin(*service_, kOpenMethod, Serialize(RequestFor(Options(seed)))));
  }
  const Call waiting = Begin(*service_, kFillMethod, FillOf(key));
  EXPECT_EQ(
      CodeOf(Ask(*service_, kOpenMethod, Serialize(RequestFor(Options(116))))),
      RpcCode::kBusy);
  may_go_.Happen();
  for (const Call& open : opens) {
    EXPECT_TRUE(open->Take().status.is_ok());
  }
  ExpectFilled(Options(), held->Take());
  ExpectFilled(Options(), waiting->Take());
  EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, FillOf(key))),
            RpcCode::kNotOpen);
}

TEST_F(WorkerServiceTest, CreditIsDividedAmongStreamsThatAsk) {
  const std::unique_ptr<WorkerService> service =
      Serve({.name = "here", .threads = 2});
  const OpenRequest first = RequestFor(Options());
  const OpenRequest second = RequestFor(Options(8));
  EXPECT_EQ(Open(*service, first).credit, 4);
  // Both within a second, which a busy machine may miss.
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int credit = 0;
  while (credit != 2 && std::chrono::steady_clock::now() < end) {
    (void)Open(*service, first);
    credit = Open(*service, second).credit;
  }
  EXPECT_EQ(credit, 2);
}

TEST_F(WorkerServiceTest, ACancelledRangeIsDropped) {
  const std::uint64_t key = Key(*service_, Options());
  for (const int asked_at : {1, 2, 3}) {
    int asked = 0;
    const Call call = std::make_shared<FakeCall>(
        kFillMethod, FillOf(key),
        [&, asked_at] { return ++asked == asked_at; });
    service_->Handle(call);
    EXPECT_EQ(CodeOf(call->Take()), RpcCode::kCancelled);
    EXPECT_EQ(asked, asked_at);
  }
  EXPECT_EQ(service_->stats().ranges, 0);
  EXPECT_EQ(service_->stats().in_work, 0);
  ExpectFilled(Options(), Ask(*service_, kFillMethod, FillOf(key)));
}

TEST_F(WorkerServiceTest, ItsEndFinishesTheRangesInWork) {
  const InputOptions options = Options();
  const std::uint64_t key = Key(*service_, options);
  const Call held = Hold(key);
  const Call waiting = Begin(*service_, kFillMethod, FillOf(key, 5));
  {
    const std::jthread later([this] { may_go_.Happen(); });
    service_.reset();
  }
  // Replies outlive the service.
  ExpectFilled(options, held->Take());
  ExpectFilled(options, waiting->Take(), 5);
}

TEST_F(WorkerServiceTest, MalformedRequestsAreRefused) {
  const std::uint64_t key = Key(*service_, Options());
  EXPECT_EQ(CodeOf(Ask(*service_, "/infeed.InputWorker/Other", "")),
            RpcCode::kInvalid);
  EXPECT_EQ(CodeOf(Ask(*service_, kFillMethod, "\xff\xff")), RpcCode::kInvalid);
  EXPECT_EQ(CodeOf(Ask(*service_, kOpenMethod, "\xff\xff")), RpcCode::kInvalid);
  EXPECT_EQ(
      CodeOf(Ask(*service_, kFillMethod, Serialize(FillRequest{.key = key}))),
      RpcCode::kInvalid);
  OpenRequest request = RequestFor(Options());
  request.settings[0].name = "other";
  EXPECT_EQ(CodeOf(Ask(*service_, kOpenMethod, Serialize(request))),
            RpcCode::kInvalid);
  ExpectFilled(Options(), Ask(*service_, kFillMethod, FillOf(key)));
}

TEST_F(WorkerServiceTest, SurvivesRequestsWithDamage) {
  const InputOptions options = Options();
  const std::uint64_t key = Key(*service_, options);
  const std::string requests[] = {FillOf(key, 5),
                                  Serialize(RequestFor(options))};
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const bool opens = i % 8 == 0;
    std::string request = requests[opens ? 1 : 0];
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      request[random() % request.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) {
      request.resize(random() % request.size());
    }
    const Reply reply =
        Ask(*service_, opens ? kOpenMethod : kFillMethod, std::move(request));
    EXPECT_THAT(CodeOf(reply),
                AnyOf(RpcCode::kOk, RpcCode::kInvalid, RpcCode::kNotOpen));
  }
  const std::uint64_t again = Key(*service_, options);
  ExpectFilled(options, Ask(*service_, kFillMethod, FillOf(again)));
}

TEST_F(WorkerServiceTest, OptionsOutOfTheirRangeAreRefused) {
  const auto refusal = [](const WorkerOptions& worker) {
    return MessageOf<UsageError>([&] { (void)Serve(worker); });
  };
  EXPECT_THAT(refusal({.name = "here", .threads = -1}), HasSubstr("threads"));
  EXPECT_THAT(refusal({.name = "here", .threads = 1, .memory_limit = 0}),
              HasSubstr("memory_limit"));
  EXPECT_GE(Open(*Serve({.name = "here", .threads = 0}), RequestFor(Options()))
                .credit,
            2);
}

}  // namespace infeed::worker_service_test
