#include "pipeline/remote/worker_links.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/remote/worker_settings.h"

namespace infeed {
namespace {

using Lock = std::unique_lock<std::mutex>;

// A link's latency before a range has come from any.
constexpr std::chrono::milliseconds kGuessedLatency{300};

// Different for each stream at work, so that trainers choose different workers.
std::string TrainerName(const InputOptions& options) {
  return HostName() + " " + std::to_string(::getpid()) + " " +
         std::to_string(options.rank);
}

}  // namespace

LinkOptions LinkOptionsOf(const RecordIndex& index,
                          const InputOptions& options) {
  // Not below: GCC 12 destroys the members of .open twice if a later one
  // throws.
  RpcAccess access = WorkerAccess();
  return {.open = OpenRequestOf(index, options),
          .check_every = options.workers_check,
          .most_ranges = RangesInFlight(options),
          .slots_per_range = SlotsPerTask(options),
          .access = std::move(access),
          .trainer = TrainerName(options),
          .note = options.on_note};
}

WorkerLinks::WorkerLinks(RpcLibrary& library, RangeLender& lender,
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
            [this](std::vector<std::string> addresses,
                   std::vector<std::string> notes) {
              Listed(std::move(addresses), std::move(notes));
            }),
      work_([this] { Work(); }) {}

WorkerLinks::~WorkerLinks() {
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

void WorkerLinks::Pump() {
  {
    const Lock lock(shared_.mutex);
    has_work_ = true;
  }
  wake_.notify_one();
}

bool WorkerLinks::IsAnyOpen() const {
  const Lock lock(shared_.mutex);
  return shared_.links.IsAnyOpen();
}

std::vector<WorkerStats> WorkerLinks::stats() const {
  const Lock lock(shared_.mutex);
  return shared_.links.stats(Clock::now());
}

void WorkerLinks::Listed(std::vector<std::string> addresses,
                         std::vector<std::string> notes) {
  {
    const Lock lock(shared_.mutex);
    std::ranges::move(notes, std::back_inserter(notes_));
    addresses_ = std::move(addresses);
    shared_.is_list_new = true;
  }
  Pump();
}

void WorkerLinks::Work() {
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

bool WorkerLinks::Wait(Clock::time_point until) {
  Lock lock(shared_.mutex);
  wake_.wait_until(lock, until,
                   [this] { return shared_.is_stopping || has_work_; });
  has_work_ = false;
  return !shared_.is_stopping;
}

void WorkerLinks::ChooseLinks() {
  std::vector<std::unique_ptr<RpcChannel>> ended;
  std::vector<std::string> notes;
  {
    const Lock lock(shared_.mutex);
    if (!std::exchange(shared_.is_list_new, false)) {
      return;
    }
    notes = std::exchange(notes_, {});
    shared_.links.Choose(addresses_, options_.trainer, options_.most_links,
                         options_.times);
    ended = shared_.links.TakeEnded();
  }
  ended.clear();  // Their calls end here, without the lock.
  std::ranges::for_each(notes,
                        [this](const std::string& line) { Print(line); });
  const Lock lock(shared_.mutex);
  shared_.links.RemoveUnwanted();
}

void WorkerLinks::OpenLinks(Clock::time_point now) {
  std::vector<ConnectedLink*> due;
  {
    const Lock lock(shared_.mutex);
    due = shared_.links.BeginOpening(now);
  }
  for (ConnectedLink* const one : due) {
    Open(*one);
  }
}

void WorkerLinks::Open(ConnectedLink& to) {
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

void WorkerLinks::Opened(ConnectedLink& by, const RpcStatus& status,
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
  Pump();
}

void WorkerLinks::ReportIfAllRefused() {
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

void WorkerLinks::LendToAll(Clock::time_point now) {
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

bool WorkerLinks::LendTo(ConnectedLink& to, LinkLatencies::Duration of_all,
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

void WorkerLinks::BeginFill(std::shared_ptr<const LentRange> lent,
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

void WorkerLinks::Filled(const LentRange& lent, const RpcStatus& status,
                         RpcPieces pieces) {
  Print(lent_.TakeBack(lent, status, pieces));
  Pump();
}

void WorkerLinks::Print(const std::string& line) const {
  if (!line.empty() && options_.note) {
    options_.note(line);
  }
}

}  // namespace infeed
