#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/own_files.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/options.h"
#include "pipeline/order/selection.h"
#include "pipeline/reading/orientation_note.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/store/record_index.h"
#include "trainer/feed/predict_input.h"
#include "trainer/feed/run_input.h"
#include "trainer/log/pictures.h"
#include "trainer/log/prediction_page.h"
#include "trainer/results/prediction_log.h"
#include "trainer/run/data_classes.h"
#include "trainer/run/job.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

constexpr std::size_t kShownOfEachKind = 48;
constexpr int kPictureBatch = 16;

// nullopt: made-up images.
std::optional<RecordIndex> RecordsToPredict(const Job& job,
                                            const ModelLabels& labels) {
  const OnShardSetFaults on_faults = ShardSetPolicy(job.options);
  if (!job.options.inputs.empty()) {
    RecordIndex index = RecordsOf(job.options.inputs, labels, on_faults);
    if (const std::string note = OrientationNote(index); !note.empty()) {
      Say("input: " + note);
    }
    return index;
  }
  if (job.data.is_fake()) {
    return std::nullopt;
  }
  return RecordsOfSplit(job.options.data_dir, job.params.eval_split, on_faults);
}

// Images are preprocessed as in an evaluation, so that predictions match it.
InputOptions PredictInput(const Job& job, std::int64_t images) {
  InputOptions input = EvalInput(job);
  const int asked = job.options.predict_batch_size;
  input.batch_size = static_cast<int>(std::min<std::int64_t>(
      asked > 0 ? asked : std::max(1, input.batch_size), images));
  input.max_records = images;
  input.shuffle = Shuffle::kNone;
  input.on_bad_record = OnBadRecord::kSkip;
  input.preprocess.lenient = job.params.input.preprocess.lenient;
  input.require_labels = false;
  return input;
}

// Predicts all images and passes the predictions to the sink.
void Predict(const Job& job, const RecordIndex* index,
             const InputOptions& input, const ClassMap& classes,
             const PredictionSink& sink, const std::stop_token& stop) {
  Infeed infeed(OpenInput(index, input), input.batch_size,
                input.preprocess.image_size, input.trace);
  infeed.MapLabels(classes.to_model);
  const std::stop_callback end_the_stream(stop, [&] { infeed.Stop(); });
  job.device.Predict(infeed, sink);
}

std::string NameOf(const RecordIndex& index, std::int64_t record) {
  const RecordLocation location = index.at(record);
  const std::string& file =
      index.shards()[static_cast<std::size_t>(location.shard)];
  return PathForMessages(file) +
         (index.is_of_images() ? ""
                               : ", record " + std::to_string(location.number));
}

// Returns pictures of records, by record, as the model gets them: reads them
// once more, with the options of the prediction. A record that has become bad
// is left out. Requires: each record is in the index, and listed once.
std::map<std::int64_t, WebPicture> ReadPictures(
    const RecordIndex& index, std::vector<std::int64_t> records,
    InputOptions input) {
  std::map<std::int64_t, WebPicture> pictures;
  if (records.empty()) {
    return pictures;
  }
  std::ranges::sort(records);
  input.batch_size = std::min(kPictureBatch, static_cast<int>(records.size()));
  input.max_records = 0;
  input.selection = std::make_shared<const Selection>(std::vector<RecordGroup>{
      {.name = "shown", .ids = {records.begin(), records.end()}}});
  input.on_bad = {};
  input.bad_record_report.clear();
  InputPipeline pipeline(index, input);
  std::size_t next = 0;
  while (const BatchHandle batch = pipeline.Next()) {
    for (int slot = 0; slot < batch->size() && next < records.size();
         ++slot, ++next) {
      if (batch->weights()[static_cast<std::size_t>(slot)] != 0) {
        pictures.emplace(records[next], PictureForWeb(*batch, slot));
      }
    }
  }
  return pictures;
}

