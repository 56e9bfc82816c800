#include "tools/converter.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/bounded_queue.h"
#include "base/error.h"
#include "tools/parallel_for.h"
#include "tools/shard_converter.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEventsInFlight = 256;

// What a worker tells the calling thread: an image is done, or a shard.
struct Event {
  std::optional<ShardResult> shard;
};

void RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) {
    throw IoError(path, "remove", error.value());
  }
}

// Makes the folders and takes away what would contradict the new shards. The
// old dataset.json goes first: it describes what is about to change.
void PrepareFolder(const ConversionPlan& plan, const std::string& output_dir,
                   bool overwrite) {
  const std::vector<std::string> stale = StaleShards(plan, output_dir);
  if (!stale.empty() && !overwrite) {
    throw UsageError(
        output_dir + ": has " + std::to_string(stale.size()) +
        " shards that this conversion would not replace, such as " +
        stale.front() +
        ": give an empty folder, or --overwrite to remove them");
  }
  MakeFolder(output_dir);
  RemoveFile(output_dir + "/dataset.json");
  for (const std::string& path : stale) {
    RemoveFile(path);
  }
  for (const PlannedSplit& split : plan.splits) {
    MakeFolder(fs::path(output_dir + "/" + split.shards.front().name)
                   .parent_path()
                   .string());
  }
}

std::vector<ShardTask> TasksOf(const ConversionPlan& plan) {
  std::vector<ShardTask> tasks;
  for (std::size_t split = 0; split < plan.splits.size(); ++split) {
    for (std::size_t i = 0; i < plan.splits[split].shards.size(); ++i) {
      tasks.push_back({split, i});
    }
  }
  return tasks;
}

// Lets the workers stop when their reader goes, whatever the reason.
class Canceller {
 public:
  explicit Canceller(BoundedQueue<Event>& queue) : queue_(queue) {}
  ~Canceller() { queue_.Cancel(); }
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

 private:
  BoundedQueue<Event>& queue_;
};

// Writes all shards in parallel. Returns their results in the plan's order.
std::vector<ShardResult> WriteShards(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_progress) {
  const std::vector<ShardTask> tasks = TasksOf(plan);
  BoundedQueue<Event> events(kEventsInFlight);
  const auto write_shard = [&](std::size_t i) {
    try {
      ShardConverter converter(plan, output_dir, options);
      std::optional<ShardResult> result =
          converter.Write(tasks[i], [&] { return events.Push(Event{}); });
      if (result) {
        events.Push(Event{std::move(result)});
      }
    } catch (...) {
      events.Close(std::current_exception());  // Stops the other shards, too.
      throw;
    }
  };
  const std::jthread workers([&] {
    try {
      ParallelFor(tasks.size(), options.threads, write_shard);
      events.Close();
    } catch (...) {
      events.Close(std::current_exception());
    }
  });
  const Canceller canceller(events);
  std::vector<ShardResult> results;
  std::int64_t images = 0;
  while (std::optional<Event> event = events.Pop()) {
    if (event->shard) {
      results.push_back(std::move(*event->shard));
    } else {
      on_progress(++images);
    }
  }
  std::sort(results.begin(), results.end(),
            [](const ShardResult& a, const ShardResult& b) {
              return std::pair(a.task.split, a.task.shard) <
                     std::pair(b.task.split, b.task.shard);
            });
  return results;
}

ConversionReport Report(const ConversionPlan& plan,
                        std::vector<ShardResult> results) {
  ConversionReport report;
  report.info.seed = plan.seed;
  for (const ImageClass& image_class : plan.classes) {
    report.info.classes.push_back(image_class.name);
  }
  for (const PlannedSplit& split : plan.splits) {
    report.info.splits.push_back({split.name, 0, {}});
  }
  for (ShardResult& result : results) {
    DatasetInfo::Split& split = report.info.splits[result.task.split];
    split.records += result.info.records;
    split.shards.push_back(std::move(result.info));
    report.reencoded += result.reencoded;
    std::move(result.skipped.begin(), result.skipped.end(),
              std::back_inserter(report.skipped));
  }
  return report;
}

void WriteLabels(const std::string& output_dir, const DatasetInfo& info) {
  std::string text;
  for (const std::string& name : info.classes) {
    text.append(name).append("\n");
  }
  WriteFileAtomically(output_dir + "/labels.txt", text);
}

}  // namespace

ConversionReport Convert(const ConversionPlan& plan,
                         const std::string& output_dir,
                         const ConverterOptions& options,
                         const std::function<void(std::int64_t)>& on_progress) {
  PrepareFolder(plan, output_dir, options.overwrite);
  ConversionReport report =
      Report(plan, WriteShards(plan, output_dir, options, on_progress));
  for (const DatasetInfo::Split& split : report.info.splits) {
    if (split.records == 0) {
      throw DataError(
          split.name + ": not one of its images is good; the first: " +
          report.skipped.front().path + ": " + report.skipped.front().reason);
    }
  }
  WriteLabels(output_dir, report.info);
  WriteDatasetInfo(output_dir, report.info);
  return report;
}

}  // namespace infeed
