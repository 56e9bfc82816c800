#pragma once

#include "records/store/record_index.h"
#include "trainer/feed/run_input.h"
#include "trainer/run/job.h"

// Compares the classes of data with those of the model that is used on them.
namespace infeed {

// Maps the labels of the data to the classes of a trained model, by name where
// both have names; a line is printed if their order differs. model: the names
// of its classes. Throws UsageError with both lists if the data has other
// classes; with --force, classes are mapped by number, and a line is printed.
//
// Records of others that do not say what their first label is have that of the
// training, unless it is not theirs by their labels; a line is printed then.
// validation: the training's (Checkpoint), whose records keep its first label.
//
// With several ranks rank 0 decides, and all make the same call. index null:
// fake data.
[[nodiscard]] ClassMap MatchToModel(const Job& job, const RecordIndex* index,
                                    const ModelLabels& model,
                                    const RunIdentity& validation);

// For a training that resumes: throws UsageError where its data has other
// class names than the model, unless --force is given.
void RequireSameClasses(const Job& job);

}  // namespace infeed
