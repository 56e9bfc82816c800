#include "pipeline/remote/worker_service.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/opened_stream.h"
#include "pipeline/remote/range_pool.h"
#include "pipeline/remote/stream_settings.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// What a call is answered with.
struct Answer {
  RpcStatus status = {};
  std::vector<RpcPiece> reply = {};
};

Answer Refusal(RpcCode code, std::string message) {
  return {.status = {.code = code, .message = std::move(message)}};
}

Answer AnswerOf(const OpenReply& reply) {
  const auto bytes = std::make_shared<const std::string>(Serialize(reply));
  return {
      .reply = {{.bytes = std::as_bytes(std::span(*bytes)), .owner = bytes}}};
}

std::int64_t ThreadCpuNanoseconds() {
  timespec time = {};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

WorkerOptions Checked(WorkerOptions options) {
  constexpr int kMost = WorkerService::kMostThreads;
  if (options.threads < 0 || options.threads > kMost) {
    throw UsageError("threads: must be from 0 to " + std::to_string(kMost));
  }
  if (options.memory_limit <= 0) {
    throw UsageError("memory_limit: must be above 0");
  }
  if (options.threads == 0) {
    options.threads =
        std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return options;
}

bool HasRecords(const RecordIndex& data, std::span<const SlotRequest> slots) {
  return std::ranges::all_of(slots, [&](const SlotRequest& slot) {
    return slot.record >= 0 && slot.record < data.size();
  });
}

}  // namespace

class WorkerService::Impl {
 public:
  Impl(std::vector<std::shared_ptr<const RecordIndex>> data,
       const WorkerOptions& options);
  ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Handle(const std::shared_ptr<RpcServerCall>& call);
  [[nodiscard]] WorkerServiceStats stats() const;

 private:
  using Call = std::shared_ptr<RpcServerCall>;
  using Stream = std::shared_ptr<OpenedStream>;

  // A call that a thread is to answer.
  struct Job {
    Call call;
    bool is_open = false;
    std::function<Answer()> work;
  };
  struct Data {
    std::shared_ptr<const RecordIndex> index;
    std::string identity;
  };
  struct Opened {
    std::uint64_t key = 0;
    Stream stream;
    Clock::time_point asked;  // for the last time
  };

  // Answer calls, or leave them to the threads.
  std::optional<Answer> Begin(const Call& call);
  std::optional<Answer> BeginOpen(const Call& call);
  std::optional<Answer> BeginFill(const Call& call);

  // The threads' work.
  void Work(const std::stop_token& stop);
  // Waits for a job. nullopt: the service ends, and no job is left.
  std::optional<Job> TakeJob(const std::stop_token& stop);
  void EndJob(const Job& job);
  Answer Open(std::uint64_t key, const OpenRequest& request);
  Answer Fill(RpcServerCall& call, const Stream& stream,
              std::span<const SlotRequest> slots);

  // What keeps a stream from being opened, whatever its settings are.
  [[nodiscard]] std::vector<std::string> DifferencesOf(
      const OpenRequest& request) const;
  [[nodiscard]] const Data* FindData(const std::string& identity) const;
  Answer Refused(std::vector<std::string> differences);
  // The options of the next stream: what others leave to it.
  [[nodiscard]] WorkerOptions OptionsLeft();
  // Makes the stream one of the open ones, in place of the one that was not
  // asked for the longest if there are too many.
  Answer Keep(std::uint64_t key, Stream stream);

  // Require: mutex_ is locked.
  [[nodiscard]] bool HasJob() const {
    return !fills_.empty() || (!opens_.empty() && !is_opening_);
  }
  // Notes that the stream is asked for; null: it is not open.
  Opened* Ask(std::uint64_t key);
  [[nodiscard]] int Credit() const;
  [[nodiscard]] Answer Accepted(std::uint64_t key) const;
  // Whether no open stream may go. Else streams beyond the most would push each
  // other out, and be opened again and again.
  [[nodiscard]] bool IsFull() const;
  [[nodiscard]] Answer RefusedAsFull();

  const WorkerOptions options_;
  std::vector<Data> data_;
  RangePool ranges_;
  mutable std::mutex mutex_;  // of the members up to stats_
  std::condition_variable_any changed_;
  std::vector<Opened> streams_;
  std::deque<Job> opens_;
  std::deque<Job> fills_;
  bool is_opening_ = false;  // one stream at a time
  WorkerServiceStats stats_;
  std::vector<std::jthread> threads_;  // the last member: they use the others
};

WorkerService::Impl::Impl(std::vector<std::shared_ptr<const RecordIndex>> data,
                          const WorkerOptions& options)
    : options_(Checked(options)), ranges_(OpenedStream::MostRanges(options_)) {
  Check(!data.empty(), "a worker has data");
  for (std::shared_ptr<const RecordIndex>& index : data) {
    std::string identity = index->identity_with_labels();
    data_.push_back({std::move(index), std::move(identity)});
  }
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
}

void WorkerService::Impl::Handle(const Call& call) {
  std::optional<Answer> answer;
  try {
    answer = Begin(call);
  } catch (const DataError& error) {
    answer = Refusal(RpcCode::kInvalid, error.what());
  } catch (const std::exception& error) {
    answer = Refusal(RpcCode::kFailed, error.what());
  }
  if (answer) {
    call->Finish(answer->status, std::move(answer->reply));
  }
}

std::optional<Answer> WorkerService::Impl::Begin(const Call& call) {
  if (call->method() == kFillMethod) {
    return BeginFill(call);
  }
  if (call->method() == kOpenMethod) {
    return BeginOpen(call);
  }
  return Refusal(RpcCode::kInvalid, "a worker has no such method");
}

std::optional<Answer> WorkerService::Impl::BeginOpen(const Call& call) {
  OpenRequest request = ParseOpenRequest(call->request());
  std::vector<std::string> differences = DifferencesOf(request);
  if (!differences.empty()) {
    return Refused(std::move(differences));
  }
  const std::uint64_t key = SlotsKey(request.settings, request.data);
  const std::lock_guard lock(mutex_);
  if (Ask(key) != nullptr) {
    return Accepted(key);
  }
  if (IsFull()) {
    return RefusedAsFull();
  }
  if (opens_.size() == kMostStreams) {
    return Refusal(RpcCode::kBusy, "many streams wait to be opened");
  }
  opens_.push_back({.call = call,
                    .is_open = true,
                    .work = [this, key, request = std::move(request)] {
                      return Open(key, request);
                    }});
  changed_.notify_one();
  return std::nullopt;
}

std::optional<Answer> WorkerService::Impl::BeginFill(const Call& call) {
  FillRequest request = ParseFillRequest(call->request());
  const std::lock_guard lock(mutex_);
  const Opened* const opened = Ask(request.key);
  if (opened == nullptr) {
    return Refusal(RpcCode::kNotOpen, "the stream is not open here");
  }
  if (!HasRecords(opened->stream->data(), request.slots)) {
    return Refusal(RpcCode::kInvalid, "a record is outside the data");
  }
  if (stats_.in_work == 2 * options_.threads) {
    ++stats_.busy;
    return Refusal(RpcCode::kBusy, "as many ranges wait as may");
  }
  fills_.push_back({.call = call,
                    .work = [this, call = call.get(), stream = opened->stream,
                             slots = std::move(request.slots)] {
                      return Fill(*call, stream, slots);
                    }});
  ++stats_.in_work;
  changed_.notify_one();
  return std::nullopt;
}

void WorkerService::Impl::Work(const std::stop_token& stop) {
  (void)::pthread_setname_np(::pthread_self(), "infeed worker");
  while (std::optional<Job> job = TakeJob(stop)) {
    Answer answer;
    try {
      answer = job->work();
    } catch (const std::exception& error) {
      answer = Refusal(RpcCode::kFailed, error.what());
    }
    // Before the answer, after which the next request may come at once.
    EndJob(*job);
    job->call->Finish(answer.status, std::move(answer.reply));
  }
}

std::optional<WorkerService::Impl::Job> WorkerService::Impl::TakeJob(
    const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // At the end, the thread that opens a stream takes those that wait for it.
  if (!changed_.wait(lock, stop, [this] { return HasJob(); })) {
    return std::nullopt;
  }
  const bool opens = !opens_.empty() && !is_opening_;
  std::deque<Job>& jobs = opens ? opens_ : fills_;
  std::optional<Job> job = std::move(jobs.front());
  jobs.pop_front();
  is_opening_ = is_opening_ || opens;
  return job;
}

void WorkerService::Impl::EndJob(const Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (!job.is_open) {
      --stats_.in_work;
      return;
    }
    is_opening_ = false;
  }
  changed_.notify_all();
}

