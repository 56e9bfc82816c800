#pragma once

#include <optional>
#include <span>
#include <string>

namespace infeed {

// How long evaluations may be no better before something happens.
struct Patience {
  std::string metric;  // as in FindMetric()
  int evaluations = 0;
};

// The parameter early_stop, "top_1:5", which ends a training, after one
// evaluation or more; nullopt: empty. Throws UsageError.
[[nodiscard]] std::optional<Patience> ParseEarlyStop(const std::string& text);

// The parameter plateau, "loss:10", with which the schedule plateau lowers the
// learning rate. Throws UsageError.
[[nodiscard]] Patience ParsePlateau(const std::string& text);

// Whether the last `evaluations` of these values are all no better than one
// before them. A value that is not finite is never better.
[[nodiscard]] bool IsOver(const Patience& early_stop,
                          std::span<const double> values);

}  // namespace infeed
