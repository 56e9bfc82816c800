#include "pipeline/engine/remote_input.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "pipeline/order/label_class.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/stream_settings.h"
#include "tests/support/matchers.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::remote_input_test {

using ::testing::Field;

constexpr std::chrono::seconds kLong{60};

// Workers that refuse each stream, and note the first request.
class RefusingWorkers final : public RpcLibrary {
 public:
  [[nodiscard]] std::unique_ptr<RpcChannel> Connect(
      const std::string& address, const RpcAccess& /*access*/,
      std::int64_t /*max_reply*/) override {
    return std::make_unique<Channel>(*this, address);
  }
  [[nodiscard]] std::unique_ptr<RpcServer> Listen(
      const std::string& /*address*/, const RpcAccess& /*access*/,
      std::int64_t /*max_request*/, RpcServer::Handler /*handler*/) override {
    throw IoError("nobody listens");
  }

  // The request of the first call.
  std::future<std::string> request() { return request_.get_future(); }

 private:
  class Channel final : public RpcChannel {
   public:
    Channel(RefusingWorkers& workers, std::string address)
        : workers_(workers), address_(std::move(address)) {}
    void Call(std::string_view method, std::string request,
              std::chrono::milliseconds /*timeout*/, Done done) override {
      EXPECT_EQ(method, kOpenMethod);
      if (address_ == "a:1") {
        std::call_once(workers_.is_called_, [&] {
          workers_.request_.set_value(std::move(request));
        });
      }
      const std::string reply =
          Serialize(OpenReply{.worker = "w", .differences = {"seed: 1, 2"}});
      const std::span<const std::byte> piece = std::as_bytes(std::span(reply));
      done({}, {&piece, 1});
    }

   private:
    RefusingWorkers& workers_;
    const std::string address_;
  };

  std::once_flag is_called_;
  std::promise<std::string> request_;
};

// A stream without any range.
class NothingToLend final : public RangeLender {
 public:
  [[nodiscard]] std::optional<RangeLoan> Lend(int, Clock::duration,
                                              Clock::time_point) override {
    return std::nullopt;
  }
  bool Arrive(const RangeLoan&, const WriteSlot&) override { return false; }
  void Lose(const RangeLoan&) override {}
  void MarkLate(Clock::time_point) override {}
};

class RemoteInputTest : public ::testing::Test {
 protected:
  [[nodiscard]] static InputOptions Options(const std::string& workers) {
    InputOptions options = SmallTraining();
    options.workers = workers;
    return ResolvedOptions(CheckedInputOptions(options), SharedIndex());
  }

  [[nodiscard]] std::unique_ptr<RemoteInput> Make(const InputOptions& options) {
    return std::make_unique<RemoteInput>(
        workers_,
        RemoteInputParts{.index = SharedIndex(),
                         .store = store_,
                         .seek_store = seek_store_,
                         .lender = lender_,
                         .counters = counters_},
        options,
        [this](std::exception_ptr error) { refused_.set_value(error); });
  }

  RefusingWorkers workers_;
  const RecordStore store_{SharedIndex()};
  const SeekStore seek_store_{SharedIndex()};
  NothingToLend lender_;
  StageCounters counters_;
  std::promise<std::exception_ptr> refused_;
};

TEST_F(RemoteInputTest, OpensTheStreamWithAllThatItsSlotsDependOn) {
  const InputOptions options = Options("a:1");
  std::future<std::string> request = workers_.request();
  const std::unique_ptr<RemoteInput> input = Make(options);
  ASSERT_EQ(request.wait_for(kLong), std::future_status::ready);
  const OpenRequest open = ParseOpenRequest(request.get());
  EXPECT_THAT(open.build, HasSubstr("infeed "));
  EXPECT_EQ(open.pixels_version, kPixelsVersion);
  EXPECT_EQ(open.data, SharedIndex().identity());
  EXPECT_EQ(open.settings, SlotSettings(options));
}

TEST_F(RemoteInputTest, PassesOnThatAllHaveRefused) {
  std::future<std::exception_ptr> refused = refused_.get_future();
  const std::unique_ptr<RemoteInput> input = Make(Options("a:1,b:1"));
  ASSERT_EQ(refused.wait_for(kLong), std::future_status::ready);
  EXPECT_THAT(
      MessageOf<UsageError>([&] { std::rethrow_exception(refused.get()); }),
      HasSubstr("seed"));
  EXPECT_THAT(input->stats(),
              ElementsAre(Field(&WorkerStats::state, "refused"),
                          Field(&WorkerStats::state, "refused")));
}

TEST_F(RemoteInputTest, NamesAnEntryThatIsNoWorker) {
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Make(Options("a:1,b")); }),
              HasSubstr("b"));
}

}  // namespace infeed::remote_input_test
