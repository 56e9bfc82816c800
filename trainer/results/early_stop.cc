#include "trainer/results/early_stop.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "records/bytes/whole_number.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

Patience ParsePatience(std::string_view name, const std::string& text,
                       int least) {
  constexpr int kMostEvaluations = 1'000'000;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string metric = text.substr(0, colon);
  const auto evaluations = ParseWholeNumber<int>(
      std::string_view(text).substr(std::min(colon + 1, text.size())));
  if (!IsChoice(MetricNames(), metric) || !evaluations ||
      *evaluations < least || *evaluations > kMostEvaluations) {
    throw UsageError(
        std::string(name) + "='" + text +
        "': must be a metric and a number of evaluations, as 'top_1:5'; the "
        "metric is " +
        ChoicesText(MetricNames()));
  }
  return {.metric = metric, .evaluations = *evaluations};
}

}  // namespace

std::optional<Patience> ParseEarlyStop(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  return ParsePatience("early_stop", text, 1);
}

Patience ParsePlateau(const std::string& text) {
  return ParsePatience("plateau", text, 0);
}

bool IsOver(const Patience& early_stop, std::span<const double> values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    best = IsBetter(early_stop.metric, values[i], values[best]) ? i : best;
  }
  return values.size() >
         best + static_cast<std::size_t>(early_stop.evaluations);
}

}  // namespace infeed
