#include "trainer/ranks/star.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

// Time to send the last frame.
constexpr std::chrono::seconds kLastWords{1};

// Separates a note's key, which has no such byte, from the note.
constexpr char kKeyEnd = '\0';

double SecondsOf(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

StarRanks::StarRanks(const RankPlace& place, std::vector<FrameStream> links,
                     StarOptions options)
    : Ranks(place),
      options_(std::move(options)),
      beat_(std::min<Clock::duration>(options_.timeout / 5,
                                      std::chrono::seconds(5))),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  Check(wake_ >= 0, "an eventfd can be made");
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].is_open()) {
      links[i].HeardNow();
      links[i].Trust();
      links_.push_back({.rank = static_cast<int>(is_first() ? i : 0),
                        .stream = std::move(links[i])});
    }
  }
  thread_ = std::jthread([this] { Serve(); });
}

StarRanks::~StarRanks() {
  if (std::uncaught_exceptions() > 0) {
    Fail("an error");
  }
  std::unique_lock lock(mutex_);
  if (!why_over_ && !leaving_) {
    said_bye_ = true;
    if (!is_first()) {
      PutToAll(FrameKind::kBye, {});
    }
    Wake();
    // Rank 0 serves the others until their goodbyes; they wait for its reply.
    changed_.wait_for(lock, options_.timeout,
                      [this] { return all_heard() || why_over_; });
  }
  changed_.wait_for(lock, kLastWords, [this] { return all_heard(); });
  stop_ = true;
  lock.unlock();
  Wake();
  thread_.join();
  ::close(wake_);
}

std::string StarRanks::Reduce(std::string_view mine, const Reduction& reduce) {
  std::unique_lock lock(mutex_);
  collecting_ = is_first();
  if (!is_first()) {
    PutToAll(FrameKind::kMessage, mine);
  }
  Wake();
  changed_.wait(lock, [this] { return received_ || why_over_; });
  if (!received_) {
    caller_knows_ = true;
    throw IoError(*why_over_);
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

void StarRanks::Post(const std::string& key, std::string_view note) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    Keep(key, note);
  } else {
    PutToAll(FrameKind::kNote, key + kKeyEnd + std::string(note));
  }
  Wake();
}

std::string StarRanks::Read(const std::string& key,
                            std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!is_first() && !notes_.contains(key)) {
    PutToAll(FrameKind::kRead, key);
    Wake();
  }
  changed_.wait_for(lock, timeout,
                    [&] { return notes_.contains(key) || why_over_; });
  if (notes_.contains(key)) {
    return notes_[key];
  }
  if (why_over_) {
    caller_knows_ = true;
    throw IoError(*why_over_);
  }
  throw IoError(fmt::format(
      "rank {}: cannot join the others: within {:g} s none of them has said {}",
      place().rank, SecondsOf(timeout), key));
}

void StarRanks::Fail(std::string_view message) noexcept {
  std::unique_lock lock(mutex_);
  if (std::exchange(leaving_, true)) {
    return;
  }
  if (!why_over_) {
    PutToAll(is_first() ? FrameKind::kVerdict : FrameKind::kFailed,
             is_first() ? fmt::format("rank 0 failed: {}", message)
                        : std::string(message));
  }
  Wake();
  changed_.wait_for(lock, kLastWords, [this] { return all_heard(); });
}

std::optional<std::string> StarRanks::WhyOver(
    std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return why_over_.has_value(); });
  caller_knows_ = caller_knows_ || why_over_;
  return why_over_;
}

void StarRanks::Wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

bool StarRanks::all_heard() const {
  return std::ranges::all_of(links_, [](const Link& link) {
    return !link.stream.is_open() ||
           (link.has_left && !link.stream.has_unsent());
  });
}

void StarRanks::PutToAll(FrameKind kind, std::string_view body) {
  for (Link& link : links_) {
    if (link.stream.is_open()) {
      link.stream.Put(kind, body);
    }
  }
}

void StarRanks::Condemn(const std::string& why) {
  if (why_over_) {
    return;
  }
  why_over_ = why;
  over_since_ = Clock::now();
  if (is_first()) {
    PutToAll(FrameKind::kVerdict, why);
  }
}

