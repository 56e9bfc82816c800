#include "pipeline/remote/worker_link.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "base/shown_text.h"

namespace infeed {
namespace {

constexpr int kTimeoutLatencies = 20;  // of a Fill, as its deadline
constexpr int kSlowLatencies = 4;      // as many medians of all links
constexpr std::chrono::minutes kNoteEvery{1};

std::string_view NameOf(WorkerLink::State state) {
  switch (state) {
    case WorkerLink::State::kConnecting:
      return "connecting";
    case WorkerLink::State::kOpen:
      return "open";
    case WorkerLink::State::kLost:
      return "lost";
    case WorkerLink::State::kRefused:
      return "refused";
    case WorkerLink::State::kFull:
      return "full";
    case WorkerLink::State::kDropped:
      return "dropped";
  }
  return {};
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : "; ") + ShownText(text);
  }
  return joined;
}

// "WORDS" or "WORDS: MESSAGE".
std::string WithMessage(std::string words, const RpcStatus& status) {
  return status.message.empty() ? std::move(words)
                                : words + ": " + ShownText(status.message);
}

// Empty: the status is another one.
std::string RefusalOf(const RpcStatus& status) {
  if (status.code == RpcCode::kRefused) {
    return WithMessage("it refuses the token or certificate", status);
  }
  if (status.code == RpcCode::kInvalid) {
    return WithMessage("it cannot read the request", status);
  }
  return {};
}

}  // namespace

OpenAnswer OpenAnswerOf(const RpcStatus& status, RpcPieces reply) {
  OpenAnswer answer{.refusal = RefusalOf(status)};
  if (status.is_ok()) {
    try {
      answer.reply = ParseOpenReply(reply);
      answer.refusal = Joined(answer.reply.differences);
    } catch (const DataError& error) {
      answer.refusal = std::string("its answer is damaged: ") + error.what();
    }
  }
  return answer;
}

void LinkLatencies::Add(Duration latency) {
  if (last_.size() < kMost) {
    last_.push_back(latency);
  } else {
    last_[next_] = latency;
    next_ = (next_ + 1) % kMost;
  }
  std::vector<Duration> sorted = last_;
  std::ranges::sort(sorted);
  median_ = sorted[sorted.size() / 2];
  p99_ = sorted[sorted.size() * 99 / 100];
}

bool WorkerLink::IsToOpen(Clock::time_point now) const {
  return !is_opening_ && !is_open() && !is_dropped() && now >= next_open_;
}

void WorkerLink::SetState(State state, Clock::time_point now) {
  stats_.open_seconds += is_open() ? ToSeconds(now - since_) : 0;
  state_ = state;
  since_ = now;
}

std::string WorkerLink::Opened(const RpcStatus& status,
                               const OpenAnswer& answer, bool is_checked,
                               Clock::time_point now, double spread) {
  if (is_dropped()) {
    return {};
  }
  if (!answer.refusal.empty()) {
    return Refuse(answer.refusal, now);
  }
  if (status.code == RpcCode::kBusy) {  // With other streams.
    return NotTaken(State::kFull, ShownText(status.message), now);
  }
  if (!status.is_ok()) {
    TryLater(now, spread);
    return LineOf(Note::kLost, WithMessage("cannot be reached", status), now);
  }
  const bool is_back = state_ != State::kConnecting;
  Accept(answer.reply, is_checked, now);
  return is_back ? LineOf(Note::kFound, "is back", now) : std::string();
}

void WorkerLink::Accept(const OpenReply& reply, bool is_checked,
                        Clock::time_point now) {
  is_opening_ = false;
  is_tried_ = true;
  SetState(State::kOpen, now);
  ++openings_;
  key_ = reply.key;
  is_on_probation_ = is_checked;  // Another program may listen there now.
  busy_until_ = Clock::time_point::min();
  reason_.clear();
  stats_.name = ShownText(reply.worker);
  stats_.credit = std::max(1, reply.credit);
}

std::string WorkerLink::Refuse(std::string reason, Clock::time_point now) {
  return NotTaken(State::kRefused, std::move(reason), now);
}

std::string WorkerLink::NotTaken(State state, std::string reason,
                                 Clock::time_point now) {
  is_opening_ = false;
  is_tried_ = true;
  SetState(state, now);
  reason_ = std::move(reason);
  next_open_ = now + times_.last_retry;
  return LineOf(Note::kRefused, "does not take this stream: " + reason_, now);
}

