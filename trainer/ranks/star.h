#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trainer/ranks/frames.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

struct StarOptions {
  // A rank that sends nothing for this time has failed. Each rank sends a beat
  // five times in this time, and at least every five seconds.
  std::chrono::milliseconds timeout{300'000};
  // Time for the caller's thread to end by itself once the run of all ranks has
  // ended: while no call has thrown the reason yet, and once one has.
  std::chrono::milliseconds patience{5'000};
  std::chrono::milliseconds patience_once_known{30'000};
  // Ends the process with this message if the caller's thread does not end.
  // Called in the ranks' thread; may return only in tests.
  std::function<void(const std::string& message)> end_process = {};
};

// Ranks in a star: every rank has a connection to rank 0, which combines their
// messages and notifies all ranks when one has failed. A closed connection is
// noticed at once, a silent one after the time-out.
//
// Owns the connections and a thread that serves them; the destructor sends a
// goodbye, and on rank 0 waits for those of the others up to the time-out.
class StarRanks final : public Ranks {
 public:
  // links: from AwaitRanks() on rank 0, else from MeetRankZero().
  StarRanks(const RankPlace& place, std::vector<FrameStream> links,
            StarOptions options);
  ~StarRanks() override;
  StarRanks(const StarRanks&) = delete;
  StarRanks& operator=(const StarRanks&) = delete;

  std::string Reduce(std::string_view mine, const Reduction& reduce) override;
  void Post(const std::string& key, std::string_view note) override;
  std::string Read(const std::string& key,
                   std::chrono::milliseconds timeout) override;
  void Fail(std::string_view message) noexcept override;
  std::optional<std::string> EndReason(
      std::chrono::milliseconds patience) override;

 private:
  using Clock = std::chrono::steady_clock;

  // One of the ranks at the other end of a link.
  struct Link {
    int rank = 0;
    FrameStream stream;
    bool has_left = false;                    // has sent a goodbye
    std::optional<std::string> message = {};  // of this Reduce()
    std::vector<std::string> wanted = {};     // keys of notes, on rank 0
  };

  // These run in the thread; all but Poll() with mutex_ held.
  void Serve();
  void Poll();
  void ServeLinks();
  void ReadLink(Link& link);
  void HandleFrame(Link& link, Frame frame);
  void StoreSentNote(std::string_view key_and_note);
  void StoreNote(const std::string& key, std::string_view note);
  void SendNote(Link& link, const std::string& key);
  void TakeMessages();
  void CheckTimeouts();
  void SendBeats();
  void EndProcessIfDue(std::unique_lock<std::mutex>& lock);
  // Ends the run of all ranks, for this reason.
  void EndRun(const std::string& why);
  void PutToAll(FrameKind kind, std::string_view body);

  void Wake() const;
  [[nodiscard]] bool is_first() const { return place().is_first(); }
  // Whether all goodbyes have been received, or no longer matter.
  [[nodiscard]] bool all_left() const;

  StarOptions options_;
  Clock::duration beat_;  // between two beats
  int wake_ = -1;         // eventfd that wakes the thread

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::vector<Link> links_;
  bool collecting_ = false;  // rank 0 is in a Reduce() and waits for messages
  // The data that Reduce() waits for: on rank 0 the others' messages, elsewhere
  // the answer.
  std::optional<std::vector<std::string>> received_;
  // On rank 0 all notes, elsewhere those that were read.
  std::map<std::string, std::string> notes_;
  std::optional<std::string> end_reason_;
  Clock::time_point end_time_;
  Clock::time_point last_round_ = Clock::now();
  Clock::time_point last_beat_ = Clock::now();
  bool caller_informed_ = false;  // a call has thrown end_reason_
  bool leaving_ = false;          // the caller's thread is about to end
  bool sent_bye_ = false;
  bool stop_ = false;

  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
