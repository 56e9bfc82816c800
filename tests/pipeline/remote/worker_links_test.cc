#include "pipeline/remote/worker_links.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/remote/stream_settings.h"
#include "tests/support/loopback_rpc.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_worker.h"

namespace infeed::worker_links_test {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60};
constexpr int kSlots = 20;  // of the batch
constexpr int kRange = 2;   // slots

InputOptions Options() {
  InputOptions options = SmallTraining();
  options.batch_size = kSlots;
  return ResolvedOptions(CheckedInputOptions(options), SharedIndex());
}

bool WaitUntil(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// The ranges of one batch, which nobody but links fills, again and again.
class OneBatchLender final : public RangeLender {
 public:
  OneBatchLender() {
    open_.Begin(0, planned_, pool_.Take());
    Refill();
  }

  std::optional<RangeLoan> Lend(int, Clock::duration latency,
                                Clock::time_point) override {
    EXPECT_GT(latency.count(), 0);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < loans_.size(); ++i) {
      if (states_[i] == State::kWaiting) {
        states_[i] = State::kOut;
        loans_[i] = ++loan_;
        return LoanOf(i);
      }
    }
    return std::nullopt;
  }

  bool Arrive(const RangeLoan& loan, const WriteSlot& write) override {
    const std::lock_guard lock(mutex_);
    const auto i = static_cast<std::size_t>(loan.range);
    if (loans_[i] != loan.number || states_[i] != State::kOut) {
      return false;
    }
    states_[i] = State::kDone;
    for (std::size_t slot = 0; slot < loan.slots.size(); ++slot) {
      if (!write(open_, static_cast<int>(i) * kRange + static_cast<int>(slot),
                 slot)) {
        ++declined_;
      }
    }
    return true;
  }

  void Lose(const RangeLoan& loan) override {
    const std::lock_guard lock(mutex_);
    const auto i = static_cast<std::size_t>(loan.range);
    if (loans_[i] == loan.number && states_[i] == State::kOut) {
      states_[i] = State::kWaiting;
    }
  }

  void MarkLate(Clock::time_point) override { ++ticks_; }

  // Begins again, with black images.
  void Refill() {
    const std::lock_guard lock(mutex_);
    std::ranges::fill(open_.batch().pixels(), 0);
    states_.assign(kSlots / kRange, State::kWaiting);
    loans_.assign(kSlots / kRange, 0);
  }

  [[nodiscard]] bool is_filled() const { return Count(State::kDone) == 10; }
  [[nodiscard]] std::int64_t out() const { return Count(State::kOut); }
  [[nodiscard]] int declined() const { return declined_; }
  [[nodiscard]] int ticks() const { return ticks_; }

  // Whether the images and labels are those of the stream's first batch.
  [[nodiscard]] bool is_right() {
    static const BatchCopy expected = [] {
      InputOptions options = Options();
      options.graph = GraphKind::kBasic;
      return Stream(SharedIndex(), options, 1).front();
    }();
    const std::lock_guard lock(mutex_);
    const BatchCopy copy = CopyOf(open_.batch());
    return copy.pixels == expected.pixels && copy.labels == expected.labels &&
           copy.weights == expected.weights;
  }

 private:
  enum class State { kWaiting, kOut, kDone };

  [[nodiscard]] std::int64_t Count(State state) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(states_, state);
  }
  [[nodiscard]] RangeLoan LoanOf(std::size_t range) {
    RangeLoan loan{.range = static_cast<std::int64_t>(range),
                   .number = loans_[range],
                   .slots = {}};
    for (int i = 0; i < kRange; ++i) {
      const int slot = static_cast<int>(range) * kRange + i;
      const SamplePlace place = open_.plan().SampleOf(slot);
      loan.slots.push_back({place.epoch, place.position,
                            planned_.records[static_cast<std::size_t>(slot)]});
    }
    return loan;
  }
  [[nodiscard]] PlannedBatch Planned() const {
    const SampleOrder order(SharedIndex().size(), options_.shuffle,
                            options_.seed);
    CurrentEpoch epoch(order);
    BatchSequence sequence(SharedIndex().size(), options_, {});
    return WithRecords(sequence.Next().value(), epoch);
  }

  const InputOptions options_ = Options();
  const PlannedBatch planned_ = Planned();
  BatchPool pool_{1, BatchSpecOf(options_)};
  mutable std::mutex mutex_;
  OpenBatch open_;
  std::vector<State> states_;
  std::vector<std::int64_t> loans_;
  std::int64_t loan_ = 0;
  std::atomic<int> declined_{0};
  std::atomic<int> ticks_{0};
};

