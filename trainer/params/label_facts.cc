#include "trainer/params/label_facts.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/options/options.h"
#include "records/files/class_list.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

constexpr int kReferenceClasses = 1001;

// -1 when it is not known.
std::int64_t LastLabel(const LabelFacts& facts) {
  if (facts.first && facts.classes > 0) {
    return *facts.first + facts.classes - 1;
  }
  return facts.found.empty() ? -1 : facts.found.rbegin()->first;
}

// The classes that follow from the records' labels alone.
void CheckFound(const LabelFacts& facts) {
  const std::int64_t last = LastLabel(facts);
  if (last > kMostClasses) {
    throw DataError("the records have labels up to " + std::to_string(last) +
                    "; at most " + std::to_string(kMostClasses) +
                    " classes are possible: give num_label_classes; "
                    "records with higher labels then count as bad");
  }
}

int FindOffset(const LabelFacts& facts, int given_classes) {
  if (given_classes == kReferenceClasses &&
      LastLabel(facts) < kReferenceClasses) {
    return 0;
  }
  return facts.first.value_or(facts.found.contains(0) ? 0 : 1);
}

int CountClasses(const LabelFacts& facts, int offset) {
  if (!facts.first && facts.classes > 0) {
    return facts.classes;
  }
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() - 1;
  return static_cast<int>(
      std::clamp<std::int64_t>(LastLabel(facts), offset - 1, kMost) + 1 -
      offset);
}

}  // namespace

int CountClasses(const LabelFacts& facts) {
  return CountClasses(facts, FindOffset(facts, 0));
}

void ResolveLabels(const LabelFacts& facts, RunParams& run) {
  TrainParams& values = run.values;
  int& classes = values.input.num_label_classes;
  if (!values.input.label_offset) {
    values.input.label_offset = FindOffset(facts, classes);
    run.origins["label_offset"] = kFromData;
  }
  if (classes == 0) {
    CheckFound(facts);
    classes = CountClasses(facts, LabelOffsetOf(values));
    run.origins["num_label_classes"] = kFromData;
  }
  if (classes == 0) {
    throw UsageError(
        "num_label_classes: the data does not say how many classes there are; "
        "give it");
  }
}

void RequireAllClasses(const LabelFacts& facts, const TrainParams& params) {
  const int classes = params.input.num_label_classes;
  const int found = CountClasses(facts, LabelOffsetOf(params));
  if (facts.classes > 0 && classes < found) {
    throw UsageError(fmt::format(
        "num_label_classes={}: the data has {} classes", classes, found));
  }
}

int LabelOffsetOf(const TrainParams& params) {
  Check(params.input.label_offset.has_value(), "label_offset is resolved");
  return *params.input.label_offset;
}

std::string LabelsText(const LabelFacts& facts, const TrainParams& params) {
  const int offset = LabelOffsetOf(params);
  std::string text = fmt::format(
      "{}..{}, {} (label_offset {})", offset,
      offset + params.input.num_label_classes - 1,
      CountText(params.input.num_label_classes, "class", "classes"), offset);
  if (offset == 0 && params.input.num_label_classes == kReferenceClasses) {
    text += "; class 0 is the background";
  }
  const BadLabels bad = CountBadLabels(facts.found, params);
  return bad.count() > 0 ? text + "; " + BadLabelsText(bad, params) : text;
}

BadLabels CountBadLabels(const LabelCounts& found, const TrainParams& params) {
  const int offset = LabelOffsetOf(params);
  BadLabels bad;
  for (const auto& [label, records] : found) {
    bad.records += records;
    if (label == kNoLabel) {
      bad.missing += records;
    } else if (label < offset) {
      bad.below += records;
    } else if (label - offset >= params.input.num_label_classes) {
      bad.beyond += records;
    }
  }
  return bad;
}

std::string BadLabelsText(const BadLabels& bad, const TrainParams& params) {
  const int offset = LabelOffsetOf(params);
  return fmt::format(
      "{} of {} records are bad, by their labels: {} missing, {} below {}, {} "
      "above {}",
      bad.count(), bad.records, bad.missing, bad.below, offset, bad.beyond,
      offset + params.input.num_label_classes - 1);
}

}  // namespace infeed
