#pragma once

#include <cstdint>
#include <string>

#include "records/store/label_index.h"
#include "trainer/feed/data_set.h"
#include "trainer/params/train_params.h"

namespace infeed {

struct RunParams;

// The classes of the reference's models: the background, and ImageNet's.
inline constexpr int kReferenceClasses = 1001;

// Sets label_offset and num_label_classes where they are not given. A model of
// the reference's 1,001 classes has the background as class 0. Throws
// UsageError when the data set does not define the number of classes.
void ResolveLabels(const LabelFacts& facts, RunParams& run);

// Throws UsageError where the model has fewer classes than the description of
// the data names. For modes that do not compare the names (MatchToModel()).
// Requires: ResolveLabels() has been called.
void RequireAllClasses(const LabelFacts& facts, const TrainParams& params);

// Requires: ResolveLabels() has been called.
[[nodiscard]] int LabelOffsetOf(const TrainParams& params);

// "0..9, 10 classes (label_offset 0)", then the counts and warnings that apply.
// Requires: as LabelOffsetOf().
[[nodiscard]] std::string LabelsText(const LabelFacts& facts,
                                     const TrainParams& params);

// Records whose label is not the label of a class: bad records of kind "label".
struct BadLabels {
  std::int64_t missing = 0;  // no label, or an unreadable record
  std::int64_t below = 0;
  std::int64_t beyond = 0;
  std::int64_t records = 0;  // all records, good ones included

  [[nodiscard]] std::int64_t count() const { return missing + below + beyond; }
};
[[nodiscard]] BadLabels CountBadLabels(const LabelCounts& found,
                                       const TrainParams& params);
// "5 of 600 records are bad, by their labels: 3 missing, 2 below 1, 0 above 9".
[[nodiscard]] std::string BadLabelsText(const BadLabels& bad,
                                        const TrainParams& params);

}  // namespace infeed
