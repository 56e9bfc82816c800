#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pipeline/stats/stats.h"

// The numbers of a pipeline's statistics, each listed once: for their JSON, for
// Prometheus, and for the difference of two snapshots.
namespace infeed {

enum class StatKind {
  kCounter,  // only grows: an interval has the difference
  kGauge,    // anything else
};

template <typename Stats>
struct StatField {
  std::string_view key = {};  // in JSON; "": not there
  std::variant<std::int64_t Stats::*, double Stats::*, int Stats::*,
               bool Stats::*, std::string Stats::*, double (Stats::*)() const>
      member = {};
  StatKind kind = StatKind::kGauge;
  // In Prometheus, after "infeed_": a counter if it ends in "_total". "": none.
  std::string_view metric = {};
  std::string_view help = {};   // "": a sample more of the metric before
  std::string_view label = {};  // of the sample; "": none
  // "": the name of the stage or queue, or the worker's address
  std::string_view label_value = {};
};

// The fields of a struct, without structs in it, in the order of their output.
template <typename Stats>
inline constexpr std::array<StatField<Stats>, 0> kFields;

template <>
inline constexpr auto kFields<StageStats> =
    std::to_array<StatField<StageStats>>({
        {"name", &StageStats::name},
        {"items", &StageStats::items, StatKind::kCounter, "stage_items_total",
         "Samples that a stage did.", "stage"},
        {"bytes", &StageStats::bytes, StatKind::kCounter, "stage_bytes_total",
         "Bytes that a stage put out.", "stage"},
        {"busy_seconds", &StageStats::busy_seconds, StatKind::kCounter,
         "stage_busy_seconds_total", "Thread time spent in a stage.", "stage"},
        {"wait_seconds", &StageStats::wait_seconds, StatKind::kCounter,
         "stage_wait_seconds_total",
         "Time that items waited for a stage, summed over them.", "stage"},
    });

template <>
inline constexpr auto kFields<QueueStats> =
    std::to_array<StatField<QueueStats>>({
        {"name", &QueueStats::name},
        {"depth", &QueueStats::depth, StatKind::kGauge, "queue_depth",
         "Samples or batches in a queue.", "queue"},
        {"most", &QueueStats::most, StatKind::kGauge, "queue_depth_max",
         "The most that a queue held since the start.", "queue"},
    });

template <>
inline constexpr auto kFields<WorkerStats> =
    std::to_array<StatField<WorkerStats>>({
        {"address", &WorkerStats::address},
        {"name", &WorkerStats::name},
        {"state", &WorkerStats::state},
        {"images", &WorkerStats::images, StatKind::kCounter,
         "worker_images_total", "Images that an input worker made.", "worker"},
        {"ranges", &WorkerStats::ranges, StatKind::kCounter},
        {"declined", &WorkerStats::declined, StatKind::kCounter},
        {"unused", &WorkerStats::unused, StatKind::kCounter},
        {"failed", &WorkerStats::failed, StatKind::kCounter,
         "worker_failed_total", "Ranges of images that an input worker lost.",
         "worker"},
        {"checked", &WorkerStats::checked, StatKind::kCounter},
        {"open_seconds", &WorkerStats::open_seconds, StatKind::kCounter},
        {"in_flight", &WorkerStats::in_flight},
        {"credit", &WorkerStats::credit},
        {"latency_seconds", &WorkerStats::latency_seconds, StatKind::kGauge,
         "worker_latency_seconds",
         "Median time of an input worker's last ranges.", "worker"},
        {"latency_p99_seconds", &WorkerStats::latency_p99_seconds},
        {"cpu_seconds", &WorkerStats::cpu_seconds, StatKind::kCounter},
    });

template <>
inline constexpr auto kFields<SeekIndexStats> =
    std::to_array<StatField<SeekIndexStats>>({
        {"used", &SeekIndexStats::used, StatKind::kCounter,
         "seek_index_images_total",
         "Images decoded, by what became of their seek index.", "index",
         "used"},
        {"refused", &SeekIndexStats::refused, StatKind::kCounter,
         "seek_index_images_total", "", "index", "refused"},
        {"none", &SeekIndexStats::none, StatKind::kCounter,
         "seek_index_images_total", "", "index", "none"},
        {"found", &SeekIndexStats::found, StatKind::kCounter},
        {"rows", &SeekIndexStats::rows, StatKind::kCounter,
         "seek_index_rows_total",
         "Rows of MCUs of the decoded JPEGs that can have a seek index, and "
         "those that it covers.",
         "rows", "all"},
        {"covered_rows", &SeekIndexStats::covered_rows, StatKind::kCounter,
         "seek_index_rows_total", "", "rows", "covered"},
        {"write_error", &SeekIndexStats::write_error},
        {"first_refused", &SeekIndexStats::first_refused},
    });

template <>
inline constexpr auto kFields<RecordCacheStats> =
    std::to_array<StatField<RecordCacheStats>>({
        {"records", &RecordCacheStats::records, StatKind::kGauge,
         "cache_records", "Records in the cache."},
        {"bytes", &RecordCacheStats::bytes, StatKind::kGauge, "cache_bytes",
         "Memory that the cache takes."},
        {"limit_bytes", &RecordCacheStats::limit_bytes},
        {"hits", &RecordCacheStats::hits, StatKind::kCounter,
         "cache_hits_total", "Reads that the cache of records answered."},
    });

template <>
inline constexpr auto kFields<BadRecordTotals> =
    std::to_array<StatField<BadRecordTotals>>({
        {"samples", &BadRecordTotals::samples, StatKind::kCounter},
        {"bad_samples", &BadRecordTotals::bad_samples, StatKind::kCounter,
         "bad_samples_total", "Samples whose own record was bad."},
        {"different", &BadRecordTotals::different, StatKind::kCounter},
        {"frame", &BadRecordTotals::frames, StatKind::kCounter,
         "bad_records_total",
         "Times that a record was bad, by what was bad of it.", "kind",
         "frame"},
        {"example", &BadRecordTotals::examples, StatKind::kCounter,
         "bad_records_total", "", "kind", "example"},
        {"label", &BadRecordTotals::labels, StatKind::kCounter,
         "bad_records_total", "", "kind", "label"},
        {"image", &BadRecordTotals::images, StatKind::kCounter,
         "bad_records_total", "", "kind", "image"},
        {"warnings", &BadRecordTotals::warnings, StatKind::kCounter,
         "tolerated_warnings_total",
         "Images used in spite of a decoder's warning."},
        {"first_warning", &BadRecordTotals::first_warning},
        {"max_bad_records", &BadRecordTotals::max_different},
        {"max_bad_rate", &BadRecordTotals::max_rate},
    });

template <>
inline constexpr auto kFields<PipelineStats> =
    std::to_array<StatField<PipelineStats>>({
        {"threads", &PipelineStats::threads, StatKind::kGauge, "threads",
         "Threads that work."},
        {"cores", &PipelineStats::cores},
        {"has_device", &PipelineStats::has_device},
        {"elapsed_seconds", &PipelineStats::elapsed_seconds, StatKind::kCounter,
         "elapsed_seconds_total", "Time since the first batch was asked for."},
        {"batches", &PipelineStats::batches, StatKind::kCounter,
         "batches_total", "Batches delivered."},
        {"images", &PipelineStats::images, StatKind::kCounter, "images_total",
         "Images delivered."},
        {"copied_batches", &PipelineStats::copied_batches, StatKind::kCounter,
         "copied_batches_total",
         "Batches copied because the consumer held too many."},
        {"images_per_second", &PipelineStats::images_per_second},
        {"first_batch_seconds", &PipelineStats::first_batch_seconds,
         StatKind::kGauge, "first_batch_seconds",
         "Time from the start until the first batch was whole."},
        {"first_wait_seconds", &PipelineStats::first_wait_seconds,
         StatKind::kCounter},
        {"consumer_wait_seconds", &PipelineStats::consumer_wait_seconds,
         StatKind::kCounter},
        {"", &PipelineStats::all_wait_seconds, StatKind::kGauge,
         "consumer_wait_seconds_total",
         "Time that the consumer waited for batches."},
        {"bad_records", &PipelineStats::bad_records, StatKind::kCounter},
        {"first_bad_record", &PipelineStats::first_bad_record},
        {"outside_pixels", &PipelineStats::outside_pixels, StatKind::kCounter,
         "outside_pixels_total", "Pixels decoded that lie outside the crops."},
        {"cut_lists", &PipelineStats::cut_lists, StatKind::kCounter,
         "cut_lists_total",
         "Lists of fixed fields that were longer than their field, and cut."},
        {"storage_bytes", &PipelineStats::storage_bytes, StatKind::kCounter,
         "storage_read_bytes_total",
         "Bytes that the process had from disks, not from the page cache."},
        {"memory_bytes", &PipelineStats::memory_bytes, StatKind::kGauge,
         "memory_plan_bytes", "Bytes that the pipeline's buffers can take."},
    });

}  // namespace infeed
