#include "tools/convert/converter.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/bounded_queue.h"
#include "base/count_text.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "tools/cli/parallel_for.h"
#include "tools/convert/conversion_text.h"
#include "tools/convert/earlier_work.h"
#include "tools/convert/graph.h"
#include "tools/convert/record_maker.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEventsInFlight = 256;
// Enough that other threads have work while one image takes several times
// longer.
constexpr int kImagesPerThread = 4;
constexpr std::size_t kShardsNamed = 20;  // in a message

// A worker's message to the calling thread: an image or a shard is done.
struct Event {
  std::optional<ShardResult> shard;
};

void CheckNothingIsStale(const std::vector<std::string>& stale,
                         const std::string& output_dir, bool overwrite) {
  if (!stale.empty() && !overwrite) {
    throw UsageError(fmt::format(
        "{}: has {} that this conversion would not replace, such as {}: give "
        "an empty folder, or --overwrite to remove them",
        output_dir, CountText(stale.size(), "shard"), stale.front()));
  }
}

void CheckNothingIsForeign(const std::vector<std::string>& foreign,
                           const std::string& output_dir, bool overwrite) {
  if (!foreign.empty() && !overwrite) {
    throw UsageError(fmt::format(
        "{}: has {} of another input, of other flags or of another program, "
        "such as {}: give an empty folder, or --overwrite to replace them",
        output_dir, CountText(foreign.size(), "file"), foreign.front()));
  }
}

// Creates the folders and removes files that would contradict the new shards,
// even shards that these replace: a killed run then leaves no mixture of old
// and new shards that looks like a complete set. The old dataset.json is
// removed first, unless nothing that it describes changes.
void PrepareFolder(const ConversionPlan& plan, const std::string& output_dir,
                   const std::vector<std::string>& stale,
                   const EarlierWork& work, const ConverterOptions& options) {
  MakeFolder(ConversionSideFolder(output_dir), "create", 1);
  WriteConversionKey(plan, output_dir, options);
  if (!work.missing.empty() || !stale.empty()) {
    WriteUnfinished(output_dir, ShardNames(plan));
    RemoveFile(output_dir + "/dataset.json");
  }
  std::vector<std::string> old = stale;
  for (const FingerprintedTask& missing : work.missing) {
    old.push_back(output_dir + "/" + plan.At(missing.task).name);
  }
  for (const std::string& path : old) {
    RemoveFile(FinishedShardPath(output_dir, path));
    RemoveFile(path);
  }
  for (const PlannedSplit& split : plan.splits) {
    const std::string& name = split.shards.front().name;
    MakeFolder(fs::path(output_dir + "/" + name).parent_path().string(),
               "create", static_cast<int>(std::ranges::count(name, '/')));
  }
}

// Stops the workers when the reader of their messages ends for any reason.
class Canceller {
 public:
  explicit Canceller(BoundedQueue<Event>& queue) : queue_(queue) {}
  ~Canceller() { queue_.Cancel(); }
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

 private:
  BoundedQueue<Event>& queue_;
};

// Writes shards, adds their results, and counts their images.
void WriteShards(const ConversionPlan& plan, const std::string& output_dir,
                 std::vector<FingerprintedTask> tasks,
                 const ConverterOptions& options,
                 const std::function<void()>& on_image,
                 std::vector<ShardResult>& results) {
  BoundedQueue<Event> events(kEventsInFlight);
  const auto threads = static_cast<int>(ThreadCount(options.threads));
  RecordMaker maker(plan, options, threads);
  ShardConverter converter(
      plan, output_dir, std::move(tasks), maker,
      {.on_image = [&] { return events.Push(Event{}); },
       .on_shard =
           [&](ShardResult result) { events.Push(Event{std::move(result)}); }});
  const std::jthread worker([&] {
    try {
      RunConversionGraph(
          converter,
          {.threads = threads, .images_in_flight = kImagesPerThread * threads});
      events.Close();
    } catch (...) {
      events.Close(std::current_exception());
    }
  });
  const Canceller canceller(events);
  while (std::optional<Event> event = events.Pop()) {
    if (event->shard) {
      results.push_back(std::move(*event->shard));
    } else {
      on_image();
    }
  }
}

ConversionProgress InitialProgress(const ConversionPlan& plan,
                                   const EarlierWork& earlier) {
  ConversionProgress progress;
  for (const ShardResult& result : earlier.kept) {
    progress.kept += plan.At(result.task).count;
  }
  progress.done = progress.kept;
  progress.total = progress.kept;
  for (const FingerprintedTask& missing : earlier.missing) {
    progress.total += plan.At(missing.task).count;
  }
  return progress;
}

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
        fmt::format("{}: {} of {} shards are missing or do not match: {}",
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

ConversionReport Convert(const ConversionPlan& plan,
                         const std::string& output_dir,
                         const ConverterOptions& options,
                         const OnProgress& on_progress) {
  const std::vector<std::string> stale = StaleShards(plan, output_dir);
  CheckNothingIsStale(stale, output_dir, options.overwrite);
  EarlierWork work = FindEarlierWork(plan, output_dir, options);
  CheckNothingIsForeign(work.foreign, output_dir, options.overwrite);
  PrepareFolder(plan, output_dir, stale, work, options);
  RemoveDeadTemporaries(plan, output_dir, options.share);

  ConversionProgress progress = InitialProgress(plan, work);
  const auto report_progress = [&] {
    if (on_progress) {
      on_progress(progress);
    }
  };
  report_progress();
  std::vector<ShardResult> results = std::move(work.kept);
  WriteShards(
      plan, output_dir, std::move(work.missing), options,
      [&] {
        ++progress.done;
        report_progress();
      },
      results);
  std::ranges::sort(results, {}, &ShardResult::task);

  ConversionReport report = MakeReport(plan, options.share, std::move(results));
  report.replaced_shards = std::ssize(work.replaced);
  WriteReport(output_dir, report);
  if (options.share.IsAll()) {
    WriteDescription(output_dir, report);
  }
  return report;
}

ConversionReport FinishConversion(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_shard) {
  const std::vector<ShardTask> tasks = SelectTasks(plan, {});
  const ShardFingerprints fingerprints(plan, options);
  std::vector<ShardState> states(tasks.size());
  ConverterOptions checks = options;
  checks.verify_resume = true;
  std::mutex mutex;
  std::int64_t checked = 0;
  ParallelFor(tasks.size(), options.threads, [&](std::size_t i) {
    states[i] = CheckShard(output_dir, plan.At(tasks[i]).name,
                           fingerprints.Of(tasks[i]), checks);
    const std::lock_guard lock(mutex);
    ++checked;
    if (on_shard) {
      on_shard(checked);
    }
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
