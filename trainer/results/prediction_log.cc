#include "trainer/results/prediction_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/random.h"
#include "base/ratio.h"
#include "records/bytes/json.h"
#include "records/files/open_source.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

constexpr std::size_t kMostBadImages = 48;  // that are kept

using Json = nlohmann::ordered_json;

// As few digits as distinguish the float from its neighbours, not those of the
// double; null for NaN.
Json Number(float value) {
  return std::isfinite(value) ? Json(std::stod(fmt::format("{}", value)))
                              : Json();
}

// The fields that identify an image.
Json PlaceOf(const RecordIndex* index, std::int64_t record) {
  if (index == nullptr) {
    return {{"file", nullptr}, {"record", record}};
  }
  const RecordLocation location = index->at(record);
  Json place = {
      {"file", PathForMessages(
                   index->shards()[static_cast<std::size_t>(location.shard)])}};
  if (!index->is_of_images()) {
    place["record"] = location.number;
  }
  return place;
}

Json ClassOf(const Predictions& batch, int slot, std::size_t rank,
             const ModelLabels& labels) {
  const std::int32_t index = batch.classes_of(slot)[rank];
  return {{"label", labels.NameOf(index)},
          {"index", index},
          {"probability", Number(batch.probabilities_of(slot)[rank])}};
}

// Names may have bytes that are not UTF-8.
std::string Line(const Json& object) { return JsonText(object) + "\n"; }

// A pseudo-random number from the record, unrelated to its position.
double Drawn(std::int64_t record) {
  return Philox4x32({static_cast<std::uint32_t>(record),
                     static_cast<std::uint32_t>(record >> 32)},
                    {})[0];
}

template <typename Kind>
std::vector<ShownPrediction> Listed(const Kind& kind) {
  std::vector<ShownPrediction> list;
  for (const auto& [key, shown] : kind) {
    list.push_back(shown);
  }
  return list;
}

std::vector<ShownPrediction> InOrder(std::vector<ShownPrediction> list) {
  std::ranges::sort(list, {}, &ShownPrediction::record);
  return list;
}

}  // namespace

PredictionLog::PredictionLog(const RecordIndex* index, std::int64_t images,
                             int num_classes, const ModelLabels& labels,
                             std::FILE* out)
    : index_(index),
      images_(images),
      num_classes_(num_classes),
      labels_(labels),
      out_(out) {
  counts_.classes = num_classes;
}

void PredictionLog::AddBad(const BadRecord& bad) {
  if (bad.kind != BadRecordKind::kWarning) {
    const std::lock_guard lock(mutex_);
    bad_[bad.record] = bad.error.reason();
  }
}

void PredictionLog::Add(const Predictions& batch) {
  std::string lines;
  for (int slot = 0; slot < batch.size() && next_ < images_; ++slot, ++next_) {
    if (batch.weights[static_cast<std::size_t>(slot)] == 0) {
      lines += BadLine(next_);
    } else {
      lines += MakeLine(batch, slot);
      Count(batch, slot);
    }
  }
  if (std::fwrite(lines.data(), 1, lines.size(), out_) != lines.size() ||
      std::fflush(out_) != 0) {
    throw IoError("stdout", "write the predictions", errno);
  }
}

std::string PredictionLog::BadLine(std::int64_t record) {
  ++counts_.bad;
  Json line = PlaceOf(index_, record);
  const std::lock_guard lock(mutex_);
  const auto why = bad_.extract(record);
  Check(!why.empty(), "a blank slot is a bad record's");
  line["error"] = why.mapped();
  if (bad_images_.size() < kMostBadImages) {
    bad_images_.push_back({.record = record, .reason = why.mapped()});
  }
  return Line(line);
}

std::string PredictionLog::MakeLine(const Predictions& batch, int slot) const {
  Json line = PlaceOf(index_, next_);
  line.update(ClassOf(batch, slot, 0, labels_));
  const std::int32_t label = batch.labels[static_cast<std::size_t>(slot)];
  if (label >= 0 && label < num_classes_) {
    line["true_label"] = labels_.NameOf(label);
    line["true_index"] = label;
  }
  Json& top = line["top_5"] = Json::array();
  for (int rank = 0; rank < batch.top; ++rank) {
    top.push_back(
        ClassOf(batch, slot, static_cast<std::size_t>(rank), labels_));
  }
  return Line(line);
}

void PredictionLog::Count(const Predictions& batch, int slot) {
  ++counts_.images;
  const std::int32_t label = batch.labels[static_cast<std::size_t>(slot)];
  if (label < 0 || label >= num_classes_) {
    return;
  }
  const auto predicted = batch.classes_of(slot);
  ++counts_.labelled;
  if (!std::isfinite(batch.probabilities_of(slot).front())) {
    return;
  }
  counts_.top_1 += predicted.front() == label ? 1 : 0;
  counts_.top_5 +=
      std::ranges::find(predicted, label) != predicted.end() ? 1 : 0;
}

std::string PredictionText(const PredictionCounts& counts, double seconds) {
  std::string text = fmt::format(
      "predicted {} at {:.1f} images/s", CountText(counts.images, "image"),
      Ratio(static_cast<double>(counts.images), seconds));
  if (counts.labelled > 0) {
    const auto share = [&](std::int64_t right) {
      return 100.0 * static_cast<double>(right) /
             static_cast<double>(counts.labelled);
    };
    text += fmt::format(
        ": top-1 {:.1f} %  {}(of {} with a label)", share(counts.top_1),
        HasTopFive(counts.classes)
            ? fmt::format("top-5 {:.1f} %  ", share(counts.top_5))
            : "",
        counts.labelled);
  }
  if (counts.bad > 0) {
    text += "; " + CountText(counts.bad, "image was", "images were") + " bad";
  }
  return text;
}

void PredictionSample::Add(const Predictions& batch) {
  for (int slot = 0; slot < batch.size(); ++slot) {
    ShownPrediction shown = {
        .record = next_++,
        .predicted = batch.classes_of(slot).front(),
        .probability = batch.probabilities_of(slot).front()};
    if (batch.weights[static_cast<std::size_t>(slot)] == 0) {
      continue;
    }
    const std::int32_t label = batch.labels[static_cast<std::size_t>(slot)];
    if (label < 0 || label >= num_classes_) {
      Keep(Drawn(shown.record), shown, unlabelled_);
      continue;
    }
    shown.label = label;
    if (shown.predicted == label) {
      Keep(Drawn(shown.record), shown, right_);
    } else {
      Keep(-shown.probability, shown, wrong_);
    }
  }
}

void PredictionSample::Keep(double key, const ShownPrediction& shown,
                            Kind& kind) const {
  kind.emplace(std::pair(key, shown.record), shown);
  if (kind.size() > most_) {
    kind.erase(std::prev(kind.end()));
  }
}

std::vector<ShownPrediction> PredictionSample::wrong() const {
  return Listed(wrong_);
}

std::vector<ShownPrediction> PredictionSample::right() const {
  return InOrder(Listed(right_));
}

std::vector<ShownPrediction> PredictionSample::unlabelled() const {
  return InOrder(Listed(unlabelled_));
}

}  // namespace infeed
