#include "pipeline/stats/trace_log.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ratio>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"

namespace infeed {
namespace {

std::int64_t NextNumber() {
  static std::atomic<std::int64_t> numbers{0};
  return ++numbers;
}

// The calling thread's name as tools like top show it; '?' replaces quotes,
// backslashes and unprintable characters.
std::string ThreadName() {
  std::array<char, 32> text{};
  if (::pthread_getname_np(::pthread_self(), text.data(), text.size()) != 0) {
    return "thread";
  }
  std::string name = text.data();
  std::ranges::replace_if(
      name, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; },
      '?');
  return name;
}

// Microseconds with nanosecond digits; negative for what began before the log.
std::string Microseconds(TraceLog::Clock::duration time) {
  return fmt::format("{:.3f}",
                     std::chrono::duration<double, std::micro>(time).count());
}

std::string Head(std::string_view name, char kind, int thread) {
  return fmt::format(R"({{"name":"{}","ph":"{}","pid":{},"tid":{})", name, kind,
                     ::getpid(), thread);
}

std::string NameLine(std::string_view kind, int id, std::string_view name) {
  return Head(kind, 'M', id) +
         fmt::format(R"(,"args":{{"name":"{}"}}}})", name);
}

std::string PlaceText(const TracePlace& place) {
  return place.step >= 0
             ? fmt::format(R"("step":{})", place.step)
             : fmt::format(R"("epoch":{},"position":{},"batch":{})",
                           place.epoch, place.position, place.batch);
}

std::string EventLine(const TraceEvent& event, int thread,
                      TraceLog::Clock::time_point started) {
  const std::string at = ",\"ts\":" + Microseconds(event.start - started);
  return event.is_count
             ? Head(event.name, 'C', thread) + at +
                   fmt::format(R"(,"args":{{"count":{}}}}})", event.count)
             : Head(event.name, 'X', thread) + at +
                   fmt::format(R"(,"cat":"infeed","dur":{},"args":{{{}}}}})",
                               Microseconds(event.length),
                               PlaceText(event.place));
}

}  // namespace

TraceLog::TraceLog(std::int64_t max_events)
    : number_(NextNumber()),
      max_events_(std::max<std::int64_t>(max_events, 0)),
      events_left_(max_events_) {}

void TraceLog::Restart() {
  const std::lock_guard lock(mutex_);
  number_.store(NextNumber(), std::memory_order_relaxed);
  threads_.clear();
  events_left_ = max_events_;
  dropped_.store(0, std::memory_order_relaxed);
  full_.store(false, std::memory_order_relaxed);
  recording_.store(true, std::memory_order_relaxed);
}

void TraceLog::Add(const TraceEvent& event) {
  if (!recording_.load(std::memory_order_relaxed)) {
    return;
  }
  thread_local Place place;
  if ((place.log != number_.load(std::memory_order_relaxed) ||
       place.block->size.load(std::memory_order_relaxed) ==
           place.block->capacity) &&
      !NextBlock(place)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Block& block = *place.block;
  const std::size_t size = block.size.load(std::memory_order_relaxed);
  block.events[size] = event;
  block.size.store(size + 1, std::memory_order_release);
}

bool TraceLog::NextBlock(Place& place) {
  if (full_.load(std::memory_order_relaxed)) {
    return false;
  }
  auto block = std::make_shared<Block>();
  const std::lock_guard lock(mutex_);
  block->capacity = static_cast<std::size_t>(
      std::min<std::int64_t>(kBlockEvents, events_left_));
  if (block->capacity == 0) {
    full_.store(true, std::memory_order_relaxed);
    return false;
  }
  events_left_ -= static_cast<std::int64_t>(block->capacity);
  // glibc has gettid() from 2.30 on only.
  OfThread& thread = threads_[static_cast<int>(::syscall(SYS_gettid))];
  thread.name = ThreadName();
  thread.blocks.push_back(block);
  place = {.log = number_.load(std::memory_order_relaxed),
           .block = std::move(block)};
  return true;
}

std::vector<TraceLog::Thread> TraceLog::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<Thread> threads;
  for (const auto& [id, of_thread] : threads_) {
    Thread thread{.id = id, .name = of_thread.name, .events = {}};
    for (const std::shared_ptr<Block>& block : of_thread.blocks) {
      const std::size_t size = block->size.load(std::memory_order_acquire);
      thread.events.insert(
          thread.events.end(), block->events.begin(),
          block->events.begin() + static_cast<std::ptrdiff_t>(size));
    }
    threads.push_back(std::move(thread));
  }
  return threads;
}

void TraceLog::Write(const std::string& path, const Window& window,
                     int own_names, const MoreEvents& more) const {
  AtomicFile file(path, own_names);
  file.Write(fmt::format(
      R"({{"displayTimeUnit":"ms","otherData":{{"dropped_events":"{}"}},)"
      "\"traceEvents\":[\n{}",
      dropped(), NameLine("process_name", ::getpid(), "infeed")));
  for (const Thread& thread : Read()) {
    file.Write(",\n" + NameLine("thread_name", thread.id, thread.name));
    for (const TraceEvent& event : thread.events) {
      if (window.Holds(event)) {
        file.Write(",\n" + EventLine(event, thread.id, started_));
      }
    }
  }
  more(file);
  file.Write("\n]}\n");
  file.Commit();
}

}  // namespace infeed
