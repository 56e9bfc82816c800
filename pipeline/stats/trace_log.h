#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

class AtomicFile;

// The sample that a span is about, or the first sample of its batch.
struct TracePlace {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;  // in the epoch
  std::int64_t batch = 0;     // of the stream, from 0
  std::int64_t step = -1;     // training step; -1: about a sample
};

// A span or a count. Names have static storage.
struct TraceEvent {
  std::string_view name;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::duration length{};
  TracePlace place{};
  bool is_count = false;
  std::int64_t count = 0;
};

// Records the spans of all stages by thread, and the lengths of the queues, to
// inspect a run closely (chrome://tracing, ui.perfetto.dev).
//
// Owns the events, in blocks that each belong to one thread, so that adding an
// event takes a lock only when a block is full. At most max_events are kept, of
// a hundred bytes each; the rest is counted and dropped. Thread-safe.
class TraceLog {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TraceLog(std::int64_t max_events = 1'000'000);
  ~TraceLog() = default;
  TraceLog(const TraceLog&) = delete;
  TraceLog& operator=(const TraceLog&) = delete;

  // Adds a span of the calling thread. Requires: name has static storage, here
  // and below.
  void Span(std::string_view name, Clock::time_point start,
            Clock::time_point end, const TracePlace& place) {
    Add({.name = name, .start = start, .length = end - start, .place = place});
  }
  // Adds the length of a queue at a moment.
  void Count(std::string_view name, Clock::time_point now, std::int64_t count) {
    Add({.name = name, .start = now, .is_count = true, .count = count});
  }

  // Ignores events until Restart(), which drops all events kept so far. Events
  // that other threads add at the same moment may be kept or not.
  void Pause() { recording_.store(false, std::memory_order_relaxed); }
  void Restart();

  [[nodiscard]] std::int64_t dropped() const {
    return dropped_.load(std::memory_order_relaxed);
  }

  // The events of one thread so far, in the order in which they were added.
  struct Thread {
    int id = 0;  // of the operating system
    std::string name;
    std::vector<TraceEvent> events;
  };
  [[nodiscard]] std::vector<Thread> Read() const;

  // Events from one moment to another.
  struct Window {
    Clock::time_point from = Clock::time_point::min();
    Clock::time_point to = Clock::time_point::max();

    // Whether part of the event lies in the window.
    [[nodiscard]] bool Holds(const TraceEvent& event) const {
      return event.start < to && event.start + event.length >= from;
    }
  };

  // Writes the events so far as Chrome's trace event JSON. own_names: as
  // AtomicFile takes it. more: writes events of others, each after ",\n", with
  // times since started(). Throws IoError.
  using MoreEvents = std::function<void(AtomicFile& file)>;
  void Write(const std::string& path) const { Write(path, Window{}); }
  void Write(
      const std::string& path, const Window& window, int own_names = 0,
      const MoreEvents& more = [](AtomicFile&) {}) const;

  // The time 0 of what is written.
  [[nodiscard]] Clock::time_point started() const { return started_; }

 private:
  static constexpr std::size_t kBlockEvents = 1024;

  // Written by one thread, which publishes by size; read by any.
  struct Block {
    std::array<TraceEvent, kBlockEvents> events;
    std::size_t capacity = 0;
    std::atomic<std::size_t> size{0};
  };
  struct OfThread {
    std::string name;
    std::vector<std::shared_ptr<Block>> blocks;
  };
  // The block that a thread adds to, and its log. The thread keeps it alive
  // after the log drops it.
  struct Place {
    std::int64_t log = 0;
    std::shared_ptr<Block> block = {};
  };

  void Add(const TraceEvent& event);
  // Gives the calling thread a block with room; false: max_events is reached.
  bool NextBlock(Place& place);

  // Unique among the process's logs, from 1; changes with each Restart().
  std::atomic<std::int64_t> number_;
  const std::int64_t max_events_;
  const Clock::time_point started_ = Clock::now();
  std::atomic<bool> recording_{true};
  std::atomic<bool> full_{false};
  std::atomic<std::int64_t> dropped_{0};
  mutable std::mutex mutex_;
  std::int64_t events_left_;
  std::map<int, OfThread> threads_;
};

// Adds a span to a log that may be missing.
inline void TraceSpan(TraceLog* log, std::string_view name,
                      TraceLog::Clock::time_point start,
                      TraceLog::Clock::time_point end,
                      const TracePlace& place) {
  if (log != nullptr) {
    log->Span(name, start, end, place);
  }
}

}  // namespace infeed
