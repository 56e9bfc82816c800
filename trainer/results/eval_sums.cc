#include "trainer/results/eval_sums.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"

namespace infeed {
namespace {

constexpr const char* kNotSums =
    "the sums of another rank's evaluation cannot be read: do all ranks run "
    "the same version?";

template <typename Value>
void AppendValue(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Value>
void AppendValues(std::string& bytes, const std::vector<Value>& values) {
  AppendValue(bytes, std::uint64_t{values.size()});
  bytes.append(reinterpret_cast<const char*>(values.data()),
               values.size() * sizeof(Value));
}

template <typename Value>
void TakeValue(std::string_view& bytes, Value& value) {
  if (bytes.size() < sizeof value) {
    throw IoError(kNotSums);
  }
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
}

template <typename Value>
void TakeValues(std::string_view& bytes, std::vector<Value>& values) {
  std::uint64_t count = 0;
  TakeValue(bytes, count);
  if (count > bytes.size() / sizeof(Value)) {
    throw IoError(kNotSums);
  }
  values.resize(count);
  if (count > 0) {
    std::memcpy(values.data(), bytes.data(), count * sizeof(Value));
  }
  bytes.remove_prefix(count * sizeof(Value));
}

// A cell of a confusion matrix that is not 0.
struct Cell {
  std::int64_t place = 0;
  std::int64_t images = 0;
};

// Writes a matrix as its non-zero cells: a rank's part has few images, so few
// cells.
void AppendConfusion(std::string& bytes,
                     const std::vector<std::int64_t>& confusion) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    if (confusion[i] != 0) {
      cells.push_back({static_cast<std::int64_t>(i), confusion[i]});
    }
  }
  AppendValue(bytes, std::uint64_t{confusion.size()});
  AppendValues(bytes, cells);
}

void TakeConfusion(std::string_view& bytes,
                   std::vector<std::int64_t>& confusion) {
  std::uint64_t size = 0;
  std::vector<Cell> cells;
  TakeValue(bytes, size);
  TakeValues(bytes, cells);
  if (size > std::uint64_t{kMaxConfusionClasses} * kMaxConfusionClasses) {
    throw IoError(kNotSums);
  }
  confusion.resize(size);
  for (const Cell& cell : cells) {
    if (cell.place < 0 || cell.place >= std::ssize(confusion)) {
      throw IoError(kNotSums);
    }
    confusion[static_cast<std::size_t>(cell.place)] = cell.images;
  }
}

}  // namespace

void EvalSums::Add(const EvalSums& other) {
  if (other.classes == 0) {
    return;
  }
  if (classes == 0) {
    *this = other;
    return;
  }
  Check(classes == other.classes, "sums of the same model");
  images += other.images;
  top_1 += other.top_1;
  top_5 += other.top_5;
  loss_sum += other.loss_sum;
  std::ranges::transform(confusion, other.confusion, confusion.begin(),
                         std::plus<>());
  scores.insert(scores.end(), other.scores.begin(), other.scores.end());
  labels.insert(labels.end(), other.labels.begin(), other.labels.end());
  has_scores = has_scores && other.has_scores &&
               static_cast<std::int64_t>(scores.size()) <= kMaxScores;
  if (!has_scores) {
    DropScores();
  }
}

void EvalSums::DropScores() {
  has_scores = false;
  scores = {};
  labels = {};
}

std::string ToBytes(const EvalSums& sums) {
  std::string bytes;
  AppendValue(bytes, sums.images);
  AppendValue(bytes, sums.top_1);
  AppendValue(bytes, sums.top_5);
  AppendValue(bytes, sums.loss_sum);
  AppendValue(bytes, sums.classes);
  AppendValue(bytes, sums.has_scores);
  AppendConfusion(bytes, sums.confusion);
  AppendValues(bytes, sums.scores);
  AppendValues(bytes, sums.labels);
  return bytes;
}

EvalSums ParseEvalSums(std::string_view bytes) {
  EvalSums sums;
  TakeValue(bytes, sums.images);
  TakeValue(bytes, sums.top_1);
  TakeValue(bytes, sums.top_5);
  TakeValue(bytes, sums.loss_sum);
  TakeValue(bytes, sums.classes);
  TakeValue(bytes, sums.has_scores);
  TakeConfusion(bytes, sums.confusion);
  TakeValues(bytes, sums.scores);
  TakeValues(bytes, sums.labels);
  if (!bytes.empty()) {
    throw IoError(kNotSums);
  }
  return sums;
}

}  // namespace infeed