// Reads the images to show once more, and writes the page.
void WritePage(const PredictionSample& sample, const PredictionLog& log,
               const RecordIndex& index, const ModelLabels& labels,
               const InputOptions& input, ByteSink& file) {
  PredictionPageData page = {.counts = log.counts(),
                             .wrong = sample.wrong(),
                             .right = sample.right(),
                             .unlabelled = sample.unlabelled(),
                             .bad = log.bad_images()};
  for (const BadImage& bad : page.bad) {
    page.names[bad.record] = NameOf(index, bad.record);
  }
  std::vector<std::int64_t> records;
  for (const auto* kind : {&page.wrong, &page.right, &page.unlabelled}) {
    for (const ShownPrediction& shown : *kind) {
      records.push_back(shown.record);
      page.names[shown.record] = NameOf(index, shown.record);
    }
  }
  page.pictures = ReadPictures(index, std::move(records), input);
  file.Write(PredictionPage(page, labels));
  file.Commit();
}

// The number of images to predict: as many as requested, or all if there are
// fewer.
std::int64_t ImagesToPredict(const Job& job, const RecordIndex* index) {
  const std::int64_t asked = job.options.num_test_images;
  if (index == nullptr) {
    return asked > 0 ? asked : job.params.num_eval_images;
  }
  if (index->size() == 0) {
    throw UsageError("input: there is no image in it");
  }
  return asked > 0 ? std::min(asked, index->size()) : index->size();
}

struct Task {
  RunStart from = {};
  std::optional<RecordIndex> index = {};  // nullopt: made-up images
  ClassMap classes = {};
  std::int64_t images = 0;

  [[nodiscard]] const RecordIndex* records() const {
    return index ? &*index : nullptr;
  }
};

ProgramEnd PredictAll(const Job& job, const Task& task,
                      const std::stop_token& stop) {
  const RecordIndex* const index = task.records();
  const ModelLabels& labels = task.from.labels;
  const std::string& page = job.options.predictions_page;
  // Opened first, so that an unwritable path fails before the work is done.
  const std::unique_ptr<ByteSink> page_file =
      page.empty() ? nullptr : OpenSink(page, kNamedByUser);
  InputOptions input = PredictInput(job, task.images);
  TakeClasses(task.classes, input);
  const int classes = job.params.input.num_label_classes;
  PredictionLog log(index, task.images, classes, labels, stdout);
  PredictionSample sample(classes, kShownOfEachKind);
  input.on_bad = [&log](const BadRecord& bad) { log.AddBad(bad); };
  const auto start = std::chrono::steady_clock::now();
  Predict(
      job, index, input, task.classes,
      [&](const Predictions& batch) {
        log.Add(batch);
        sample.Add(batch);
      },
      stop);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  Say(PredictionText(log.counts(), took.count()));
  if (stop.stop_requested()) {
    return Stopped();
  }
  if (page_file) {
    WritePage(sample, log, *index, labels, input, *page_file);
    Say("page of predictions: " + PathForMessages(page));
  }
  if (log.counts().bad > 0) {
    return {ExitCode::kDataError,
            fmt::format("{} of {} could not be read; the output names each",
                        log.counts().bad, CountText(task.images, "image"))};
  }
  return ExitCode::kDone;
}

}  // namespace

Work PreparePrediction(const Job& job, Preparation& preparation) {
  const auto task = std::make_shared<Task>();
  const std::string& page = job.options.predictions_page;
  preparation.Do([&] { RequireWritableFile(page); });
  preparation.Do([&] { task->from = LoadTrained(job, "predict with"); });
  preparation.Do([&] {
    task->index = RecordsToPredict(job, task->from.labels);
    task->images = ImagesToPredict(job, task->records());
    if (!task->index && !page.empty()) {
      throw UsageError(
          "predictions_page: fake data has no images to show; give --data_dir "
          "or --input");
    }
    if (task->index) {
      CheckOutputs(OutputsOf(job.options), task->index->shards());
    }
    task->classes = MatchToModel(job, task->records(), task->from.labels,
                                 task->from.validation);
  });
  return [&job, task](const std::stop_token& stop) -> ProgramEnd {
    return PredictAll(job, *task, stop);
  };
}

}  // namespace infeed
