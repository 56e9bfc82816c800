#pragma once

#include <string_view>

namespace infeed {

enum class Mode { kTrain, kEval, kTrainAndEval, kPredict, kExport, kDoctor };

// The modes' names, "train|eval|...", and the mode of one. Throws UsageError.
inline constexpr std::string_view kModes =
    "train|eval|train_and_eval|predict|export|doctor";
[[nodiscard]] Mode ParseMode(std::string_view name);

// Whether it trains; whether it works from a trained model, whose resolved
// parameters are its own.
[[nodiscard]] bool Trains(Mode mode);
[[nodiscard]] bool UsesTrainedModel(Mode mode);

}  // namespace infeed
