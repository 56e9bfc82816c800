#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "pipeline/input_pipeline.h"
#include "trainer/job.h"
#include "trainer/predict_input.h"
#include "trainer/prediction_log.h"
#include "trainer/run_options.h"

namespace infeed {
namespace {

RecordIndex RecordsToPredict(const Job& job, const ModelLabels& labels) {
  if (!job.options.inputs.empty()) {
    return RecordsOf(job.options.inputs, labels, job.params.num_label_classes);
  }
  return RecordsOfSplit(job.options.data_dir, job.params.eval_split);
}

// The images go the way of an evaluation's, so that the model sees what it saw
// there.
InputOptions PredictInput(const Job& job, const RecordIndex& index,
                          std::int64_t images) {
  InputOptions input = EvalInput(job);
  const int asked = job.options.predict_batch_size;
  input.batch_size = static_cast<int>(std::min<std::int64_t>(
      asked > 0 ? asked : std::max(1, input.batch_size), images));
  input.max_records = images;
  input.shuffle = Shuffle::kNone;
  input.on_bad_record = OnBadRecord::kSkip;
  input.lenient = job.params.lenient;
  // Beside image files of somebody else's we neither look nor write.
  input.use_seek_indexes = !index.is_of_images();
  return input;
}

ExitCode PredictAll(const Job& job, const RecordIndex& index,
                    const ModelLabels& labels, const std::stop_token& stop) {
  const std::int64_t asked = job.options.num_test_images;
  const std::int64_t images =
      asked > 0 ? std::min(asked, index.size()) : index.size();
  if (images == 0) {
    throw UsageError("input: there is no image in it");
  }
  InputOptions input = PredictInput(job, index, images);
  PredictionLog log(index, images, job.params.num_label_classes, labels,
                    stdout);
  input.on_bad = [&log](const BadRecord& bad) { log.AddBad(bad); };
  const auto start = std::chrono::steady_clock::now();
  InputPipeline pipeline(index, input);
  Infeed infeed(pipeline, input.batch_size, input.image_size);
  const std::stop_callback end_the_stream(stop, [&] { infeed.Stop(); });
  job.device.Predict(infeed,
                     [&log](const Predictions& batch) { log.Add(batch); });
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  Say(PredictionText(log.counts(), took.count()));
  if (stop.stop_requested()) {
    return ExitCode::kStoppedBySignal;
  }
  return log.counts().bad > 0 ? ExitCode::kDataError : ExitCode::kDone;
}

}  // namespace

ExitCode PredictMode(const Job& job, const std::stop_token& stop) {
  if (!LoadTrained(job, "predict with")) {
    return ExitCode::kCheckpointUnusable;
  }
  const ModelLabels labels = ModelLabels::OfModel(job.options.model_dir);
  return PredictAll(job, RecordsToPredict(job, labels), labels, stop);
}

}  // namespace infeed
