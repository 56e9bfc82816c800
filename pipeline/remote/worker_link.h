#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/remote/messages.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// The waits of the links; tests have shorter ones.
struct LinkTimes {
  std::chrono::milliseconds tick{10};            // of RangeLender::MarkLate()
  std::chrono::milliseconds resolve{30'000};     // between readings of the list
  std::chrono::milliseconds open{10'000};        // for an answer to Open
  std::chrono::milliseconds least_fill{10'000};  // a Fill's shortest deadline
  std::chrono::milliseconds first_retry{1'000};  // after a loss; doubles
  std::chrono::milliseconds last_retry{60'000};  // and after a refusal
};

// The times of a link's last ranges.
class LinkLatencies {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr std::size_t kMost = 64;

  void Add(Duration latency);
  [[nodiscard]] bool empty() const { return last_.empty(); }
  // Zero: none yet.
  [[nodiscard]] Duration median() const { return median_; }
  [[nodiscard]] Duration p99() const { return p99_; }

 private:
  std::vector<Duration> last_;  // a ring
  std::size_t next_ = 0;
  Duration median_{0};
  Duration p99_{0};
};

// What a worker answered to an Open.
struct OpenAnswer {
  OpenReply reply = {};
  std::string refusal = {};  // empty: it accepted, or did not answer
};

[[nodiscard]] OpenAnswer OpenAnswerOf(const RpcStatus& status, RpcPieces reply);

// One worker as its trainer sees it: whether it can be lent ranges, and when it
// is to be opened.
//
//   connecting ─► open ─► lost, or connecting: it does not know the stream
//        └► refused, full from any: Drop() ─► dropped
//
// State alone: no thread, no clock, no call. One thread at a time. Functions
// that return a line return what a user is to read about the worker; "": no
// news, or a line of the same kind within the last minute.
class WorkerLink {
 public:
  using Clock = RangeLender::Clock;
  enum class State { kConnecting, kOpen, kLost, kRefused, kFull, kDropped };

  // number: RangeLender's.
  WorkerLink(int number, std::string address, const LinkTimes& times)
      : number_(number), times_(times) {
    stats_.address = std::move(address);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] const std::string& address() const { return stats_.address; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool is_open() const { return state_ == State::kOpen; }
  [[nodiscard]] bool is_dropped() const { return state_ == State::kDropped; }
  // Whether its first attempt has ended.
  [[nodiscard]] bool is_tried() const { return is_tried_; }
  // FillRequest::key. Requires: it is or was open.
  [[nodiscard]] std::uint64_t key() const { return key_; }
  // Counts how often it was opened: a range's outcome is about the opening in
  // which it was lent.
  [[nodiscard]] int openings() const { return openings_; }
  // Why it was refused or dropped, or is full.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const LinkLatencies& latencies() const { return latencies_; }
  [[nodiscard]] int in_flight() const { return stats_.in_flight; }
  // Whether a range has still to be checked before it gets several.
  [[nodiscard]] bool is_on_probation() const { return is_on_probation_; }
  [[nodiscard]] WorkerStats stats(Clock::time_point now) const;
  // "worker HOST:PORT (NAME)".
  [[nodiscard]] std::string Title() const;

  // Whether an Open is to be sent; Opening(): it is on its way.
  [[nodiscard]] bool IsToOpen(Clock::time_point now) const;
  void Opening() { is_opening_ = true; }

  // An Open has ended. is_checked: ranges are checked. spread: a random factor
  // of the wait for the next one, so that not all trainers come back at once.
  // Returns a line.
  std::string Opened(const RpcStatus& status, const OpenAnswer& answer,
                     bool is_checked, Clock::time_point now, double spread);
  // It cannot be used now. Returns a line.
  std::string Refuse(std::string reason, Clock::time_point now);
  // It cannot be used any more. Returns a line.
  std::string Drop(std::string reason, Clock::time_point now);

  // Whether it may get one more range. is_slow: one at a time.
  [[nodiscard]] bool CanTake(bool is_slow, Clock::time_point now) const;
  // A Fill's deadline.
  [[nodiscard]] std::chrono::milliseconds FillTimeout() const;

  void Lent() { ++stats_.in_flight; }
  // A reply came, and how its slots compare with local ones. opening: in which
  // the range was lent.
  void Replied(const FillNote& note, Clock::duration latency);
  void Checked(bool has_passed, int opening);
  // The ends of a lent range: its slots were given to the lender; it is lost,
  // with what was wrong with the reply; or its call has failed. Returns a line.
  void Used(bool is_used, int images, int declined);
  void Lost();
  std::string Failed(const RpcStatus& status, int opening,
                     Clock::time_point now, double spread);

 private:
  enum class Note { kLost, kFound, kRefused, kDropped };

  // Notes how long it was open.
  void SetState(State state, Clock::time_point now);
  // The worker does not take the stream: it refuses it, or is full.
  std::string NotTaken(State state, std::string reason, Clock::time_point now);
  void Accept(const OpenReply& reply, bool is_checked, Clock::time_point now);
  void TryLater(Clock::time_point now, double spread);
  [[nodiscard]] std::string LineOf(Note kind, const std::string& words,
                                   Clock::time_point now);

  const int number_;
  const LinkTimes times_;
  State state_ = State::kConnecting;
  Clock::time_point since_ = {};  // in this state; of the first one: unknown
  bool is_tried_ = false;
  bool is_opening_ = false;
  Clock::time_point next_open_ = Clock::time_point::min();
  Clock::duration retry_{0};  // the last wait after a loss; 0: none
  std::uint64_t key_ = 0;
  int openings_ = 0;
  bool is_on_probation_ = false;
  Clock::time_point busy_until_ = Clock::time_point::min();
  std::string reason_;
  LinkLatencies latencies_;
  std::array<std::optional<Clock::time_point>, 4> noted_;  // by Note
  WorkerStats stats_;  // without what stats() adds
};

// Whether a link is so much slower than the other links that it gets one range
// at a time, as they would fill more of them sooner. RangeQueue's rule is about
// links that are slow beside the local threads, which may then fill their
// ranges, too. A trainer with few threads has links that are slow by this rule
// alone.
[[nodiscard]] bool IsSlow(LinkLatencies::Duration median,
                          LinkLatencies::Duration of_all);

}  // namespace infeed
