#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"
#include "trainer/job/job.h"

// Compares the classes of data with those of the model that is used on them.
namespace infeed {

// How to read labels as the model's classes.
struct ClassMap {
  int label_offset = 0;  // the label of the data's first class
  // The model's class of each class of the data; empty: the same number.
  std::vector<std::int32_t> to_model = {};
};

// Maps the labels of the data to the classes of a trained model, by name where
// both have names; a line is printed if their order differs. model: the names
// of its classes. Throws UsageError with both lists if the data has other
// classes; with --force, classes are mapped by number, and a line is printed.
// With several ranks rank 0 decides, and all make the same call. index null:
// fake data.
[[nodiscard]] ClassMap MatchToModel(const Job& job, const RecordIndex* index,
                                    const ModelLabels& model);

// For a training that resumes: throws UsageError where its data has other
// class names than the model, unless --force is given.
void RequireSameClasses(const Job& job);

// Sets how the input reads labels.
void TakeClasses(const ClassMap& classes, InputOptions& input);
// The stream with labels as the model's classes.
[[nodiscard]] std::unique_ptr<BatchStream> WithModelClasses(
    std::unique_ptr<BatchStream> stream,
    const std::vector<std::int32_t>& to_model);

}  // namespace infeed
