#include "trainer/loop/evaluation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/order/selection.h"
#include "records/files/open_source.h"
#include "trainer/feed/infeed.h"

namespace infeed {
namespace {

struct EvalPart {
  EvalSums sums;
  std::int64_t bad_records = 0;
  double seconds = 0;
  double waited = 0;  // part of the seconds, for the input
  bool stopped = false;
};

// Drops the scores of single images if all ranks together have too many.
void DropTooManyScores(const RankTotal& scores, EvalPart& part) {
  if (scores.sum > static_cast<double>(kMaxScores)) {
    part.sums.DropScores();
  }
}

// The sums over all ranks, on each rank.
EvalSums SumOf(const EvalSums& mine, Ranks& ranks) {
  return ParseEvalSums(
      ranks.Reduce(ToBytes(mine), [](const std::vector<std::string>& parts) {
        EvalSums sum;
        for (const std::string& part : parts) {
          sum.Add(ParseEvalSums(part));
        }
        return ToBytes(sum);
      }));
}

// Adds up the parts of all ranks, on each rank; times are those of the slowest.
EvalPart AddUp(EvalPart mine, Ranks& ranks) {
  const std::vector<RankTotal> totals =
      ranks.Total({mine.stopped ? 1.0 : 0.0,
                   static_cast<double>(mine.bad_records), mine.seconds,
                   mine.waited, static_cast<double>(mine.sums.scores.size())});
  DropTooManyScores(totals[4], mine);
  return {.sums = SumOf(mine.sums, ranks),
          .bad_records = std::llround(totals[1].sum),
          .seconds = totals[2].most,
          .waited = totals[3].most,
          .stopped = totals[0].most > 0};
}

// Sets the crops, and a batch of the same size of whole images on each rank.
void TakeCrops(int crops, InputOptions& input) {
  const int slots = crops * input.world_size;
  input.preprocess.crop.eval_crops = crops;
  input.batch_size = std::max(1, input.batch_size / slots) * slots;
}

// Of data whose classes are sorted, the first records are of the first classes
// only: an evaluation of fewer records than the index has takes a sample.
void TakeSample(const RecordIndex& index, InputOptions& input) {
  if (input.max_records > 0 && input.max_records < index.size()) {
    input.selection = std::make_shared<const Selection>(
        SpreadSelection(index.size(), input.max_records));
  }
  input.max_records = 0;
}

std::int64_t Records(const RecordIndex& index, const InputOptions& input) {
  return input.selection ? input.selection->places() : index.size();
}

// "  auc 0.912": the metric of keep_best, unless the line has it already.
std::string KeptText(const EvalResult& result, std::string_view metric) {
  constexpr std::array<std::string_view, 4> kShown = {"none", "top_1", "top_5",
                                                      "loss"};
  if (std::ranges::find(kShown, metric) != kShown.end()) {
    return "";
  }
  const std::optional<double> value = FindMetric(result, metric);
  return value ? fmt::format("  {} {:.4f}", metric, *value)
               : fmt::format("  no {}", metric);
}

// Each rank's own pipeline has compared its own number.
void RequireFewBadRecords(const EvalResult& result, std::int64_t most) {
  if (most >= 0 && result.bad_records > most) {
    throw DataError(fmt::format(
        "{} to evaluate, of all ranks, and max_bad_records is {}; records "
        "verify lists them",
        CountText(result.bad_records, "bad record"), most));
  }
}

// One pass over the input, summed over all ranks. Throws DataError when all
// records are bad: of several ranks no input throws that.
EvalPart Pass(DeviceLoop& device, const RecordIndex* index,
              const InputOptions& input,
              const std::vector<std::int32_t>& to_model, EvalWeights weights,
              Ranks& ranks, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<BatchStream> records = OpenInput(index, input);
  Infeed infeed(records, input.share(), input.preprocess.image_size,
                input.trace);
  infeed.MapLabels(to_model);
  const std::stop_callback end_the_stream(stop, [&] { infeed.Stop(); });
  EvalPart mine{.sums = device.Evaluate(infeed, weights)};
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  const PipelineStats stats = records->stats();
  mine.bad_records = stats.bad_records;
  mine.seconds = took.count();
  mine.waited = infeed.wait_seconds();
  mine.stopped = stop.stop_requested();
  EvalPart all = AddUp(std::move(mine), ranks);
  if (!all.stopped && all.sums.images == 0) {
    throw DataError({PathForMessages(index->shards().front()), -1, -1},
                    "no good record to evaluate; the first bad one: " +
                        stats.first_bad_record);
  }
  return all;
}

}  // namespace

std::optional<EvalResult> Evaluate(DeviceLoop& device, const RecordIndex* index,
                                   InputOptions input, const ClassMap& classes,
                                   Ranks& ranks, const std::stop_token& stop,
                                   bool with_live_weights) {
  input.training = false;
  input.shuffle = Shuffle::kNone;
  input.batch_memory = device.batch_memory();
  TakeCrops(device.eval_crops(), input);
  TakeClasses(classes, input);
  if (index != nullptr) {
    TakeSample(*index, input);
  }
  const EvalPart all = Pass(device, index, input, classes.to_model,
                            EvalWeights::kAverage, ranks, stop);
  if (all.stopped) {
    return std::nullopt;
  }
  EvalResult result = MakeEvalResult(all.sums);
  // A record that is bad in one crop may be good in another.
  result.bad_records = device.eval_crops() == 1 || index == nullptr
                           ? all.bad_records
                           : Records(*index, input) - all.sums.images;
  RequireFewBadRecords(result, input.max_bad_records);
  result.images_per_second = static_cast<double>(all.sums.images) / all.seconds;
  result.input_wait = std::min(1.0, all.waited / all.seconds);
  if (with_live_weights) {
    const EvalPart live = Pass(device, index, input, classes.to_model,
                               EvalWeights::kLive, ranks, stop);
    if (live.stopped) {
      return std::nullopt;
    }
    const EvalResult scores = MakeEvalResult(live.sums);
    result.live = {
        .top_1 = scores.top_1, .top_5 = scores.top_5, .loss = scores.loss};
  }
  return result;
}

namespace {

// "top-1 81.2 %  top-5 99.5 %  loss 0.612"; no top-5 for few classes.
std::string ScoresText(const LiveScores& scores, int classes) {
  return fmt::format("top-1 {:.1f} %  {}loss {:.3f}", 100 * scores.top_1,
                     HasTopFive(classes)
                         ? fmt::format("top-5 {:.1f} %  ", 100 * scores.top_5)
                         : "",
                     scores.loss);
}

}  // namespace

std::string EvalText(std::int64_t step, const EvalSubject& subject,
                     const EvalResult& result, std::string_view keep_best) {
  std::string text = fmt::format(
      "evaluation at step {}{}: {}{}  ({}, {:.1f} images/s)", step,
      subject.is_own() ? "" : ", " + subject.name(),
      ScoresText(
          {.top_1 = result.top_1, .top_5 = result.top_5, .loss = result.loss},
          result.classes),
      KeptText(result, keep_best), CountText(result.images, "image"),
      result.images_per_second);
  if (result.live) {
    text +=
        "; the weights themselves: " + ScoresText(*result.live, result.classes);
  }
  if (result.bad_records > 0) {
    text += "; " + CountText(result.bad_records, "bad record") + " left out";
  }
  return text;
}

}  // namespace infeed
