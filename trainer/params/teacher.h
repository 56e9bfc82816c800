#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/model/options.h"
#include "trainer/params/run_options.h"

namespace infeed {

// A trained network from which a training learns (distill_from).
struct Teacher {
  ModelOptions model;
  TensorMap weights;  // as an evaluation uses them: averages where kept
  std::string text;   // "ResNet-50, step 7 of runs/a, top-1 0.7612; loss ..."
};

// Reads the teacher of a run that trains, if one is given, and sets
// TrainParams::teacher:
//
//   a model directory of ours   its best checkpoint if it has a best.json, else
//                               its newest undamaged one
//   other weights               a file that WarmStart() reads, of the network
//                               distill_model, or of that by whose name they
//                               are given
//
// Throws UsageError naming the parameter where there are no such weights, and
// where the teacher has other classes, labels or pixels than the run; IoError
// where an object store fails. Classes are compared by name where both have
// names (class_names: those of the run's data), unless --force is given. If
// their order is another one, the teacher's outputs are put into the run's.
// Requires: the parameters are resolved.
[[nodiscard]] std::optional<Teacher> FindTeacher(
    const RunOptions& options, RunParams& resolved,
    std::vector<std::string> class_names = {});

}  // namespace infeed
