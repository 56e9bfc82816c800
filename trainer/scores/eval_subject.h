#pragma once

#include <string>

namespace infeed {

// What an evaluation is of: a split of a data set, evaluated in a certain way.
struct EvalSubject {
  std::string split;  // train, validation or test; fake
  std::string data;   // identifies its records
  // 8 hex digits, others for other data or other settings of the evaluation.
  std::string key;
  // How it differs from the evaluations of the training itself, which its
  // choices (the best checkpoint, early stopping) depend on; "": it is one.
  std::string differences = {};

  [[nodiscard]] bool is_own() const { return differences.empty(); }
  // "test-1a2b3c4d": its name in files, tags and lines.
  [[nodiscard]] std::string name() const { return split + "-" + key; }
};

}  // namespace infeed
