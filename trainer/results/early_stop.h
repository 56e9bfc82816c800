#pragma once

#include <optional>
#include <span>
#include <string>

namespace infeed {

// Ends a training whose evaluations no longer improve.
struct EarlyStop {
  std::string metric;  // as in FindMetric()
  int patience = 1;    // > 0
};

// The parameter early_stop, "top_1:5"; nullopt: empty. Throws UsageError.
[[nodiscard]] std::optional<EarlyStop> ParseEarlyStop(const std::string& text);

// When the schedule plateau lowers the learning rate.
struct Plateau {
  std::string metric;  // as in FindMetric()
  int patience = 10;   // evaluations that may be no better; >= 0
};

// The parameter plateau, "loss:10". Throws UsageError.
[[nodiscard]] Plateau ParsePlateau(const std::string& text);

// Whether the last `patience` of these values are all no better than one before
// them. A value that is not finite is never better.
[[nodiscard]] bool IsOver(const EarlyStop& early_stop,
                          std::span<const double> values);

}  // namespace infeed
