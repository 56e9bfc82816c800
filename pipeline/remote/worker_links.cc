#include "pipeline/remote/worker_links.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/link_set.h"
#include "pipeline/remote/worker_link.h"
#include "pipeline/remote/worker_list_reader.h"
#include "pipeline/slots/open_batch.h"

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
       WorkerList list, RangeCheck* check, StageCounter& receive,
       LinkOptions options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Wakes the thread.
  void Wake();
  [[nodiscard]] bool IsAnyOpen() const;
  [[nodiscard]] std::vector<WorkerStats> stats() const;

 private:
  [[nodiscard]] bool is_stopping() const {
    const Lock lock(mutex_);
    return is_stopping_;
  }
  // A range that is with a worker.
  struct LentRange {
    ConnectedLink* to;  // outlives its channel, and thus its calls
    int opening;
    RangeLoan loan;
    Clock::time_point since;
  };

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
  void NotFilled(const LentRange& lent, const RpcStatus& status,
                 Clock::time_point now);
  void Take(const LentRange& lent, RpcPieces pieces, Clock::time_point arrived);
  void NoteCheck(const LentRange& lent, bool is_equal, std::uint64_t declined);
  // Notes a reply, whether it is to be checked; nullopt: it cannot be used.
  [[nodiscard]] std::optional<bool> Replied(const LentRange& lent,
                                            const FillNote& note,
                                            Clock::time_point arrived);
  void Write(const LentRange& lent, FilledSlots& filled,
             Clock::time_point arrived);

  // The range is lost, and the link dropped.
  void Reject(const LentRange& lent, const std::string& reason);
  void LoseRange(const LentRange& lent);
  // Drops the link, under the lock. Returns a line.
  [[nodiscard]] std::string Drop(ConnectedLink& one, const std::string& reason);

  // Not under the lock.
  void Print(const std::string& line) const;
  // Notes the addresses of the list.
  void Listed(std::vector<std::string> addresses);

  // Under the lock.
  [[nodiscard]] double Spread() {
    return std::uniform_real_distribution<>(0.5, 1.5)(random_);
  }

  RpcLibrary& library_;
  RangeLender& lender_;
  const InputOptions input_;
  RangeCheck* const check_;
  StageCounter& receive_;
  const LinkOptions options_;
  const std::string open_request_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;  // the thread
  bool is_stopping_ = false;
  bool has_work_ = false;
  bool is_list_new_ = false;  // or a link was dropped
  bool is_accepted_ = false;  // by any worker, once
  bool has_begun_ = false;    // all workers have been tried
  std::vector<std::string> addresses_;
  LinkSet links_;
  std::minstd_rand random_{std::random_device{}()};

  WorkerListReader list_;
  std::thread work_;
};

WorkerLinks::Impl::Impl(RpcLibrary& library, RangeLender& lender,
                        const InputOptions& input, WorkerList list,
                        RangeCheck* check, StageCounter& receive,
                        LinkOptions options)
    : library_(library),
      lender_(lender),
      input_(input),
      check_(check),
      receive_(receive),
      options_(std::move(options)),
      open_request_(Serialize(options_.open)),
      list_(std::move(list), options_.times,
            [this](std::vector<std::string> addresses) {
              Listed(std::move(addresses));
            }),
      work_([this] { Work(); }) {}

