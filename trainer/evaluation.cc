#include "trainer/evaluation.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/infeed.h"
#include "trainer/run_input.h"

namespace infeed {
std::optional<EvalResult> Evaluate(DeviceLoop& device, const RecordIndex* index,
                                   InputOptions input,
                                   const std::stop_token& stop) {
  input.training = false;
  input.shuffle = Shuffle::kNone;
  input.on_bad_record = OnBadRecord::kSkip;
  input.batch_memory = device.batch_memory();
  const auto start = std::chrono::steady_clock::now();
  RunInput records(index, input);
  Infeed infeed(records.batches(), input.batch_size, input.image_size);
  const std::stop_callback end_the_stream(stop, [&] { infeed.Stop(); });
  const EvalSums sums = device.Evaluate(infeed);
  if (stop.stop_requested()) {
    return std::nullopt;
  }
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  const PipelineStats stats = records.stats();
  if (sums.images == 0) {
    throw DataError({index->shards().front(), -1, -1},
                    "no good record to evaluate; the first bad one: " +
                        stats.first_bad_record);
  }
  EvalResult result = ResultOf(sums);
  result.bad_records = stats.bad_records;
  result.images_per_second = static_cast<double>(sums.images) / took.count();
  result.input_wait = std::min(1.0, infeed.wait_seconds() / took.count());
  return result;
}

std::string EvalText(std::int64_t step, const EvalResult& result) {
  std::string text = fmt::format(
      "evaluation at step {}: top-1 {:.1f} %  top-5 {:.1f} %  loss {:.3f}  ({} "
      "images, {:.1f} images/s)",
      step, 100 * result.top_1, 100 * result.top_5, result.loss, result.images,
      result.images_per_second);
  if (result.bad_records > 0) {
    text += fmt::format("; {} bad records left out", result.bad_records);
  }
  return text;
}

}  // namespace infeed
