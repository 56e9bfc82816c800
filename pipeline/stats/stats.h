#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stats/bad_record.h"

namespace infeed {

// A stage's work since the start. An item is a sample in every stage, so that
// stages can be compared; a bad record's substitute is one more item of each
// stage that it passed.
//
//   stage    busy                          wait                     bytes of
//   order    the driver looks up records   the driver, for a free   -
//                                          batch: the consumer
//                                          keeps them, or is slow
//   read     read, checksums, parse        a sample, for a worker   records
//   decode   decode of the window          a sample, for a worker   RGB
//   resize   resize, flip, pack            none: follows at once    slots
//   augment  augmentation; not listed      none: follows at once    slots
//            where there was none
//   receive  copies of workers' slots,     a range, for a worker    slots
//            and checks of them; not
//            listed without workers
//   batch    none: the slots are the batch a whole batch, in the    slots
//                                          queue to the consumer
struct StageStats {
  std::string name;
  std::int64_t items = 0;
  std::int64_t bytes = 0;
  double busy_seconds = 0;  // thread time in the stage, over all threads
  double wait_seconds = 0;
};

// The length of a queue between two stages.
//
//   queue      of       what
//   waiting    samples  put into the graph, not yet read
//   in_flight  samples  being read or decoded, or between the two
//   ready      batches  whole, for the consumer to take
//   free       batches  in the pool, to be filled
struct QueueStats {
  std::string name;
  std::int64_t depth = 0;  // now
  std::int64_t most = 0;   // since the start
};

// How many decoded images used a seek index, substitutes included.
struct SeekIndexStats {
  std::int64_t used = 0;
  std::int64_t refused = 0;  // damaged or of another JPEG: decoded without it
  std::int64_t none = 0;     // there was none
  // Images whose JPEG had its index found or extended; the rows of MCUs of the
  // decoded JPEGs that can have an index, and those that one covered.
  std::int64_t found = 0;
  std::int64_t rows = 0;
  std::int64_t covered_rows = 0;
  std::string first_refused = {};  // place and reason
  std::string write_error = {};    // why found indexes are not in files
};

// The share of the rows that seek indexes cover; 1 if no JPEG can have one.
[[nodiscard]] inline double CoveredShare(const SeekIndexStats& stats) {
  return stats.rows > 0 ? static_cast<double>(stats.covered_rows) /
                              static_cast<double>(stats.rows)
                        : 1;
}

// The size of the cache of records and its hits.
struct RecordCacheStats {
  std::int64_t records = 0;  // kept
  std::int64_t bytes = 0;    // memory taken for records, at most limit_bytes
  std::int64_t limit_bytes = 0;
  std::int64_t hits = 0;  // reads answered from the cache
};

// One worker on another machine, since the start, as its trainer sees it.
struct WorkerStats {
  std::string address = {};
  std::string name = {};      // its own; empty: not known yet
  std::string state = {};     // connecting, open, lost, refused, full, dropped
  std::int64_t images = 0;    // slots that were used
  std::int64_t ranges = 0;    // that were used
  std::int64_t declined = 0;  // slots
  std::int64_t unused = 0;    // ranges that came after others had filled them
  std::int64_t failed = 0;    // ranges that were lost
  std::int64_t checked = 0;   // ranges that were compared
  double open_seconds = 0;    // in which it was open
  int in_flight = 0;          // ranges now
  int credit = 0;
  double latency_seconds = 0;      // median of the last ranges
  double latency_p99_seconds = 0;  // of the last ranges
  double cpu_seconds = 0;          // that its ranges took there
};

// What batches count.
constexpr std::string_view ItemsName(bool has_images) {
  return has_images ? "images" : "records";
}

// Statistics of a whole pipeline so far, or of an interval of its life. stages
// are in the order in which a sample passes them.
struct PipelineStats {
  double elapsed_seconds = 0;  // from the first Next() to now, or to the end
  double first_batch_seconds = 0;  // from the start until it was ready
  int threads = 0;
  int cores = 0;  // that the process may use; 0: unknown
  // False if nothing is done with the batches: the consumer's waits are then
  // not a device's waits. The pipeline's caller sets it.
  bool has_device = true;
  bool overlapped = true;       // false: GraphKind::kBasic
  bool of_image_files = false;  // each record is a file of its own
  bool has_images = true;       // false: batches are fields alone
  std::int64_t batches = 0;
  std::int64_t images = 0;  // delivered, without slots of weight 0
  // Batches copied because the consumer held max_lent others.
  std::int64_t copied_batches = 0;
  std::int64_t bad_records = 0;  // how often one was met
  std::string first_bad_record;  // its message
  BadRecordTotals bad_record_totals;
  SeekIndexStats seek_indexes;
  // Pixels decoded outside the crops: rows above a crop that the decoder could
  // not skip with a seek index, and columns left and right of it.
  std::int64_t outside_pixels = 0;
  // Lists of fixed fields that were longer than their field, and cut.
  std::int64_t cut_lists = 0;
  // Bytes that the whole process read from disks meanwhile, because they were
  // not in the page cache.
  std::int64_t storage_bytes = 0;
  // How long the consumer waited in Next(): for the first batch, which is not
  // typical of the rest, and for all others together.
  double first_wait_seconds = 0;
  double consumer_wait_seconds = 0;
  RecordCacheStats cache;
  std::int64_t memory_bytes = 0;  // most of its buffers (memory_plan.h)
  std::vector<StageStats> stages;
  std::vector<QueueStats> queues;
  std::vector<WorkerStats> workers;  // InputOptions::workers

  // The interval from an earlier snapshot of the same pipeline to this one:
  // subtracts counters; queue depths, names and first messages stay.
  [[nodiscard]] PipelineStats Since(const PipelineStats& earlier) const;

  [[nodiscard]] std::string_view items_name() const {
    return ItemsName(has_images);
  }

  [[nodiscard]] double images_per_second() const {
    return elapsed_seconds > 0 ? static_cast<double>(images) / elapsed_seconds
                               : 0;
  }

  // The consumer's wait for all batches.
  [[nodiscard]] double all_wait_seconds() const {
    return first_wait_seconds + consumer_wait_seconds;
  }

  // The stage of that name; nullptr: none.
  [[nodiscard]] const StageStats* stage(std::string_view name) const;
};

}  // namespace infeed
