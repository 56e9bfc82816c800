#include "tools/converter.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/bounded_queue.h"
#include "base/error.h"
#include "tools/conversion_graph.h"
#include "tools/record_maker.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEventsInFlight = 256;
// Enough that the others go on while one image takes several times longer.
constexpr int kImagesPerThread = 4;

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

RecordMakerOptions MakerOptions(const ConverterOptions& options) {
  return {.on_bad_image = options.on_bad_image,
          .image = {.verify = options.verify_images},
          .threads = options.threads > 0
                         ? options.threads
                         : static_cast<int>(std::max(
                               1U, std::thread::hardware_concurrency()))};
}

// Writes the shards. Returns their results in the plan's order.
std::vector<ShardResult> WriteShards(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_progress) {
  BoundedQueue<Event> events(kEventsInFlight);
  const RecordMakerOptions maker_options = MakerOptions(options);
  RecordMaker maker(plan.classes, maker_options);
  ShardConverter converter(
      plan, output_dir, TasksOf(plan), maker,
      {.on_image = [&] { return events.Push(Event{}); },
       .on_shard =
           [&](ShardResult result) { events.Push(Event{std::move(result)}); }});
  const std::jthread worker([&] {
    try {
      RunConversionGraph(
          converter,
          {.threads = maker_options.threads,
           .images_in_flight = kImagesPerThread * maker_options.threads});
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
              return a.task < b.task;
            });
  return results;
}

// Takes the items of one list to the end of another.
void MoveTo(std::vector<ImageNote>& to, std::vector<ImageNote> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
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
    MoveTo(report.reencoded, std::move(result.reencoded));
    MoveTo(report.skipped, std::move(result.skipped));
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
