#pragma once

#include <string_view>

namespace infeed {

enum class Mode {
  kTrain,
  kEval,
  kTrainAndEval,
  kPredict,
  kExport,
  kReplay,
  kCompare,
  kDoctor
};

// The names of the modes. ParseMode() throws UsageError for any other name.
inline constexpr std::string_view kModes =
    "train|eval|train_and_eval|predict|export|replay|compare|doctor";
[[nodiscard]] Mode ParseMode(std::string_view name);

// Trains(): whether the mode trains. UsesTrainedModel(): whether the mode reads
// a trained model and uses that model's resolved parameters.
[[nodiscard]] bool Trains(Mode mode);
[[nodiscard]] bool UsesTrainedModel(Mode mode);

}  // namespace infeed
