#include "pipeline/stats/stats.h"

#include <algorithm>

namespace infeed {
namespace {

void Subtract(const BadRecordTotals& earlier, BadRecordTotals& totals) {
  totals.samples -= earlier.samples;
  totals.bad_samples -= earlier.bad_samples;
  totals.different -= earlier.different;
  totals.frames -= earlier.frames;
  totals.examples -= earlier.examples;
  totals.labels -= earlier.labels;
  totals.images -= earlier.images;
  totals.warnings -= earlier.warnings;
}

}  // namespace

const StageStats* PipelineStats::stage(std::string_view name) const {
  const auto found = std::ranges::find(stages, name, &StageStats::name);
  return found == stages.end() ? nullptr : &*found;
}

PipelineStats PipelineStats::Since(const PipelineStats& earlier) const {
  PipelineStats interval = *this;
  interval.elapsed_seconds -= earlier.elapsed_seconds;
  interval.batches -= earlier.batches;
  interval.images -= earlier.images;
  interval.copied_batches -= earlier.copied_batches;
  interval.bad_records -= earlier.bad_records;
  Subtract(earlier.bad_record_totals, interval.bad_record_totals);
  interval.seek_indexes.used -= earlier.seek_indexes.used;
  interval.seek_indexes.refused -= earlier.seek_indexes.refused;
  interval.seek_indexes.none -= earlier.seek_indexes.none;
  interval.seek_indexes.found -= earlier.seek_indexes.found;
  interval.seek_indexes.rows -= earlier.seek_indexes.rows;
  interval.seek_indexes.covered_rows -= earlier.seek_indexes.covered_rows;
  interval.cache.hits -= earlier.cache.hits;
  interval.outside_pixels -= earlier.outside_pixels;
  interval.cut_lists -= earlier.cut_lists;
  interval.storage_bytes -= earlier.storage_bytes;
  interval.first_wait_seconds -= earlier.first_wait_seconds;
  interval.consumer_wait_seconds -= earlier.consumer_wait_seconds;
  for (StageStats& stage : interval.stages) {
    if (const StageStats* const before = earlier.stage(stage.name)) {
      stage.items -= before->items;
      stage.bytes -= before->bytes;
      stage.busy_seconds -= before->busy_seconds;
      stage.wait_seconds -= before->wait_seconds;
    }
  }
  return interval;
}

}  // namespace infeed
