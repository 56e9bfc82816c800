#include "trainer/ranks/star.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/seconds.h"

namespace infeed {
namespace {

// Time to send the last frame.
constexpr std::chrono::seconds kFinalSendTime{1};

// Separates a note's key, which has no such byte, from the note.
constexpr char kKeyEnd = '\0';

class StarRanks final : public Ranks {
 public:
  StarRanks(const RankPlace& place, std::vector<FrameStream> links,
            StarOptions options)
      : Ranks(place),
        options_(std::move(options)),
        beat_(std::min<Clock::duration>(options_.timeout / 5,
                                        std::chrono::seconds(5))),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    Check(wake_ >= 0, "an eventfd can be made");
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (links[i].is_open()) {
        links[i].MarkReceived();
        links[i].Trust();
        links_.push_back({.rank = static_cast<int>(is_first() ? i : 0),
                          .stream = std::move(links[i])});
      }
    }
    thread_ = std::jthread([this] { Serve(); });
  }

  ~StarRanks() override {
    if (std::uncaught_exceptions() > 0) {
      Fail("an error");
    }
    std::unique_lock lock(mutex_);
    if (!end_reason_ && !leaving_) {
      sent_bye_ = true;
      if (!is_first()) {
        PutToAll(FrameKind::kBye, {});
      }
      Wake();
      // Rank 0 serves the others until their goodbyes; they wait for its reply.
      changed_.wait_for(lock, options_.timeout,
                        [this] { return all_left() || end_reason_; });
    }
    changed_.wait_for(lock, kFinalSendTime, [this] { return all_left(); });
    stop_ = true;
    lock.unlock();
    Wake();
    thread_.join();
    ::close(wake_);
  }

  StarRanks(const StarRanks&) = delete;
  StarRanks& operator=(const StarRanks&) = delete;

  std::string Reduce(std::string_view mine, const Reduction& reduce) override {
    std::unique_lock lock(mutex_);
    collecting_ = is_first();
    if (!is_first()) {
      PutToAll(FrameKind::kMessage, mine);
    }
    Wake();
    changed_.wait(lock, [this] { return received_ || end_reason_; });
    if (!received_) {
      caller_informed_ = true;
      throw IoError(*end_reason_);
    }
    std::vector<std::string> all = *std::exchange(received_, std::nullopt);
    if (!is_first()) {
      return all.front();
    }
    all.insert(all.begin(), std::string(mine));
    lock.unlock();
    std::string answer = reduce(all);
    lock.lock();
    PutToAll(FrameKind::kAnswer, answer);
    Wake();
    return answer;
  }

  void Post(const std::string& key, std::string_view note) override {
    const std::lock_guard lock(mutex_);
    if (is_first()) {
      StoreNote(key, note);
    } else {
      PutToAll(FrameKind::kNote, key + kKeyEnd + std::string(note));
    }
    Wake();
  }

  std::string Read(const std::string& key,
                   std::chrono::milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    if (!is_first() && !notes_.contains(key)) {
      PutToAll(FrameKind::kRead, key);
      Wake();
    }
    changed_.wait_for(lock, timeout,
                      [&] { return notes_.contains(key) || end_reason_; });
    if (notes_.contains(key)) {
      return notes_[key];
    }
    if (end_reason_) {
      caller_informed_ = true;
      throw IoError(*end_reason_);
    }
    throw IoError(fmt::format(
        "rank {}: cannot join the other ranks: within {:g} s none of "
        "them has sent {}",
        place().rank, ToSeconds(timeout), key));
  }

  void Fail(std::string_view message) noexcept override {
    std::unique_lock lock(mutex_);
    if (std::exchange(leaving_, true)) {
      return;
    }
    if (!end_reason_) {
      PutToAll(is_first() ? FrameKind::kRunFailed : FrameKind::kRankFailed,
               is_first() ? fmt::format("rank 0 failed: {}", message)
                          : std::string(message));
    }
    Wake();
    changed_.wait_for(lock, kFinalSendTime, [this] { return all_left(); });
  }

