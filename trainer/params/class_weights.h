#pragma once

#include "trainer/feed/data_set.h"
#include "trainer/params/params.h"

namespace infeed {

// Sets the loss's class_weights of a run that trains, if loss_class_weights is
// given. A file has a class, by name or by label, and its weight per line, and
// names each class once. `balanced` counts the training records: a class with c
// of n records in k classes has the weight n / (k * c), as scikit-learn's, and
// one without records 1.
//
// Throws UsageError that names the parameter. Requires: the parameters are
// resolved.
void ResolveClassWeights(const DataSet& data, RunParams& resolved);

// Prints the range of the class weights, if there are some.
void SayClassWeights(const TrainParams& params);

}  // namespace infeed
