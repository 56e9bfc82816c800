#pragma once

#include "pipeline/stats/stats.h"

namespace infeed {

// Eleven seconds of two threads that worked for 19 of their 22 seconds. The
// device got its first batch after one, and waited for nine of the ten others.
inline PipelineStats BusyRun() {
  PipelineStats stats;
  stats.elapsed_seconds = 11;
  stats.first_batch_seconds = 0.5;
  stats.first_wait_seconds = 1;
  stats.threads = 2;
  stats.cores = 2;
  stats.batches = 20;
  stats.images = 1280;
  stats.consumer_wait_seconds = 9;
  stats.memory_bytes = 50'000'000;
  stats.stages = {{"order", 1280, 0, 0.01, 0.1},
                  {"read", 1280, 140'000'000, 1, 5},
                  {"decode", 1280, 690'000'000, 15, 1},
                  {"resize", 1280, 256'901'120, 3, 0},
                  {"augment", 1280, 256'901'120, 0, 0},
                  {"batch", 1280, 256'901'120, 0, 0.1}};
  stats.queues = {{"waiting", 60, 128},
                  {"in_flight", 4, 4},
                  {"ready", 0, 2},
                  {"free", 0, 3}};
  return stats;
}

// The same run with counts that are rare, too.
inline PipelineStats CountedRun() {
  PipelineStats stats = BusyRun();
  stats.copied_batches = 4;
  stats.cache = {.records = 7, .bytes = 770, .limit_bytes = 1000, .hits = 5};
  stats.seek_indexes = {.used = 3,
                        .refused = 1,
                        .none = 2,
                        .found = 4,
                        .rows = 50,
                        .covered_rows = 40};
  stats.outside_pixels = 12;
  stats.cut_lists = 3;
  stats.storage_bytes = 512;
  return stats;
}

}  // namespace infeed
