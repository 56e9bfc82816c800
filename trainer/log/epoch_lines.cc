#include "trainer/log/epoch_lines.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace infeed {
namespace {

std::string ScoreText(std::string_view name, const EpochScore& score) {
  const float percent = static_cast<float>(score.correct) /
                        static_cast<float>(score.images) * 100.0F;
  return fmt::format("{0} Loss: {1:.3f}, {0} Accuracy: {2}/{3} ({4:.1f}%)",
                     name, score.loss, score.correct, score.images, percent);
}

}  // namespace

void EpochTally::Add(const StepResult& result) {
  score_.loss += result.loss;
  score_.correct +=
      std::llround(result.top_1 * static_cast<double>(result.images));
  score_.images += result.images;
  ++batches_;
}

EpochScore EpochTally::Take() {
  EpochScore score = std::exchange(score_, {});
  score.loss /= static_cast<double>(
      std::max<std::int64_t>(1, std::exchange(batches_, 0)));
  return score;
}

std::string EpochLine(std::int64_t epoch, const EpochScore& train,
                      const EpochScore& test, double seconds) {
  return fmt::format("[Epoch {}] {}, {} seconds per epoch: {:.1f}", epoch,
                     ScoreText("Training", train), ScoreText("Test", test),
                     seconds);
}

}  // namespace infeed
