#include "bench/engine/stage_round.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/seconds.h"
#include "pipeline/stats/stage_counters.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Threads that work until Stop() is called or one of them fails.
class Team {
 public:
  Team(const StageWork& work, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &work] { Work(work); });
    }
  }
  ~Team() { Join(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] bool is_stopped() const { return stopped_.load(); }

  // Stops the threads and returns their statistics. Throws the first error.
  StageStats Stop(std::string name) {
    Join();
    if (error_) {
      std::rethrow_exception(error_);
    }
    return counter_.Read(std::move(name));
  }

 private:
  void Join() {
    stopped_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) {
        thread.join();
      }
    }
  }

  void Work(const StageWork& work) {
    try {
      const std::unique_ptr<StageWorker> worker = work.MakeWorker();
      do {
        const StageWorker::Done done = worker->Do(next_.fetch_add(1));
        counter_.Add(done.bytes, done.busy, Clock::duration::zero());
      } while (!stopped_);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      error_ = error_ ? error_ : std::current_exception();
      stopped_ = true;
    }
  }

  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> next_{0};
  StageCounter counter_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace

ThroughputRound MeasureStage(Stage stage, const StageWork& work,
                             const InputOptions& input,
                             const RoundOptions& options) {
  const CpuCounters counters;  // Created before the threads that it counts.
  const Clock::time_point start = Clock::now();
  const auto seconds = [start] { return SecondsSince(start); };
  Team team(work, input.threads);
  while (!team.is_stopped() && seconds() < options.seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(
        std::clamp(options.seconds - seconds(), 0.0, 0.1)));
    options.progress(seconds());
  }
  const StageStats done = team.Stop(std::string(StageName(stage)));

  ThroughputRound round{.images = done.items, .cpu = counters.Read()};
  round.images_per_second =
      static_cast<double>(done.items) * input.threads / done.busy_seconds;
  round.stats.elapsed_seconds = seconds();
  round.stats.threads = input.threads;
  round.stats.stages = {done};
  return round;
}

}  // namespace infeed