void StarRanks::Serve() {
  (void)::pthread_setname_np(::pthread_self(), "ranks");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    Poll();
    lock.lock();
    ServeLinks();
    TakeMessages();
    LookForSilence();
    SendBeats();
    EndProcessIfDue(lock);
    changed_.notify_all();
  }
}

// Without a lock: only this thread opens and closes links.
void StarRanks::Poll() {
  std::vector<pollfd> polled = {{.fd = wake_, .events = POLLIN, .revents = 0}};
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

void StarRanks::ServeLinks() {
  for (Link& link : links_) {
    if (link.stream.is_open()) {
      (void)link.stream.Flush();  // Reading reports an error, too.
      Hear(link);
    }
  }
}

void StarRanks::Hear(Link& link) {
  const bool is_there = link.stream.Fill();
  while (std::optional<Frame> frame = link.stream.Take()) {
    Obey(link, *std::move(frame));
  }
  if (!is_there) {
    link.stream.Close();
    if (!link.has_left) {
      Condemn(fmt::format(
          "rank {} ended without a word: was it killed? Its own last lines, or "
          "the system's log, may say why",
          link.rank));
    }
  }
}

void StarRanks::Obey(Link& link, Frame frame) {
  switch (frame.kind) {
    case FrameKind::kMessage:
      link.message = std::move(frame.body);
      return;
    case FrameKind::kAnswer:
      received_ = std::vector<std::string>{std::move(frame.body)};
      return;
    case FrameKind::kFailed:
      link.has_left = true;
      Condemn(fmt::format("rank {} failed: {}", link.rank, frame.body));
      return;
    case FrameKind::kVerdict:
      link.has_left = true;
      link.stream.Put(FrameKind::kBye);
      Condemn(frame.body);
      return;
    case FrameKind::kBye:
      link.has_left = true;
      if (is_first()) {
        link.stream.Put(FrameKind::kBye);
      }
      return;
    case FrameKind::kNote:
      KeepSent(frame.body);
      return;
    case FrameKind::kRead:
      Answer(link, frame.body);
      return;
    case FrameKind::kHello:
    case FrameKind::kBeat:
      return;
  }
}

void StarRanks::KeepSent(std::string_view key_and_note) {
  const std::size_t end = key_and_note.find(kKeyEnd);
  Keep(std::string(key_and_note.substr(0, end)),
       end == std::string_view::npos ? "" : key_and_note.substr(end + 1));
}

void StarRanks::Keep(const std::string& key, std::string_view note) {
  notes_[key] = note;
  for (Link& link : links_) {
    if (std::erase(link.wanted, key) > 0) {
      Answer(link, key);
    }
  }
}

// Answers a Read() once the note is there.
void StarRanks::Answer(Link& link, const std::string& key) {
  const auto note = notes_.find(key);
  if (note == notes_.end()) {
    link.wanted.push_back(key);
  } else if (link.stream.is_open()) {
    link.stream.Put(FrameKind::kNote, key + kKeyEnd + note->second);
  }
}

// On rank 0: passes the messages to Reduce() once all are there.
void StarRanks::TakeMessages() {
  if (!collecting_ || why_over_) {
    return;
  }
  for (const Link& link : links_) {
    if (!link.message && link.has_left) {
      Condemn(fmt::format("rank {} has ended before the others", link.rank));
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

void StarRanks::LookForSilence() {
  const Clock::time_point now = Clock::now();
  // This process itself was suspended, so the others' silence means nothing.
  const bool slept = now - std::exchange(last_round_, now) > beat_ * 2;
  for (Link& link : links_) {
    if (slept) {
      link.stream.HeardNow();
    }
    if (link.stream.is_open() && !link.has_left &&
        now - link.stream.last_heard() > options_.timeout) {
      Condemn(fmt::format("rank {} has been silent for {:g} s", link.rank,
                          SecondsOf(options_.timeout)));
    }
  }
}

void StarRanks::SendBeats() {
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
void StarRanks::EndProcessIfDue(std::unique_lock<std::mutex>& lock) {
  const bool knows = caller_knows_ || leaving_ || said_bye_;
  if (!why_over_ ||
      Clock::now() - over_since_ <
          (knows ? options_.patience_once_known : options_.patience)) {
    return;
  }
  over_since_ = Clock::now();
  const std::string why = *why_over_;
  lock.unlock();
  options_.end_process(why);
  lock.lock();
}

}  // namespace infeed