Answer WorkerService::Impl::Open(std::uint64_t key,
                                 const OpenRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    if (Ask(key) != nullptr) {
      return Accepted(key);
    }
    if (IsFull()) {
      return RefusedAsFull();
    }
  }
  InputOptions settings;
  try {
    settings = OptionsOfSettings(request.settings);
  } catch (const DataError& error) {
    return Refusal(RpcCode::kInvalid, error.what());
  }
  Stream stream;
  try {
    stream = std::make_shared<OpenedStream>(FindData(request.data)->index,
                                            settings, OptionsLeft());
  } catch (const UsageError& error) {
    return Refused({error.what()});
  }
  return Keep(key, std::move(stream));
}

Answer WorkerService::Impl::Fill(RpcServerCall& call, const Stream& stream,
                                 std::span<const SlotRequest> slots) {
  const std::shared_ptr<FilledRange> range = ranges_.Take(stream);
  if (range == nullptr) {
    const std::lock_guard lock(mutex_);
    ++stats_.busy;
    return Refusal(RpcCode::kBusy, "as many replies are being sent as may");
  }
  const std::int64_t begin = ThreadCpuNanoseconds();
  stream->NoteEpoch(slots.front().epoch);
  if (!stream->filler().Fill(
          slots, [&call] { return call.is_cancelled(); }, *range)) {
    return Refusal(RpcCode::kCancelled, "nobody waits for the range");
  }
  if (range->error()) {
    // A worker without its files would decline all ranges, and first of all
    // workers, as nothing is faster.
    std::rethrow_exception(range->error());
  }
  FillNote note = {.cpu_nanoseconds = ThreadCpuNanoseconds() - begin,
                   .cut_lists = range->cut_lists()};
  {
    const std::lock_guard lock(mutex_);
    const int declined = std::popcount(range->declined());
    ++stats_.ranges;
    stats_.declined += declined;
    stats_.slots += range->size() - declined;
    note.credit = Credit();
  }
  return {.reply = FillReplyOf(range, note)};
}