  std::optional<std::string> EndReason(
      std::chrono::milliseconds patience) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience,
                      [this] { return end_reason_.has_value(); });
    caller_informed_ = caller_informed_ || end_reason_;
    return end_reason_;
  }

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
  void Serve() {
    (void)::pthread_setname_np(::pthread_self(), "ranks");
    std::unique_lock lock(mutex_);
    while (!stop_) {
      lock.unlock();
      Poll();
      lock.lock();
      ServeLinks();
      TakeMessages();
      CheckTimeouts();
      SendBeats();
      EndProcessIfDue(lock);
      changed_.notify_all();
    }
  }

  // Without a lock: only this thread opens and closes links.
  void Poll() {
    std::vector<pollfd> polled = {
        {.fd = wake_, .events = POLLIN, .revents = 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const Link& link : links_) {
        polled.push_back(link.stream.Polled());
      }
    }
    const auto most =
        std::chrono::duration_cast<std::chrono::milliseconds>(beat_);
    (void)::poll(polled.data(), polled.size(), static_cast<int>(most.count()));
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
  }

  void ServeLinks() {
    for (Link& link : links_) {
      if (link.stream.is_open()) {
        (void)link.stream.Flush();  // Reading reports an error, too.
        ReadLink(link);
      }
    }
  }

  void ReadLink(Link& link) {
    const bool is_there = link.stream.Fill();
    while (std::optional<Frame> frame = link.stream.Take()) {
      HandleFrame(link, *std::move(frame));
    }
    if (!is_there) {
      link.stream.Close();
      if (!link.has_left) {
        EndRun(fmt::format(
            "rank {} ended without an error message: was it killed? "
            "Its own last lines, or the system's log, may show why",
            link.rank));
      }
    }
  }

  void HandleFrame(Link& link, Frame frame) {
    switch (frame.kind) {
      case FrameKind::kMessage:
        link.message = std::move(frame.body);
        return;
      case FrameKind::kAnswer:
        received_ = std::vector<std::string>{std::move(frame.body)};
        return;
      case FrameKind::kRankFailed:
        link.has_left = true;
        EndRun(fmt::format("rank {} failed: {}", link.rank, frame.body));
        return;
      case FrameKind::kRunFailed:
        link.has_left = true;
        link.stream.Put(FrameKind::kBye);
        EndRun(frame.body);
        return;
      case FrameKind::kBye:
        link.has_left = true;
        if (is_first()) {
          link.stream.Put(FrameKind::kBye);
        }
        return;
      case FrameKind::kNote:
        StoreSentNote(frame.body);
        return;
      case FrameKind::kRead:
        SendNote(link, frame.body);
        return;
      case FrameKind::kHello:
      case FrameKind::kBeat:
        return;
    }
  }

  void StoreSentNote(std::string_view key_and_note) {
    const std::size_t end = key_and_note.find(kKeyEnd);
    StoreNote(
        std::string(key_and_note.substr(0, end)),
        end == std::string_view::npos ? "" : key_and_note.substr(end + 1));
  }

  void StoreNote(const std::string& key, std::string_view note) {
    notes_[key] = note;
    for (Link& link : links_) {
      if (std::erase(link.wanted, key) > 0) {
        SendNote(link, key);
      }
    }
  }

  // Answers a Read() once the note is there.
  void SendNote(Link& link, const std::string& key) {
    const auto note = notes_.find(key);
    if (note == notes_.end()) {
      link.wanted.push_back(key);
    } else if (link.stream.is_open()) {
      link.stream.Put(FrameKind::kNote, key + kKeyEnd + note->second);
    }
  }

  // On rank 0: passes the messages to Reduce() once all are there.
  void TakeMessages() {
    if (!collecting_ || end_reason_) {
      return;
    }
    for (const Link& link : links_) {
      if (!link.message && link.has_left) {
        EndRun(fmt::format("rank {} has ended before the others", link.rank));
      }
      if (!link.message) {
        return;
      }
    }
    collecting_ = false;
    received_.emplace();
    for (Link& link : links_) {
      received_->push_back(*std::exchange(link.message, std::nullopt));
    }
  }

  void CheckTimeouts() {
    const Clock::time_point now = Clock::now();
    // This process itself was suspended, so the others' silence means nothing.
    const bool was_suspended =
        now - std::exchange(last_round_, now) > beat_ * 2;
    for (Link& link : links_) {
      if (was_suspended) {
        link.stream.MarkReceived();
      }
      if (link.stream.is_open() && !link.has_left &&
          now - link.stream.last_received() > options_.timeout) {
        EndRun(fmt::format("rank {} has sent nothing for {:g} s", link.rank,
                           ToSeconds(options_.timeout)));
      }
    }
  }

  void SendBeats() {
    const Clock::time_point now = Clock::now();
    if (now - last_beat_ >= beat_) {
      last_beat_ = now;
      PutToAll(FrameKind::kBeat, {});
    }
    for (Link& link : links_) {
      if (link.stream.is_open()) {
        (void)link.stream.Flush();
      }
    }
  }

  // Calls end_process without the lock: it prints, and the process ends.
  void EndProcessIfDue(std::unique_lock<std::mutex>& lock) {
    const bool is_informed = caller_informed_ || leaving_ || sent_bye_;
    if (!end_reason_ ||
        Clock::now() - end_time_ <
            (is_informed ? options_.patience_once_known : options_.patience)) {
      return;
    }
    end_time_ = Clock::now();
    const std::string why = *end_reason_;
    lock.unlock();
    options_.end_process(why);
    lock.lock();
  }

  // Ends the run of all ranks, for this reason.
  void EndRun(const std::string& why) {
    if (end_reason_) {
      return;
    }
    end_reason_ = why;
    end_time_ = Clock::now();
    if (is_first()) {
      PutToAll(FrameKind::kRunFailed, why);
    }
  }

  void PutToAll(FrameKind kind, std::string_view body) {
    for (Link& link : links_) {
      if (link.stream.is_open()) {
        link.stream.Put(kind, body);
      }
    }
  }

  void Wake() const {
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
  }

  [[nodiscard]] bool is_first() const { return place().is_first(); }
  // Whether all goodbyes have been received, or no longer matter.
  [[nodiscard]] bool all_left() const {
    return std::ranges::all_of(links_, [](const Link& link) {
      return !link.stream.is_open() ||
             (link.has_left && !link.stream.has_unsent());
    });
  }

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

}  // namespace

std::unique_ptr<Ranks> MakeStar(const RankPlace& place,
                                std::vector<FrameStream> links,
                                StarOptions options) {
  return std::make_unique<StarRanks>(place, std::move(links),
                                     std::move(options));
}

}  // namespace infeed