class WorkerLinksTest : public ::testing::Test {
 protected:
  static constexpr LinkTimes kTimes = {.tick = milliseconds(2),
                                       .resolve = milliseconds(20),
                                       .open = milliseconds(10'000),
                                       .least_fill = milliseconds(10'000),
                                       .first_retry = milliseconds(5),
                                       .last_retry = milliseconds(50)};

  // Makes the links to a list of workers.
  void Link(const std::string& list, LinkOptions given = {.times = kTimes},
            bool is_checked = true) {
    given.open = {.build = "test",
                  .pixels_version = kPixelsVersion,
                  .data = SharedIndex().identity(),
                  .settings = SlotSettings(options_)};
    given.slots_per_range = kRange;
    given.note = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    given.on_all_refused = [this](std::exception_ptr error) {
      const std::lock_guard lock(mutex_);
      errors_.push_back(std::move(error));
    };
    links_.emplace(rpc_, lender_, options_, WorkerList(list),
                   is_checked ? &check_ : nullptr, counters_, std::move(given));
  }

  void ExpectFilled() {
    links_->Pump();
    ASSERT_TRUE(WaitUntil([&] { return lender_.is_filled(); }));
    EXPECT_TRUE(lender_.is_right());
  }
  [[nodiscard]] WorkerStats StatsOf(const std::string& address) const {
    for (const WorkerStats& one : links_->stats()) {
      if (one.address == address) {
        return one;
      }
    }
    return {};
  }
  [[nodiscard]] bool Becomes(const std::string& address,
                             const std::string& state) const {
    return WaitUntil([&] { return StatsOf(address).state == state; });
  }
  [[nodiscard]] std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  // Adds a worker of the stream's data.
  void Add(const std::string& address, Misconduct misconduct = {}) {
    workers_.emplace_back(rpc_, address, SharedIndex(), RpcAccess(),
                          misconduct);
  }
  // Adds one that has a token, which the links do not have.
  void AddForeign(const std::string& address) {
    workers_.emplace_back(rpc_, address, SharedIndex(),
                          RpcAccess{.token = std::string(32, 'x')});
  }
  // Has all ranges filled once, so that none is on its way.
  void FillOnce() {
    ExpectFilled();
    ASSERT_TRUE(WaitUntil([&] {
      return std::ranges::all_of(links_->stats(), [](const WorkerStats& one) {
        return one.in_flight == 0;
      });
    }));
  }
  // Whether a line with both texts is printed.
  [[nodiscard]] bool Prints(const std::string& text,
                            const std::string& more = "") {
    return WaitUntil([&] {
      return std::ranges::any_of(lines(), [&](const std::string& line) {
        return line.find(text) != std::string::npos &&
               line.find(more) != std::string::npos;
      });
    });
  }
  // Of on_all_refused, one after the other.
  [[nodiscard]] std::string errors() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::exception_ptr& error : errors_) {
      try {
        std::rethrow_exception(error);
      } catch (const UsageError& one) {
        text += one.what();
      }
    }
    return text;
  }

  const InputOptions options_ = Options();
  const RecordStore store_{SharedIndex()};
  const SeekStore seek_store_{SharedIndex()};
  RangeCheck check_{store_, seek_store_, options_, kRange};
  StageCounters counters_;
  OneBatchLender lender_;
  LoopbackRpc rpc_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::exception_ptr> errors_;
  std::deque<TestWorker> workers_;
  std::optional<WorkerLinks> links_;
};

TEST_F(WorkerLinksTest, ThreeWorkersFillAll) {
  for (const char* const address : {"a:1", "b:1", "c:1"}) {
    Add(address);
  }
  Link("c:1,a:1,b:1");
  for (const char* const address : {"a:1", "b:1", "c:1"}) {
    ASSERT_TRUE(Becomes(address, "open"));
  }
  lender_.Refill();
  FillOnce();
  EXPECT_GE(counters_.receive.Read().items, kSlots);
  EXPECT_GE(counters_.receive.Read().bytes, kSlots * 16 * 16 * 4);
  EXPECT_EQ(lender_.declined(), 0);
  EXPECT_THAT(lines(), IsEmpty());
  const std::vector<WorkerStats> stats = links_->stats();
  ASSERT_EQ(stats.size(), 3U);
  EXPECT_EQ(stats[0].address, "a:1");
  EXPECT_EQ(stats[0].name, "name of a:1");
}

TEST_F(WorkerLinksTest, StatisticsCountWhatWasUsed) {
  Add("a:1");
  Link("a:1");
  FillOnce();
  const WorkerStats stats = StatsOf("a:1");
  EXPECT_EQ(stats.images, kSlots);
  EXPECT_EQ(stats.ranges, kSlots / kRange);
  EXPECT_EQ(stats.checked, 1);
  EXPECT_GT(stats.latency_seconds, 0);
}

