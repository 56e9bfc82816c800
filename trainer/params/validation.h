#pragma once

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/feed/data_set.h"
#include "trainer/params/train_params.h"
#include "trainer/results/eval_result.h"

// Identifies the evaluations that belong to the training itself: each
// checkpoint stores the split, the data and the settings with which its
// training evaluates. Other evaluations of the model (of another split, other
// data, more crops, other weights) have files, tags and curves of their own.
namespace infeed {

// The split, the data and all settings on which the numbers of this run's
// evaluations depend, by name, each value as JSON; empty: there is nothing to
// evaluate. Reads up to three records. Requires: the parameters are resolved.
[[nodiscard]] RunIdentity MakeValidation(const TrainParams& params,
                                         const DataSet& data,
                                         const std::string& device);

// Whether a training with this validation evaluates these records.
[[nodiscard]] bool EvaluatesData(const RunIdentity& validation,
                                 const RecordIndex& index);

// The differences with which a training does not resume: of all fields but the
// precision, which a resume may change.
[[nodiscard]] std::string DescribeOtherValidation(
    RunIdentity run, const RunIdentity& checkpoint);

// How the model of an evaluation differs from a training's checkpoint.
struct EvalOrigin {
  std::string weights = {};  // their origin; "": a checkpoint in model_dir
  std::string network = {};  // differences of the network, with --force
};

// The subject of an evaluation with this identity. own: the identity of the
// training's evaluations, from its checkpoint.
[[nodiscard]] EvalSubject MakeSubject(RunIdentity identity,
                                      const RunIdentity& own,
                                      const EvalOrigin& origin = {});

}  // namespace infeed
