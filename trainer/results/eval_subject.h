#pragma once

#include <string>

namespace infeed {

// The subject of an evaluation: a split of a data set, and the settings of the
// evaluation.
struct EvalSubject {
  std::string split;  // train, validation or test; fake
  std::string data;   // identifies its records
  // 8 hex digits that identify data and settings.
  std::string key;
  // Differences from the training's own evaluations, by which the best
  // checkpoint and early stopping are decided; "": it is one of them.
  std::string differences = {};

  [[nodiscard]] bool is_own() const { return differences.empty(); }
  // "test-1a2b3c4d": its name in files, tags and lines.
  [[nodiscard]] std::string name() const { return split + "-" + key; }
};

}  // namespace infeed