TEST_F(WorkerLinksTest, ADeadWorkerIsFoundWhenItLives) {
  Add("a:1");
  rpc_.SetFaults("a:1", {.is_dead = true});
  Link("a:1");
  ASSERT_TRUE(Becomes("a:1", "lost"));
  EXPECT_TRUE(WaitUntil([&] { return rpc_.calls("a:1") >= 3; }));
  EXPECT_FALSE(lender_.is_filled());
  rpc_.SetFaults("a:1", {});
  FillOnce();
  EXPECT_TRUE(Prints("a:1 cannot be reached: the worker is dead"));
  EXPECT_TRUE(Prints("is back"));
  EXPECT_EQ(errors(), "");
}

TEST_F(WorkerLinksTest, TheRangesOfAWorkerThatDiesAreLost) {
  Add("a:1");
  Link("a:1");
  FillOnce();
  rpc_.SetFaults("a:1", {.is_silent = true});
  lender_.Refill();
  links_->Pump();
  ASSERT_TRUE(WaitUntil([&] { return lender_.out() > 0; }));
  rpc_.SetFaults("a:1", {.is_dead = true});
  ASSERT_TRUE(Becomes("a:1", "lost"));
  EXPECT_TRUE(WaitUntil([&] { return lender_.out() == 0; }));
  rpc_.SetFaults("a:1", {});
  FillOnce();
  EXPECT_GE(StatsOf("a:1").failed, 1);
}

TEST_F(WorkerLinksTest, ASilentWorkerIsLostAfterTheDeadline) {
  Add("a:1");
  LinkOptions options = {.times = kTimes};
  options.times.least_fill = milliseconds(300);
  Link("a:1", options);
  FillOnce();
  rpc_.SetFaults("a:1", {.is_silent = true});
  lender_.Refill();
  links_->Pump();
  EXPECT_TRUE(Becomes("a:1", "lost"));
  EXPECT_TRUE(Prints("a:1 (name of a:1) was lost: the time is over"));
  const int ticks = lender_.ticks();
  EXPECT_TRUE(WaitUntil([&] { return lender_.ticks() > ticks + 3; }));
}

TEST_F(WorkerLinksTest, ARestartedWorkerIsOpenedAgain) {
  Add("a:1");
  Link("a:1");
  FillOnce();
  workers_.front().Restart();
  lender_.Refill();
  FillOnce();
  EXPECT_EQ(rpc_.calls("a:1", std::string(kOpenMethod)), 2);
}

TEST_F(WorkerLinksTest, ABusyWorkerIsAskedAgain) {
  Add("a:1", {.busy = 5});
  Link("a:1");
  FillOnce();
  EXPECT_GE(rpc_.calls("a:1", std::string(kFillMethod)), 5 + kSlots / kRange);
  EXPECT_EQ(StatsOf("a:1").failed, 0);
  EXPECT_EQ(StatsOf("a:1").state, "open");
}

TEST_F(WorkerLinksTest, AWorkerOfOtherDataRefuses) {
  const TestShards other(TestPayloads(7));
  workers_.emplace_back(rpc_, "a:1", other.index());
  Link("a:1");
  ASSERT_TRUE(WaitUntil([&] { return !errors().empty(); }));
  EXPECT_THAT(errors(), HasSubstr("no worker takes this stream: worker a:1"));
  EXPECT_TRUE(Prints("a:1 does not take this stream: "));
  EXPECT_TRUE(Becomes("a:1", "refused"));
  // It is asked again, and the error comes once.
  const int calls = rpc_.calls("a:1");
  EXPECT_TRUE(WaitUntil([&] { return rpc_.calls("a:1") > calls + 1; }));
  EXPECT_EQ(errors().find("no worker"), errors().rfind("no worker"));
  links_.reset();
  workers_.clear();  // Before its data.
}

TEST_F(WorkerLinksTest, AWrongTokenIsARefusalAndADeadWorkerIsNone) {
  rpc_.SetFaults("dead:1", {.is_dead = true});
  AddForeign("a:1");
  Link("a:1,dead:1");
  ASSERT_TRUE(WaitUntil([&] { return !errors().empty(); }));
  EXPECT_THAT(errors(), HasSubstr("worker a:1: it refuses the token or "
                                  "certificate: the token is wrong"));
}

