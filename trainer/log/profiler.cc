#include "trainer/log/profiler.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/charts/html_page.h"
#include "base/charts/svg_parts.h"
#include "base/ratio.h"
#include "base/seconds.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

// plugins/profile/NNNNNNNN/FILE
constexpr int kOwnNames = 4;

// How long a span overlaps the window.
double SecondsIn(const TraceEvent& event, const TraceLog::Window& window) {
  return std::max(0.0,
                  ToSeconds(std::min(event.start + event.length, window.to) -
                            std::max(event.start, window.from)));
}

}  // namespace

std::string BusyText(const DeviceTotals& totals) {
  return fmt::format("{} in {:.1f} % of the time",
                     totals.on_gpu ? "The GPU computed"
                                   : "The host ran operations of LibTorch",
                     100 * totals.busy);
}

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

std::string OperationsTable(const Profile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const OperationTotal& total : profile.totals.dearest) {
    rows.push_back({EscapeXml(total.name), std::to_string(total.calls),
                    fmt::format("{:.2f}", 1e3 * total.seconds),
                    fmt::format("{:.1f} %", 100 * total.share)});
  }
  if (rows.empty()) {
    return "";
  }
  return HtmlTable({"operation", "calls", "total, ms", "share"}, rows) +
         "<p class=\"note\">" + EscapeXml(BusyText(profile.totals)) + "</p>\n";
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
  if (options_.device != nullptr) {
    options_.device->Begin();
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
  const DeviceRecord record =
      options_.device == nullptr ? DeviceRecord{} : options_.device->End();
  const std::vector<TraceLog::Thread> threads = log_->Read();
  Profile profile{.step = last_step_,
                  .path = ProfilePath(options_.model_dir, last_step_),
                  .seconds = ToSeconds(window.to - window.from),
                  .shares = ComputeShares(threads, window),
                  .totals = ComputeTotals(record)};
  if (!record.problem.empty() && !std::exchange(told_problem_, true)) {
    profile.problem = record.problem;
  }
  MakeFolder(std::filesystem::path(profile.path).parent_path(),
             "create the folder", kOwnNames - 1);
  log_->Write(profile.path, window, kOwnNames, [&](AtomicFile& file) {
    WriteStepMarks(threads, window, *log_, file);
    WriteOperations(record, *log_, file);
  });
  return profile;
}

}  // namespace infeed