void WorkerLink::TryLater(Clock::time_point now, double spread) {
  is_opening_ = false;
  is_tried_ = true;
  SetState(State::kLost, now);
  retry_ = retry_ == Clock::duration::zero()
               ? times_.first_retry
               : std::min<Clock::duration>(2 * retry_, times_.last_retry);
  next_open_ =
      now + std::chrono::duration_cast<Clock::duration>(
                std::chrono::duration<double>(spread * ToSeconds(retry_)));
}

std::string WorkerLink::Drop(std::string reason, Clock::time_point now) {
  if (is_dropped()) {
    return {};
  }
  SetState(State::kDropped, now);
  reason_ = std::move(reason);
  return LineOf(Note::kDropped, "is not used any more: " + reason_, now);
}

bool WorkerLink::CanTake(bool is_slow, Clock::time_point now) const {
  const int most = is_on_probation_ || is_slow ? 1 : stats_.credit;
  return is_open() && stats_.in_flight < most && now >= busy_until_;
}

std::chrono::milliseconds WorkerLink::FillTimeout() const {
  return std::max(times_.least_fill,
                  std::chrono::duration_cast<std::chrono::milliseconds>(
                      kTimeoutLatencies * latencies_.median()));
}

void WorkerLink::Replied(const FillNote& note, Clock::duration latency) {
  retry_ = Clock::duration::zero();
  latencies_.Add(latency);
  stats_.credit = std::max(1, note.credit);
  stats_.cpu_seconds += ToSeconds(std::chrono::nanoseconds(
      std::max<std::int64_t>(0, note.cpu_nanoseconds)));
}

void WorkerLink::Lost() {
  --stats_.in_flight;
  ++stats_.failed;
}

std::string WorkerLink::Failed(const RpcStatus& status, int opening,
                               Clock::time_point now, double spread) {
  if (status.code == RpcCode::kBusy) {
    --stats_.in_flight;
    stats_.credit = std::max(1, stats_.in_flight);
    busy_until_ = now + times_.tick;
    return {};
  }
  Lost();
  if (!is_open() || opening != openings_) {
    return {};  // Of several calls that fail together the first one counts.
  }
  if (status.code == RpcCode::kNotOpen) {  // It was restarted, for example.
    SetState(State::kConnecting, now);
    next_open_ = now + times_.tick;
    return {};
  }
  if (std::string refusal = RefusalOf(status); !refusal.empty()) {
    return Refuse(std::move(refusal), now);
  }
  TryLater(now, spread);
  return LineOf(Note::kLost, WithMessage("was lost", status), now);
}

void WorkerLink::Checked(bool has_passed, int opening) {
  ++stats_.checked;
  if (has_passed && opening == openings_) {
    is_on_probation_ = false;
  }
}

void WorkerLink::Used(bool is_used, int images, int declined) {
  --stats_.in_flight;
  stats_.ranges += is_used ? 1 : 0;
  stats_.unused += is_used ? 0 : 1;
  stats_.images += images;
  stats_.declined += declined;
}

std::string WorkerLink::LineOf(Note kind, const std::string& words,
                               Clock::time_point now) {
  std::optional<Clock::time_point>& last =
      noted_[static_cast<std::size_t>(kind)];
  if (last && now - *last < kNoteEvery) {
    return {};
  }
  last = now;
  return Title() + " " + words;
}

std::string WorkerLink::Title() const {
  const std::string title = "worker " + address();
  return stats_.name.empty() ? title : title + " (" + stats_.name + ")";
}

WorkerStats WorkerLink::stats(Clock::time_point now) const {
  WorkerStats stats = stats_;
  stats.open_seconds += is_open() ? ToSeconds(now - since_) : 0;
  stats.state = NameOf(state_);
  stats.latency_seconds = ToSeconds(latencies_.median());
  stats.latency_p99_seconds = ToSeconds(latencies_.p99());
  return stats;
}

bool IsSlow(LinkLatencies::Duration median, LinkLatencies::Duration of_all) {
  return of_all > LinkLatencies::Duration::zero() &&
         median >= kSlowLatencies * of_all;
}

}  // namespace infeed