WorkerLinks::Impl::~Impl() {
  {
    const Lock lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_one();
  work_.join();
  for (ConnectedLink* const one : links_.InTurn()) {
    one->channel.reset();  // Its calls end here.
  }
}

void WorkerLinks::Impl::Wake() {
  {
    const Lock lock(mutex_);
    has_work_ = true;
  }
  wake_.notify_one();
}

bool WorkerLinks::Impl::IsAnyOpen() const {
  const Lock lock(mutex_);
  return links_.IsAnyOpen();
}

std::vector<WorkerStats> WorkerLinks::Impl::stats() const {
  const Lock lock(mutex_);
  return links_.stats();
}

void WorkerLinks::Impl::Listed(std::vector<std::string> addresses) {
  {
    const Lock lock(mutex_);
    addresses_ = std::move(addresses);
    is_list_new_ = true;
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
  Lock lock(mutex_);
  wake_.wait_until(lock, until, [this] { return is_stopping_ || has_work_; });
  has_work_ = false;
  return !is_stopping_;
}

void WorkerLinks::Impl::ChooseLinks() {
  std::vector<std::unique_ptr<RpcChannel>> ended;
  {
    const Lock lock(mutex_);
    if (!std::exchange(is_list_new_, false)) {
      return;
    }
    links_.Choose(addresses_, options_.trainer, options_.most_links,
                  options_.times);
    ended = links_.TakeEnded();
  }
  ended.clear();  // Their calls end here, without the lock.
  const Lock lock(mutex_);
  links_.RemoveUnwanted();
}

void WorkerLinks::Impl::OpenLinks(Clock::time_point now) {
  std::vector<ConnectedLink*> due;
  {
    const Lock lock(mutex_);
    due = links_.BeginOpening(now);
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
    Lock lock(mutex_);
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
  Lock lock(mutex_);
  if (is_stopping_ || by.is_unwanted) {
    return;
  }
  const std::string line =
      by.link.Opened(status, answer, check_ != nullptr, Clock::now(), Spread());
  is_accepted_ = is_accepted_ || by.link.is_open();
  lock.unlock();
  Print(line);
  Wake();
}

void WorkerLinks::Impl::ReportIfAllRefused() {
  Lock lock(mutex_);
  if (has_begun_ || !links_.AreAllTried()) {
    return;
  }
  has_begun_ = true;
  const std::string refusal = is_accepted_ ? "" : links_.Refusal();
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
    const Lock lock(mutex_);
    able = links_.InTurn();
    of_all = links_.MedianLatency();
  }
  while (!able.empty()) {  // One range to each, and again.
    std::erase_if(
        able, [&](ConnectedLink* one) { return !LendTo(*one, of_all, now); });
  }
}

bool WorkerLinks::Impl::LendTo(ConnectedLink& to,
                               LinkLatencies::Duration of_all,
                               Clock::time_point now) {
  Lock lock(mutex_);
  LinkLatencies::Duration latency = to.link.latencies().median();
  if (is_stopping_ || links_.in_flight() >= options_.most_ranges ||
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
  const Clock::time_point now = Clock::now();
  if (status.is_ok()) {
    Take(lent, pieces, now);
  } else {
    NotFilled(lent, status, now);
  }
  Wake();
}

void WorkerLinks::Impl::NotFilled(const LentRange& lent,
                                  const RpcStatus& status,
                                  Clock::time_point now) {
  Lock lock(mutex_);
  ConnectedLink& by = *lent.to;
  std::string line;
  if (is_stopping_ || by.is_unwanted) {
    by.link.Lost();  // It was cancelled here.
  } else {
    line = by.link.Failed(status, lent.opening, now, Spread());
  }
  lock.unlock();
  lender_.Lose(lent.loan);
  Print(line);
}

void WorkerLinks::Impl::Take(const LentRange& lent, RpcPieces pieces,
                             Clock::time_point arrived) {
  const int slots = static_cast<int>(lent.loan.slots.size());
  std::optional<FilledSlots> filled;
  try {
    filled.emplace(input_, slots, pieces, input_.verify_checksums);
  } catch (const DataError& error) {
    Reject(lent, std::string("a reply is damaged: ") + error.what());
    return;
  }
  const std::optional<bool> is_checked = Replied(lent, filled->note(), arrived);
  if (!is_checked) {
    LoseRange(lent);
    return;
  }
  if (*is_checked) {
    const std::optional<std::string> difference = check_->Difference(
        lent.loan.slots, *filled, [this] { return is_stopping(); });
    if (!difference) {
      LoseRange(lent);
      return;
    }
    NoteCheck(lent, difference->empty(), filled->declined());
    if (!difference->empty()) {
      Reject(lent, "it fills slots differently: " + *difference);
      return;
    }
  }
  Write(lent, *filled, arrived);
}

std::optional<bool> WorkerLinks::Impl::Replied(const LentRange& lent,
                                               const FillNote& note,
                                               Clock::time_point arrived) {
  const Lock lock(mutex_);
  WorkerLink& link = lent.to->link;
  if (link.is_dropped()) {
    return std::nullopt;
  }
  link.Replied(note, arrived - lent.since);
  return check_ != nullptr &&
         (link.is_on_probation() ||
          RangeCheck::IsChosen(lent.loan.slots, options_.check_every));
}

void WorkerLinks::Impl::NoteCheck(const LentRange& lent, bool is_equal,
                                  std::uint64_t declined) {
  const bool has_slots =
      std::popcount(declined) < static_cast<int>(lent.loan.slots.size());
  const Lock lock(mutex_);
  // A range without any slot proves nothing.
  lent.to->link.Checked(is_equal && has_slots, lent.opening);
}

void WorkerLinks::Impl::Write(const LentRange& lent, FilledSlots& filled,
                              Clock::time_point arrived) {
  int images = 0;
  std::int64_t bytes = 0;
  const bool is_used = lender_.Arrive(
      lent.loan, [&](OpenBatch& batch, int slot, std::size_t index) {
        if (!filled.Write(batch, slot, index)) {
          return false;
        }
        ++images;
        bytes += static_cast<std::int64_t>(batch.batch().slot_image_bytes());
        return true;
      });
  receive_.Add(bytes, Clock::now() - arrived, arrived - lent.since, images);
  Lock lock(mutex_);
  lent.to->link.Used(is_used, images, std::popcount(filled.declined()));
  std::string line;
  if (filled.wrong_sums() > 0) {
    line = Drop(*lent.to, "slots of a reply do not have their checksums");
  }
  lock.unlock();
  Print(line);
}

void WorkerLinks::Impl::LoseRange(const LentRange& lent) {
  {
    const Lock lock(mutex_);
    lent.to->link.Lost();
  }
  lender_.Lose(lent.loan);
}

void WorkerLinks::Impl::Reject(const LentRange& lent,
                               const std::string& reason) {
  LoseRange(lent);
  Lock lock(mutex_);
  const std::string line = Drop(*lent.to, reason);
  lock.unlock();
  Print(line);
}

std::string WorkerLinks::Impl::Drop(ConnectedLink& one,
                                    const std::string& reason) {
  is_list_new_ = true;
  return one.link.Drop(reason, Clock::now());
}

void WorkerLinks::Impl::Print(const std::string& line) const {
  if (!line.empty() && options_.note) {
    options_.note(line);
  }
}

WorkerLinks::WorkerLinks(RpcLibrary& library, RangeLender& lender,
                         const InputOptions& input, WorkerList list,
                         RangeCheck* check, StageCounter& receive,
                         LinkOptions options)
    : impl_(std::make_unique<Impl>(library, lender, input, std::move(list),
                                   check, receive, std::move(options))) {}

WorkerLinks::~WorkerLinks() = default;

void WorkerLinks::Pump() { impl_->Wake(); }

bool WorkerLinks::IsAnyOpen() const { return impl_->IsAnyOpen(); }

std::vector<WorkerStats> WorkerLinks::stats() const { return impl_->stats(); }

}  // namespace infeed
