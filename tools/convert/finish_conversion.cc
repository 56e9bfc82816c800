#include "tools/convert/finish_conversion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "tools/cli/parallel_for.h"
#include "tools/convert/earlier_work.h"

namespace infeed {
namespace {

constexpr std::size_t kShardsNamed = 20;

// Collects the faults of a plan's shards, in one line.
class Faults {
 public:
  explicit Faults(const TaskShare& share) : share_(share) {}

  void Add(std::int64_t number, const std::string& name,
           const std::string& problem) {
    tasks_.push_back(number % share_.count);
    if (tasks_.size() <= kShardsNamed) {
      text_ += fmt::format("{}{} ({}{})", text_.empty() ? "" : "; ", name,
                           Whose(), problem);
    }
  }

  void Throw(const std::string& output_dir, std::size_t shards) {
    if (tasks_.empty()) {
      return;
    }
    std::string text =
        fmt::format("{}: {} of {} shards are missing or do not fit: {}",
                    output_dir, tasks_.size(), shards, text_);
    if (tasks_.size() > kShardsNamed) {
      text += fmt::format("; and {} more", tasks_.size() - kShardsNamed);
    }
    throw IoError(text + Advice());
  }

 private:
  // The task whose fault was added last.
  [[nodiscard]] std::string Whose() const {
    return share_.IsAll() ? "" : fmt::format("task {}: ", tasks_.back());
  }

  std::string Advice() {
    if (share_.IsAll()) {
      return ": run the conversion again, without --finish";
    }
    std::sort(tasks_.begin(), tasks_.end());
    tasks_.erase(std::unique(tasks_.begin(), tasks_.end()), tasks_.end());
    return fmt::format(": run again, of {} tasks, {}", share_.count,
                       fmt::join(tasks_, ", "));
  }

  TaskShare share_;
  std::vector<std::int64_t> tasks_;  // of each faulty shard
  std::string text_;
};

}  // namespace

ConversionReport FinishConversion(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_shard) {
  const std::vector<ShardTask> tasks = TasksOf(plan, {});
  ShardFingerprints fingerprints(plan, options);
  std::vector<std::string> expected;
  expected.reserve(tasks.size());
  for (const ShardTask& task : tasks) {
    expected.push_back(fingerprints.Of(task));
  }
  std::vector<ShardState> states(tasks.size());
  ConverterOptions checks = options;
  checks.verify_resume = true;
  std::mutex mutex;
  std::int64_t checked = 0;
  ParallelFor(tasks.size(), options.threads, [&](std::size_t i) {
    states[i] =
        StateOf(output_dir, plan.At(tasks[i]).name, expected[i], checks);
    const std::lock_guard lock(mutex);
    on_shard(++checked);
  });

  Faults faults(options.share);
  std::vector<ShardResult> results;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (states[i].problem.empty()) {
      results.push_back(
          {.task = tasks[i], .shard = std::move(states[i].shard)});
    } else {
      faults.Add(static_cast<std::int64_t>(i), plan.At(tasks[i]).name,
                 states[i].problem);
    }
  }
  faults.Throw(output_dir, tasks.size());
  ConversionReport report = MakeReport(plan, {}, std::move(results));
  WriteReport(output_dir, report);
  WriteDescription(output_dir, report);
  return report;
}

}  // namespace infeed
