#include "trainer/params/label_facts.h"

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/files/class_list.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

// The classes that follow from the records' labels alone.
void CheckFound(const LabelFacts& facts) {
  const std::int64_t last = facts.last_label();
  if (last > kMostClasses) {
    throw DataError("the records have labels up to " + std::to_string(last) +
                    "; at most " + std::to_string(kMostClasses) +
                    " classes are possible: give num_label_classes; "
                    "records with higher labels then count as bad");
  }
}

int FindOffset(const LabelFacts& facts, int given_classes) {
  if (given_classes == kReferenceClasses &&
      facts.last_label() < kReferenceClasses) {
    return 0;
  }
  return facts.label_offset();
}

}  // namespace

void ResolveLabels(const LabelFacts& facts, RunParams& run) {
  TrainParams& values = run.values;
  int& classes = values.input.num_label_classes;
  if (!values.input.label_offset) {
    values.input.label_offset = FindOffset(facts, classes);
    run.origins["label_offset"] = kFromData;
  }
  if (classes == 0) {
    CheckFound(facts);
    classes = facts.CountClasses(LabelOffsetOf(values));
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
  const int found = facts.CountClasses(LabelOffsetOf(params));
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
