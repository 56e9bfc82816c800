#include "trainer/results/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace infeed {
namespace {

// Negatives and positives at or above a threshold.
struct Counts {
  std::int64_t negatives = 0;
  std::int64_t positives = 0;
};

Counts CountOf(std::span<const ScoredImage> images) {
  const std::int64_t positives =
      std::ranges::count(images, true, &ScoredImage::positive);
  return {static_cast<std::int64_t>(images.size()) - positives, positives};
}

bool HasCurve(std::span<const ScoredImage> images) {
  const Counts all = CountOf(images);
  return all.negatives > 0 && all.positives > 0 &&
         std::ranges::none_of(images, [](const ScoredImage& image) {
           return std::isnan(image.score);
         });
}

// The counts at or above each score, the greatest score first, after (0, 0).
std::vector<Counts> Steps(std::vector<ScoredImage>& images) {
  std::ranges::sort(images, std::greater<>(), &ScoredImage::score);
  std::vector<Counts> steps = {{}};
  Counts now;
  for (std::size_t i = 0; i < images.size(); ++i) {
    ++(images[i].positive ? now.positives : now.negatives);
    if (i + 1 == images.size() || images[i + 1].score != images[i].score) {
      steps.push_back(now);
    }
  }
  return steps;
}

// Whether b is a point of the straight line from a to c.
bool IsBetween(const Counts& a, const Counts& b, const Counts& c) {
  return (b.negatives - a.negatives) * (c.positives - b.positives) ==
         (c.negatives - b.negatives) * (b.positives - a.positives);
}

}  // namespace

std::optional<double> ClassCounts::accuracy() const {
  return images == 0 ? std::nullopt
                     : std::optional(static_cast<double>(right) /
                                     static_cast<double>(images));
}

std::vector<ClassCounts> CountClasses(std::span<const std::int64_t> confusion,
                                      int classes) {
  const auto width = static_cast<std::size_t>(classes);
  std::vector<ClassCounts> counts(width);
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    const std::size_t label = i / width;
    const std::size_t predicted = i % width;
    counts[label].images += confusion[i];
    counts[label].right += label == predicted ? confusion[i] : 0;
    counts[predicted].predicted += confusion[i];
  }
  return counts;
}

std::optional<double> MeanOf(std::span<const std::optional<double>> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const std::optional<double>& value : values) {
    sum += value.value_or(0);
    count += value ? 1 : 0;
  }
  return count == 0 ? std::nullopt
                    : std::optional(sum / static_cast<double>(count));
}

std::vector<RocPoint> RocCurve(std::vector<ScoredImage> images) {
  if (!HasCurve(images)) {
    return {};
  }
  std::vector<Counts> corners;
  for (const Counts& step : Steps(images)) {
    if (corners.size() > 1 &&
        IsBetween(corners[corners.size() - 2], corners.back(), step)) {
      corners.back() = step;
    } else {
      corners.push_back(step);
    }
  }
  const Counts all = corners.back();
  std::vector<RocPoint> curve;
  curve.reserve(corners.size());
  for (const Counts& corner : corners) {
    curve.push_back(
        {.false_positive_rate = static_cast<double>(corner.negatives) /
                                static_cast<double>(all.negatives),
         .true_positive_rate = static_cast<double>(corner.positives) /
                               static_cast<double>(all.positives)});
  }
  return curve;
}

std::optional<double> RankAuc(std::vector<ScoredImage> images) {
  if (!HasCurve(images)) {
    return std::nullopt;
  }
  const std::vector<Counts> steps = Steps(images);
  const Counts all = steps.back();
  double won = 0;  // pairs; whole numbers and halves, exact up to 2^52
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto positives =
        static_cast<double>(steps[i].positives - steps[i - 1].positives);
    const auto below = static_cast<double>(all.negatives - steps[i].negatives);
    const auto equal =
        static_cast<double>(steps[i].negatives - steps[i - 1].negatives);
    won += positives * (below + equal / 2);
  }
  return won / (static_cast<double>(all.negatives) *
                static_cast<double>(all.positives));
}

std::optional<double> ThresholdAuc(std::span<const ScoredImage> images) {
  if (!HasCurve(images)) {
    return std::nullopt;
  }
  Counts right;
  for (const ScoredImage& image : images) {
    const bool predicted = image.score > 0.5F;
    right.positives += image.positive && predicted ? 1 : 0;
    right.negatives += !image.positive && !predicted ? 1 : 0;
  }
  const Counts all = CountOf(images);
  return (static_cast<double>(right.positives) /
              static_cast<double>(all.positives) +
          static_cast<double>(right.negatives) /
              static_cast<double>(all.negatives)) /
         2;
}

std::vector<ScoredImage> ScoredFor(int class_index,
                                   std::span<const float> scores,
                                   std::span<const std::int32_t> labels,
                                   int classes) {
  std::vector<ScoredImage> images;
  images.reserve(labels.size());
  const auto width = static_cast<std::size_t>(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    images.push_back(
        {.score = scores[i * width + static_cast<std::size_t>(class_index)],
         .positive = labels[i] == class_index});
  }
  return images;
}

}  // namespace infeed
