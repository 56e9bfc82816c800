#include "pipeline/stats/stats.h"

#include <algorithm>
#include <concepts>
#include <variant>

#include "pipeline/stats/fields.h"

namespace infeed {
namespace {

// Sets the counters to what was added since an earlier snapshot.
template <typename Stats>
void Subtract(const Stats& earlier, Stats& stats) {
  for (const StatField<Stats>& field : kFields<Stats>) {
    if (field.kind == StatKind::kCounter) {
      std::visit(
          [&]<typename Member>(Member member) {
            if constexpr (std::same_as<Member, std::int64_t Stats::*> ||
                          std::same_as<Member, double Stats::*>) {
              stats.*member -= earlier.*member;
            }
          },
          field.member);
    }
  }
}

// Whether it is the same link: one to a worker that left the list, and came
// back, counts from 0 again.
bool GoesOn(const WorkerStats& earlier, const WorkerStats& worker) {
  return worker.images >= earlier.images &&
         worker.open_seconds >= earlier.open_seconds;
}

}  // namespace

const StageStats* PipelineStats::stage(std::string_view name) const {
  const auto found = std::ranges::find(stages, name, &StageStats::name);
  return found == stages.end() ? nullptr : &*found;
}

PipelineStats PipelineStats::Since(const PipelineStats& earlier) const {
  PipelineStats interval = *this;
  Subtract(earlier, interval);
  Subtract(earlier.bad_record_totals, interval.bad_record_totals);
  Subtract(earlier.seek_indexes, interval.seek_indexes);
  Subtract(earlier.cache, interval.cache);
  for (StageStats& stage : interval.stages) {
    if (const StageStats* const before = earlier.stage(stage.name)) {
      Subtract(*before, stage);
    }
  }
  for (WorkerStats& worker : interval.workers) {
    const auto before = std::ranges::find(earlier.workers, worker.address,
                                          &WorkerStats::address);
    if (before != earlier.workers.end() && GoesOn(*before, worker)) {
      Subtract(*before, worker);
    }
  }
  return interval;
}

}  // namespace infeed