// As in a job of hours without its workers, one of which comes back as another
// build.
TEST_F(WorkerLinksTest, ARefusalAfterTheStartIsNoError) {
  rpc_.SetFaults("a:1", {.is_dead = true});
  AddForeign("a:1");
  Link("a:1");
  ASSERT_TRUE(Becomes("a:1", "lost"));
  // A second attempt: the end of the first one has been looked at.
  const int calls = rpc_.calls("a:1");
  ASSERT_TRUE(WaitUntil([&] { return rpc_.calls("a:1") > calls + 1; }));
  rpc_.SetFaults("a:1", {});
  EXPECT_TRUE(Prints("a:1 does not take this stream: "));
  const int refusals = rpc_.calls("a:1");
  EXPECT_TRUE(WaitUntil([&] { return rpc_.calls("a:1") > refusals + 1; }));
  EXPECT_EQ(errors(), "");
}

TEST_F(WorkerLinksTest, ARefusalBesideAnOpenWorkerIsNoError) {
  AddForeign("a:1");
  Add("b:1");
  Link("a:1,b:1");
  FillOnce();
  ASSERT_TRUE(Becomes("a:1", "refused"));
  EXPECT_EQ(errors(), "");
}

TEST_F(WorkerLinksTest, ALiarIsDroppedByItsFirstRange) {
  Add("a:1", {.honest = 0});
  Link("a:1");
  ASSERT_TRUE(Becomes("a:1", "dropped"));
  EXPECT_TRUE(WaitUntil([&] { return lender_.out() == 0; }));
  EXPECT_FALSE(lender_.is_filled());
  EXPECT_TRUE(Prints("a:1 (name of a:1) is not used any more",
                     "differently: epoch 0, position "));
}

TEST_F(WorkerLinksTest, ALiarIsFoundLaterWhereEachRangeIsChecked) {
  Add("a:1", {.honest = 3});
  Link("a:1", {.check_every = 1, .times = kTimes});
  ASSERT_TRUE(Becomes("a:1", "dropped"));
  EXPECT_TRUE(WaitUntil([&] { return StatsOf("a:1").in_flight == 0; }));
  EXPECT_LE(StatsOf("a:1").images, 3 * kRange);
  EXPECT_GE(StatsOf("a:1").checked, 2);
}

TEST_F(WorkerLinksTest, OthersFillWhatALiarHad) {
  Add("a:1", {.honest = 0});
  Add("b:1");
  Link("a:1,b:1");
  FillOnce();
}

TEST_F(WorkerLinksTest, WrongSumsDropAWorker) {
  Add("a:1");
  rpc_.SetFaults("a:1", {.flipped = 10});
  Link("a:1", {.times = kTimes}, false);
  ASSERT_TRUE(Becomes("a:1", "dropped"));
  EXPECT_TRUE(Prints("checksums"));
  EXPECT_GE(lender_.declined(), 1);
}

TEST_F(WorkerLinksTest, AFileOfWorkersMayChange) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "list", "a:1\n");
  Add("a:1");
  Add("b:1");
  Link("@" + folder / "list");
  FillOnce();
  WriteFileAtomically(folder / "list", "b:1\n");
  ASSERT_TRUE(Becomes("b:1", "open"));
  EXPECT_EQ(links_->stats().size(), 1U);
  ASSERT_EQ(::remove((folder / "list").c_str()), 0);
  EXPECT_TRUE(Prints("list': ", "; its last entries are used"));
  lender_.Refill();
  FillOnce();
}

TEST_F(WorkerLinksTest, DestructionLosesWhatIsOut) {
  for (int i = 0; i < 20; ++i) {
    const std::string address = "w" + std::to_string(i) + ":1";
    Add(address);
    rpc_.SetFaults(address,
                   {.is_silent = i % 2 == 0, .delay = milliseconds(i % 4)});
    Link(address);
    lender_.Refill();
    links_->Pump();
    std::this_thread::sleep_for(milliseconds(i % 5));
    links_.reset();
    EXPECT_EQ(lender_.out(), 0);
  }
}

TEST_F(WorkerLinksTest, NoMoreRangesAreOutThanAllowed) {
  Add("a:1");
  Add("b:1");
  Link("a:1,b:1", {.most_ranges = 1, .times = kTimes}, false);
  FillOnce();
  for (const char* const address : {"a:1", "b:1"}) {
    rpc_.SetFaults(address, {.is_silent = true});
  }
  lender_.Refill();
  links_->Pump();
  ASSERT_TRUE(WaitUntil([&] { return lender_.out() == 1; }));
  const int ticks = lender_.ticks();
  ASSERT_TRUE(WaitUntil([&] { return lender_.ticks() > ticks + 3; }));
  EXPECT_LE(lender_.out(), 1);
}

}  // namespace infeed::worker_links_test
