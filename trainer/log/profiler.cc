#include "trainer/log/profiler.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "base/ratio.h"
#include "base/seconds.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

// How long a span overlaps the window.
double SecondsIn(const TraceEvent& event, const TraceLog::Window& window) {
  return std::max(0.0,
                  ToSeconds(std::min(event.start + event.length, window.to) -
                            std::max(event.start, window.from)));
}

}  // namespace

ProfileShares ComputeShares(const std::vector<TraceLog::Thread>& threads,
                            const TraceLog::Window& window) {
  const double all = ToSeconds(window.to - window.from);
  const auto share = [&](std::string_view name) {
    double seconds = 0;
    for (const TraceLog::Thread& thread : threads) {
      for (const TraceEvent& event : thread.events) {
        if (event.name == name && !event.is_count) {
          seconds += SecondsIn(event, window);
        }
      }
    }
    return Share(seconds, all);
  };
  return {.input_wait = share("input wait"),
          .checkpoints = share("checkpoint"),
          .evaluations = share("evaluation")};
}

Profiler::Profiler(const ProfilerOptions& options, TraceLog* shared, Now now)
    : options_(options),
      now_(std::move(now)),
      log_(shared),
      last_step_(options.first_step),
      last_time_(now_()) {
  if (log_ == nullptr && options.every_n_steps > 0) {
    log_ = &own_.emplace();
    log_->Pause();
  }
}

void Profiler::BeginIfDue(std::int64_t step) {
  if (running_ || !is_due(step)) {
    return;
  }
  running_ = true;
  last_step_ = step;
  last_time_ = now_();
  if (own_) {
    own_->Restart();
  }
}

std::optional<Profile> Profiler::End() {
  if (!std::exchange(running_, false)) {
    return std::nullopt;
  }
  const TraceLog::Window window{.from = last_time_, .to = now_()};
  if (own_) {
    own_->Pause();
  }
  Profile profile{.step = last_step_,
                  .path = ProfilePath(options_.model_dir, last_step_),
                  .seconds = ToSeconds(window.to - window.from),
                  .shares = ComputeShares(log_->Read(), window)};
  MakeFolder(std::filesystem::path(profile.path).parent_path(),
             "create the folder", 1);
  log_->Write(profile.path, window, kInOwnFolder);
  return profile;
}

}  // namespace infeed
