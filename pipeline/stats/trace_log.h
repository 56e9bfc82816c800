#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// Which sample, or the first one of which batch, a span is about.
struct TracePlace {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;  // in the epoch
  std::int64_t batch = 0;     // of the stream, from 0
  std::int64_t step = -1;     // of a training; -1: it is about a sample
};

// What a span or a count was. Names are of static storage.
struct TraceEvent {
  std::string_view name;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::duration length{};
  TracePlace place{};
  bool is_count = false;
  std::int64_t count = 0;
};

// Who did what when: the spans of all stages, and how much lay in the queues,
// for a run that is looked at closely (chrome://tracing, ui.perfetto.dev).
//
// Owns the events, in blocks that each belong to one thread, so that adding
// one takes no lock but where a block is full. At most max_events are kept,
// each a hundred bytes; the rest is counted and dropped. Thread-safe.
class TraceLog {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TraceLog(std::int64_t max_events = 1'000'000);
  ~TraceLog() = default;
  TraceLog(const TraceLog&) = delete;
  TraceLog& operator=(const TraceLog&) = delete;

  // The calling thread was at something. Requires: name is of static storage,
  // here and below.
  void Span(std::string_view name, Clock::time_point start,
            Clock::time_point end, const TracePlace& place) {
    Add({.name = name, .start = start, .length = end - start, .place = place});
  }
  // So much lies in a queue from now on.
  void Count(std::string_view name, Clock::time_point now, std::int64_t count) {
    Add({.name = name, .start = now, .is_count = true, .count = count});
  }

  // Nothing is kept from here on, until Restart(), which forgets all that is
  // there. What other threads add at the same moment may be kept or not.
  void Pause() { recording_.store(false, std::memory_order_relaxed); }
  void Restart();

  [[nodiscard]] std::int64_t dropped() const {
    return dropped_.load(std::memory_order_relaxed);
  }

  // The events of one thread so far, in the order in which they were added.
  struct Thread {
    int id = 0;  // the system's
    std::string name;
    std::vector<TraceEvent> events;
  };
  [[nodiscard]] std::vector<Thread> Read() const;

  // Events from one moment to another.
  struct Window {
    Clock::time_point from = Clock::time_point::min();
    Clock::time_point to = Clock::time_point::max();

    // Whether some of the event lies in it.
    [[nodiscard]] bool Holds(const TraceEvent& event) const {
      return event.start < to && event.start + event.length >= from;
    }
  };

  // Writes the events so far as Chrome's trace event JSON. Throws IoError.
  void Write(const std::string& path) const { Write(path, Window{}); }
  void Write(const std::string& path, const Window& window) const;

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
  // The block that a thread adds to, and whose it is. It lives on with the
  // thread where the log forgets it.
  struct Place {
    std::int64_t log = 0;
    std::shared_ptr<Block> block = {};
  };

  void Add(const TraceEvent& event);
  // Gives the calling thread a block with room; false: there is no more.
  bool NextBlock(Place& place);

  // Of all logs of the process, from 1; another one after each Restart().
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
