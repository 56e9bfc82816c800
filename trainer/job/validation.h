#pragma once

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/feed/data_set.h"
#include "trainer/params/train_params.h"
#include "trainer/scores/eval_subject.h"

// Identifies the evaluations that belong to the training itself: each
// checkpoint stores the split, the data and the settings with which its
// training evaluates. Other evaluations of the model (of another split, other
// data, more crops, other weights) have files, tags and curves of their own.
namespace infeed {

// The split, the data and the settings of this run's evaluations, by name, each
// value as JSON; empty: there is nothing to evaluate. Reads up to three
// records. Requires: the parameters are resolved.
[[nodiscard]] RunIdentity MakeValidation(const TrainParams& params,
                                         const DataSet& data);

// The subject of an evaluation with this identity. own: the identity of the
// training's evaluations, from its checkpoint. weights: the origin of the
// weights; "": a checkpoint in model_dir.
[[nodiscard]] EvalSubject MakeSubject(RunIdentity identity,
                                      const RunIdentity& own,
                                      const std::string& weights = "");

}  // namespace infeed
