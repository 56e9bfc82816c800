#include "pipeline/remote/worker_links.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/lent_ranges.h"
#include "pipeline/remote/link_set.h"
#include "pipeline/remote/worker_link.h"
#include "pipeline/remote/worker_list_reader.h"

namespace infeed {
namespace {

using Clock = RangeLender::Clock;
using Lock = std::unique_lock<std::mutex>;

// A link's latency before a range has come from any.
constexpr std::chrono::milliseconds kGuessedLatency{300};

}  // namespace

// A thread does all that is neither the reading of the list, which may block,
// nor the end of a call. Only this thread makes and destroys channels and
// begins calls, so none is destroyed under a call's beginning, nor by a call's
// end, and ends that come at once do not recurse.
class WorkerLinks::Impl {
 public:
  Impl(RpcLibrary& library, RangeLender& lender, const InputOptions& input,
       WorkerList list, RangeCheck* check, StageCounters& counters,
       LinkOptions options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Wakes the thread.
  void Wake();
  [[nodiscard]] bool IsAnyOpen() const;
  [[nodiscard]] std::vector<WorkerStats> stats() const;

 private:
  // The thread's function.
  void Work();
  // Waits for work, until then at most. Returns false at the end.
  [[nodiscard]] bool Wait(Clock::time_point until);

  // The thread's work.
  void ChooseLinks();
  void OpenLinks(Clock::time_point now);
  void Open(ConnectedLink& to);
  void LendToAll(Clock::time_point now);
  void ReportIfAllRefused();

  // Lends the link one more range. Returns false if it cannot have one now.
  [[nodiscard]] bool LendTo(ConnectedLink& to, LinkLatencies::Duration of_all,
                            Clock::time_point now);
  void BeginFill(std::shared_ptr<const LentRange> lent,
                 std::chrono::milliseconds timeout, std::uint64_t key);

  // The ends of calls.
  void Opened(ConnectedLink& by, const RpcStatus& status, RpcPieces pieces);
  void Filled(const LentRange& lent, const RpcStatus& status, RpcPieces pieces);

  // Not under the lock.
  void Print(const std::string& line) const;
  // Takes the addresses of the list.
  void Listed(std::vector<std::string> addresses);

  RpcLibrary& library_;
  RangeLender& lender_;
  const InputOptions input_;
  RangeCheck* const check_;
  const LinkOptions options_;
  const std::string open_request_;

  SharedLinks shared_;
  LentRanges lent_;
  std::condition_variable wake_;  // the thread
  // Under the lock of shared_.
  bool has_work_ = false;
  bool is_accepted_ = false;  // by any worker, once
  bool has_begun_ = false;    // all workers have been tried
  std::vector<std::string> addresses_;

  WorkerListReader list_;
  std::thread work_;
};

WorkerLinks::Impl::Impl(RpcLibrary& library, RangeLender& lender,
                        const InputOptions& input, WorkerList list,
                        RangeCheck* check, StageCounters& counters,
                        LinkOptions options)
    : library_(library),
      lender_(lender),
      input_(input),
      check_(check),
      options_(std::move(options)),
      open_request_(Serialize(options_.open)),
      lent_(lender, input_, check, counters, options_.check_every, shared_),
      list_(std::move(list), options_.times,
            [this](std::vector<std::string> addresses) {
              Listed(std::move(addresses));
            }),
      work_([this] { Work(); }) {}

WorkerLinks::Impl::~Impl() {
  {
    const Lock lock(shared_.mutex);
    shared_.is_stopping = true;
  }
  wake_.notify_one();
  work_.join();
  for (ConnectedLink* const one : shared_.links.InTurn()) {
    one->channel.reset();  // Its calls end here.
  }
}

void WorkerLinks::Impl::Wake() {
  {
    const Lock lock(shared_.mutex);
    has_work_ = true;
  }
  wake_.notify_one();
}

bool WorkerLinks::Impl::IsAnyOpen() const {
  const Lock lock(shared_.mutex);
  return shared_.links.IsAnyOpen();
}

std::vector<WorkerStats> WorkerLinks::Impl::stats() const {
  const Lock lock(shared_.mutex);
  return shared_.links.stats(Clock::now());
}

void WorkerLinks::Impl::Listed(std::vector<std::string> addresses) {
  {
    const Lock lock(shared_.mutex);
    addresses_ = std::move(addresses);
    shared_.is_list_new = true;
  }
  Wake();
}

void WorkerLinks::Impl::Work() {
  (void)::pthread_setname_np(::pthread_self(), "infeed links");
  Clock::time_point tick = Clock::now();
  while (Wait(tick)) {
    const Clock::time_point now = Clock::now();
    if (now >= tick) {
      lender_.MarkLate(now);
      tick = now + options_.times.tick;
    }
    ChooseLinks();
    OpenLinks(now);
    LendToAll(now);
    ReportIfAllRefused();
  }
}

bool WorkerLinks::Impl::Wait(Clock::time_point until) {
  Lock lock(shared_.mutex);
  wake_.wait_until(lock, until,
                   [this] { return shared_.is_stopping || has_work_; });
  has_work_ = false;
  return !shared_.is_stopping;
}

void WorkerLinks::Impl::ChooseLinks() {
  std::vector<std::unique_ptr<RpcChannel>> ended;
  {
    const Lock lock(shared_.mutex);
    if (!std::exchange(shared_.is_list_new, false)) {
      return;
    }
    shared_.links.Choose(addresses_, options_.trainer, options_.most_links,
                         options_.times);
    ended = shared_.links.TakeEnded();
  }
  ended.clear();  // Their calls end here, without the lock.
  const Lock lock(shared_.mutex);
  shared_.links.RemoveUnwanted();
}

void WorkerLinks::Impl::OpenLinks(Clock::time_point now) {
  std::vector<ConnectedLink*> due;
  {
    const Lock lock(shared_.mutex);
    due = shared_.links.BeginOpening(now);
  }
  for (ConnectedLink* const one : due) {
    Open(*one);
  }
}

void WorkerLinks::Impl::Open(ConnectedLink& to) {
  try {
    if (!to.channel) {
      to.channel =
          library_.Connect(to.link.address(), options_.access,
                           MostReplyBytes(input_, options_.slots_per_range));
    }
  } catch (const Error& error) {  // Of its files for TLS.
    Lock lock(shared_.mutex);
    const std::string line = to.link.Refuse(error.what(), Clock::now());
    lock.unlock();
    Print(line);
    return;
  }
  to.channel->Call(kOpenMethod, open_request_, options_.times.open,
                   [this, &to](const RpcStatus& status, RpcPieces reply) {
                     Opened(to, status, reply);
                   });
}

void WorkerLinks::Impl::Opened(ConnectedLink& by, const RpcStatus& status,
                               RpcPieces reply) {
  const OpenAnswer answer = OpenAnswerOf(status, reply);
  Lock lock(shared_.mutex);
  if (shared_.is_stopping || by.is_unwanted) {
    return;
  }
  const std::string line = by.link.Opened(status, answer, check_ != nullptr,
                                          Clock::now(), shared_.Spread());
  is_accepted_ = is_accepted_ || by.link.is_open();
  shared_.is_list_new =
      shared_.is_list_new || by.link.state() == WorkerLink::State::kFull;
  lock.unlock();
  Print(line);
  Wake();
}

void WorkerLinks::Impl::ReportIfAllRefused() {
  Lock lock(shared_.mutex);
  if (has_begun_ || !shared_.links.AreAllTried()) {
    return;
  }
  has_begun_ = true;
  const std::string refusal = is_accepted_ ? "" : shared_.links.Refusal();
  lock.unlock();
  if (!refusal.empty() && options_.on_all_refused) {
    options_.on_all_refused(std::make_exception_ptr(
        UsageError("no worker takes this stream: " + refusal)));
  }
}

void WorkerLinks::Impl::LendToAll(Clock::time_point now) {
  std::vector<ConnectedLink*> able;  // as far as is known
  LinkLatencies::Duration of_all{0};
  {
    const Lock lock(shared_.mutex);
    able = shared_.links.InTurn();
    of_all = shared_.links.MedianLatency();
  }
  while (!able.empty()) {  // One range to each, and again.
    std::erase_if(
        able, [&](ConnectedLink* one) { return !LendTo(*one, of_all, now); });
  }
}

bool WorkerLinks::Impl::LendTo(ConnectedLink& to,
                               LinkLatencies::Duration of_all,
                               Clock::time_point now) {
  Lock lock(shared_.mutex);
  LinkLatencies::Duration latency = to.link.latencies().median();
  if (shared_.is_stopping ||
      shared_.links.in_flight() >= options_.most_ranges ||
      !to.link.CanTake(IsSlow(latency, of_all), now)) {
    return false;
  }
  const int opening = to.link.openings();
  const std::uint64_t key = to.link.key();
  const std::chrono::milliseconds timeout = to.link.FillTimeout();
  lock.unlock();
  if (latency == LinkLatencies::Duration::zero()) {
    latency = of_all;  // of the other links
  }
  if (latency == LinkLatencies::Duration::zero()) {
    latency = kGuessedLatency;
  }
  const Clock::time_point since = Clock::now();
  std::optional<RangeLoan> loan =
      lender_.Lend(to.link.number(), latency, since);
  if (!loan) {
    return false;
  }
  lock.lock();
  to.link.Lent();
  lock.unlock();
  BeginFill(std::make_shared<const LentRange>(
                LentRange{&to, opening, *std::move(loan), since}),
            timeout, key);
  return true;
}

void WorkerLinks::Impl::BeginFill(std::shared_ptr<const LentRange> lent,
                                  std::chrono::milliseconds timeout,
                                  std::uint64_t key) {
  RpcChannel& channel = *lent->to->channel;
  std::string request = Serialize({.key = key, .slots = lent->loan.slots});
  channel.Call(kFillMethod, std::move(request), timeout,
               [this, lent = std::move(lent)](const RpcStatus& status,
                                              RpcPieces pieces) {
                 Filled(*lent, status, pieces);
               });
}

void WorkerLinks::Impl::Filled(const LentRange& lent, const RpcStatus& status,
                               RpcPieces pieces) {
  Print(lent_.TakeBack(lent, status, pieces));
  Wake();
}

void WorkerLinks::Impl::Print(const std::string& line) const {
  if (!line.empty() && options_.note) {
    options_.note(line);
  }
}

WorkerLinks::WorkerLinks(RpcLibrary& library, RangeLender& lender,
                         const InputOptions& input, WorkerList list,
                         RangeCheck* check, StageCounters& counters,
                         LinkOptions options)
    : impl_(std::make_unique<Impl>(library, lender, input, std::move(list),
                                   check, counters, std::move(options))) {}

WorkerLinks::~WorkerLinks() = default;

void WorkerLinks::Pump() { impl_->Wake(); }

bool WorkerLinks::IsAnyOpen() const { return impl_->IsAnyOpen(); }

std::vector<WorkerStats> WorkerLinks::stats() const { return impl_->stats(); }

}  // namespace infeed
