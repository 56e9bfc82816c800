#include "trainer/params/run_options.h"

#include <fmt/format.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "trainer/checkpoint/named_weights.h"
#include "trainer/remote/run.h"

namespace infeed {

Mode ParseMode(std::string_view name) {
  static constexpr Choices<Mode, 8> kNames = {
      {{"train", Mode::kTrain},
       {"eval", Mode::kEval},
       {"train_and_eval", Mode::kTrainAndEval},
       {"predict", Mode::kPredict},
       {"export", Mode::kExport},
       {"replay", Mode::kReplay},
       {"compare", Mode::kCompare},
       {"doctor", Mode::kDoctor}}};
  if (const Mode* const mode = FindChoice(name, kNames)) {
    return *mode;
  }
  throw UsageError(
      fmt::format("mode={}: must be {}", name, ChoicesText(kModes)));
}

std::string LocalWeights(const RunOptions& options, const std::string& given,
                         std::string_view parameter) {
  return options.storage != nullptr ? options.storage->Fetched(given, parameter)
                                    : FindWeights(given, parameter);
}

}  // namespace infeed