std::vector<std::string> WorkerService::Impl::DifferencesOf(
    const OpenRequest& request) const {
  std::vector<std::string> differences;
  if (request.pixels_version != kPixelsVersion) {
    differences.push_back("pixels version " + std::to_string(kPixelsVersion) +
                          " here, " + std::to_string(request.pixels_version) +
                          " there: the trainer's " + "build is " +
                          request.build);
  }
  if (FindData(request.data) == nullptr) {
    std::string text = "the data are others: this worker has ";
    for (const Data& data : data_) {
      text += (&data == &data_.front() ? "" : ", ") +
              CountText(data.index->shards().size(), "shard") + " (" +
              CountText(data.index->size(), "record") + ")";
    }
    differences.push_back(std::move(text));
  }
  return differences;
}

const WorkerService::Impl::Data* WorkerService::Impl::FindData(
    const std::string& identity) const {
  const auto found = std::ranges::find(data_, identity, &Data::identity);
  return found == data_.end() ? nullptr : &*found;
}

Answer WorkerService::Impl::Refused(std::vector<std::string> differences) {
  const std::lock_guard lock(mutex_);
  ++stats_.refused;
  return AnswerOf(
      {.worker = options_.name, .differences = std::move(differences)});
}

// The first stream has all memory that is left for a cache; beside it there is
// none for others.
WorkerOptions WorkerService::Impl::OptionsLeft() {
  WorkerOptions left = options_;
  const std::lock_guard lock(mutex_);
  for (const Opened& opened : streams_) {
    left.memory_limit -= opened.stream->kept_bytes();
    left.use_cache = left.use_cache && !opened.stream->has_cache();
  }
  return left;
}

Answer WorkerService::Impl::Keep(std::uint64_t key, Stream stream) {
  Stream forgotten;  // Ends after the lock: it may write files.
  const std::lock_guard lock(mutex_);
  if (streams_.size() == kMostStreams) {
    const auto oldest = std::ranges::min_element(streams_, {}, &Opened::asked);
    forgotten = std::move(oldest->stream);
    streams_.erase(oldest);
  }
  streams_.push_back({key, std::move(stream), Clock::now()});
  return Accepted(key);
}

WorkerService::Impl::Opened* WorkerService::Impl::Ask(std::uint64_t key) {
  const auto found = std::ranges::find(streams_, key, &Opened::key);
  if (found == streams_.end()) {
    return nullptr;
  }
  found->asked = Clock::now();
  return &*found;
}

int WorkerService::Impl::Credit() const {
  const Clock::time_point since = Clock::now() - std::chrono::seconds(1);
  const auto asking = static_cast<int>(std::ranges::count_if(
      streams_, [&](const auto& opened) { return opened.asked >= since; }));
  return std::max(1, 2 * options_.threads / std::max(1, asking));
}

Answer WorkerService::Impl::Accepted(std::uint64_t key) const {
  return AnswerOf({.key = key, .credit = Credit(), .worker = options_.name});
}

bool WorkerService::Impl::IsFull() const {
  const Clock::time_point since = Clock::now() - options_.use_time;
  return streams_.size() == kMostStreams &&
         std::ranges::all_of(streams_, [&](const Opened& opened) {
           return opened.asked > since;
         });
}

Answer WorkerService::Impl::RefusedAsFull() {
  ++stats_.refused;
  const auto time =
      std::chrono::duration_cast<std::chrono::seconds>(options_.use_time);
  return Refusal(RpcCode::kBusy,
                 std::to_string(kMostStreams) +
                     " streams are open, each asked for within the last " +
                     std::to_string(time.count()) + " s");
}

WorkerServiceStats WorkerService::Impl::stats() const {
  const std::lock_guard lock(mutex_);
  WorkerServiceStats stats = stats_;
  stats.streams = static_cast<int>(streams_.size());
  return stats;
}

WorkerService::WorkerService(
    std::vector<std::shared_ptr<const RecordIndex>> data,
    const WorkerOptions& options)
    : impl_(std::make_unique<Impl>(std::move(data), options)) {}

WorkerService::~WorkerService() = default;

// NOLINTNEXTLINE(performance-unnecessary-value-param): RpcServer::Handler.
void WorkerService::Handle(std::shared_ptr<RpcServerCall> call) {
  impl_->Handle(call);
}

WorkerServiceStats WorkerService::stats() const { return impl_->stats(); }

}  // namespace infeed
