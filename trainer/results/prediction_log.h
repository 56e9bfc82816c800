#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/stats/bad_record.h"
#include "records/store/record_index.h"
#include "trainer/results/model_labels.h"
#include "trainer/results/prediction.h"

namespace infeed {

struct PredictionCounts {
  std::int64_t images = 0;  // with a prediction
  std::int64_t bad = 0;     // without
  // Over the images whose label is a class of the model.
  std::int64_t labelled = 0;
  std::int64_t top_1 = 0;
  std::int64_t top_5 = 0;
  int classes = 0;  // of the model
};

struct BadImage {
  std::int64_t record = 0;
  std::string reason;
};

// Writes one JSON line for each image, in the order of the records, and counts
// the images; docs/evaluation.md has the fields. A bad image has an "error".
//
// The index (null for fake data), the labels and the file must outlive the log.
// AddBad() from any thread, before the Add() of the batch; the rest from one
// thread at a time. Throws IoError when the lines cannot be written.
class PredictionLog {
 public:
  // Add() gets predictions in the order of the index, for its first `images`
  // records.
  PredictionLog(const RecordIndex* index, std::int64_t images, int num_classes,
                const ModelLabels& labels, std::FILE* out);

  void AddBad(const BadRecord& bad);
  void Add(const Predictions& batch);

  [[nodiscard]] const PredictionCounts& counts() const { return counts_; }
  // The first bad images, in the order of the records.
  [[nodiscard]] const std::vector<BadImage>& bad_images() const {
    return bad_images_;
  }

 private:
  [[nodiscard]] std::string MakeLine(const Predictions& batch, int slot) const;
  [[nodiscard]] std::string BadLine(std::int64_t record);
  void Count(const Predictions& batch, int slot);

  const RecordIndex* index_;
  std::int64_t images_;
  int num_classes_;
  const ModelLabels& labels_;
  std::FILE* out_;
  std::int64_t next_ = 0;  // record
  PredictionCounts counts_;
  std::vector<BadImage> bad_images_;
  std::mutex mutex_;
  // The error of each bad record that is not written yet, by record.
  std::map<std::int64_t, std::string> bad_;
};

// "predicted 372 images at 120.4 images/s: top-1 81.2 %  top-5 99.5 %  (of 372
// with a label); 2 images were bad".
[[nodiscard]] std::string PredictionText(const PredictionCounts& counts,
                                         double seconds);

// A model's prediction for one image.
struct ShownPrediction {
  std::int64_t record = 0;
  std::int32_t predicted = 0;  // the most probable class
  float probability = 0;
  std::optional<std::int32_t> label = {};  // where it is a class of the model
};

// Chooses the images that a page of predictions shows: the wrong predictions
// with the highest probability, and right predictions chosen by a hash, the
// same for the same data. Bad images are left out.
//
// One thread at a time.
class PredictionSample {
 public:
  // most: the number of images of each kind.
  PredictionSample(int num_classes, std::size_t most)
      : num_classes_(num_classes), most_(most) {}

  // Call it with the batches in the order of the records, from the first on.
  void Add(const Predictions& batch);

  // The highest probability first.
  [[nodiscard]] std::vector<ShownPrediction> wrong() const;
  // In the order of the records.
  [[nodiscard]] std::vector<ShownPrediction> right() const;
  [[nodiscard]] std::vector<ShownPrediction> unlabelled() const;

 private:
  // The predictions with the least keys; the record orders equal keys.
  using Kind = std::map<std::pair<double, std::int64_t>, ShownPrediction>;

  void Keep(double key, const ShownPrediction& shown, Kind& kind) const;

  int num_classes_;
  std::size_t most_;
  std::int64_t next_ = 0;  // record
  Kind wrong_;
  Kind right_;
  Kind unlabelled_;
};

}  // namespace infeed
