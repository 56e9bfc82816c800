#include "pipeline/stats/prometheus.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace infeed {
namespace {

// The shortest text that parses to the same number.
std::string Number(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string Number(std::int64_t value) { return std::to_string(value); }

std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      text += '\\';
    }
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

// Writes one metric after the other, each with the common labels.
class Exposition {
 public:
  explicit Exposition(const MetricLabels& labels) : labels_(labels) {}

  // Begins a metric: "counter" or "gauge".
  void Begin(std::string_view name, std::string_view type,
             std::string_view help) {
    name_ = name;
    text_ += "# HELP " + name_ + " ";
    text_ += help;
    text_ += "\n# TYPE " + name_ + " ";
    text_ += type;
    text_ += '\n';
  }

  // Adds a sample, with one more label if given.
  template <typename T>
  void Sample(T value, std::string_view label = {},
              std::string_view label_value = {}) {
    text_ += name_ + Labels(label, label_value) + " " + Number(value) + "\n";
  }

  // Begin() and Add(), for a metric of one sample.
  template <typename T>
  void One(std::string_view name, std::string_view type, std::string_view help,
           T value) {
    Begin(name, type, help);
    Sample(value);
  }

  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  [[nodiscard]] std::string Labels(std::string_view label,
                                   std::string_view value) const {
    std::string text;
    const auto add = [&text](std::string_view key, std::string_view of) {
      text += text.empty() ? "{" : ",";
      text += std::string(key) + "=\"" + Escaped(of) + "\"";
    };
    for (const auto& [key, of] : labels_) {
      add(key, of);
    }
    if (!label.empty()) {
      add(label, value);
    }
    return text.empty() ? text : text + "}";
  }

  const MetricLabels& labels_;
  std::string name_;
  std::string text_;
};

void AddStream(const PipelineStats& stats, Exposition& out) {
  out.One("infeed_elapsed_seconds_total", "counter",
          "Time since the first batch was asked for.", stats.elapsed_seconds);
  out.One("infeed_batches_total", "counter", "Batches delivered.",
          stats.batches);
  out.One("infeed_copied_batches_total", "counter",
          "Batches copied because the consumer held too many.",
          stats.copied_batches);
  out.One("infeed_images_total", "counter", "Images delivered.", stats.images);
  out.One("infeed_first_batch_seconds", "gauge",
          "Time from the start until the first batch was whole.",
          stats.first_batch_seconds);
  out.One("infeed_consumer_wait_seconds_total", "counter",
          "Time that the consumer waited for batches.",
          stats.first_wait_seconds + stats.consumer_wait_seconds);
}

void AddBadRecords(const BadRecordTotals& totals, Exposition& out) {
  out.Begin("infeed_bad_records_total", "counter",
            "Times that a record was bad, by what was bad of it.");
  out.Sample(totals.frames, "kind", "frame");
  out.Sample(totals.examples, "kind", "example");
  out.Sample(totals.labels, "kind", "label");
  out.Sample(totals.images, "kind", "image");
  out.One("infeed_bad_samples_total", "counter",
          "Samples whose own record was bad.", totals.bad_samples);
  out.One("infeed_tolerated_warnings_total", "counter",
          "Images used in spite of a decoder's warning.", totals.warnings);
}

void AddCache(const RecordCacheStats& cache, Exposition& out) {
  out.One("infeed_cache_hits_total", "counter",
          "Reads that the cache of records answered.", cache.hits);
  out.One("infeed_cache_records", "gauge", "Records in the cache.",
          cache.records);
  out.One("infeed_cache_bytes", "gauge", "Memory that the cache takes.",
          cache.bytes);
}

void AddWork(const PipelineStats& stats, Exposition& out) {
  out.Begin("infeed_seek_index_images_total", "counter",
            "Images decoded, by what became of their seek index.");
  out.Sample(stats.seek_indexes.used, "index", "used");
  out.Sample(stats.seek_indexes.refused, "index", "refused");
  out.Sample(stats.seek_indexes.none, "index", "none");
  out.Begin("infeed_seek_index_rows_total", "counter",
            "Rows of MCUs of the decoded JPEGs that can have a seek index, and "
            "those that it covers.");
  out.Sample(stats.seek_indexes.rows, "rows", "all");
  out.Sample(stats.seek_indexes.covered_rows, "rows", "covered");
  out.One("infeed_outside_pixels_total", "counter",
          "Pixels decoded that lie outside the crops.", stats.outside_pixels);
  out.One("infeed_storage_read_bytes_total", "counter",
          "Bytes that the process had from disks, not from the page cache.",
          stats.storage_bytes);
  out.One("infeed_threads", "gauge", "Threads that work.",
          std::int64_t{stats.threads});
  out.One("infeed_memory_plan_bytes", "gauge",
          "Bytes that the pipeline's buffers can take.", stats.memory_bytes);
}

// One metric of every stage.
template <typename T>
void AddStages(const PipelineStats& stats, std::string_view name,
               std::string_view help, T StageStats::*value, Exposition& out) {
  out.Begin(name, "counter", help);
  for (const StageStats& stage : stats.stages) {
    out.Sample(stage.*value, "stage", stage.name);
  }
}

void AddQueues(const PipelineStats& stats, std::string_view name,
               std::string_view help, std::int64_t QueueStats::*value,
               Exposition& out) {
  out.Begin(name, "gauge", help);
  for (const QueueStats& queue : stats.queues) {
    out.Sample(queue.*value, "queue", queue.name);
  }
}

}  // namespace

std::string PrometheusText(const PipelineStats& stats,
                           const MetricLabels& labels) {
  Exposition out(labels);
  AddStream(stats, out);
  AddBadRecords(stats.bad_record_totals, out);
  AddCache(stats.cache, out);
  AddWork(stats, out);
  AddStages(stats, "infeed_stage_items_total", "Samples that a stage did.",
            &StageStats::items, out);
  AddStages(stats, "infeed_stage_bytes_total", "Bytes that a stage put out.",
            &StageStats::bytes, out);
  AddStages(stats, "infeed_stage_busy_seconds_total",
            "Thread time spent in a stage.", &StageStats::busy_seconds, out);
  AddStages(stats, "infeed_stage_wait_seconds_total",
            "Time that items waited for a stage, summed over them.",
            &StageStats::wait_seconds, out);
  AddQueues(stats, "infeed_queue_depth", "Samples or batches in a queue.",
            &QueueStats::depth, out);
  AddQueues(stats, "infeed_queue_depth_max",
            "The most that a queue held since the start.", &QueueStats::most,
            out);
  return out.Take();
}

}  // namespace infeed
