#include "trainer/lr_schedule.h"

#include <algorithm>
#include <cmath>

namespace infeed {
namespace {

// Whole epochs in which a run of `epochs` epochs reaches `ninetieths` / 90.
double Breakpoint(double epochs, double ninetieths) {
  return std::floor(epochs * ninetieths / 90.0);
}

}  // namespace

double LearningRate(std::int64_t step, const LearningRateOptions& options) {
  // Two meanings of an epoch, as in the reference: the breakpoints count whole
  // batches only, progress counts every image. A batch larger than the data
  // counts as one step an epoch.
  const std::int64_t whole_batches =
      std::max<std::int64_t>(1, options.train_images / options.batch_size);
  const double epochs = static_cast<double>(options.train_steps) /
                        static_cast<double>(whole_batches);
  const double epoch = static_cast<double>(step) * options.batch_size /
                       static_cast<double>(options.train_images);

  const double peak = options.base_learning_rate * options.batch_size / 256.0;
  const double warm_up = Breakpoint(epochs, 5);
  if (epoch < warm_up) {
    return peak * epoch / warm_up;
  }
  if (epoch < Breakpoint(epochs, 30)) {
    return peak;
  }
  if (epoch < Breakpoint(epochs, 60)) {
    return peak * 0.1;
  }
  if (epoch < Breakpoint(epochs, 80)) {
    return peak * 0.01;
  }
  return peak * 0.001;
}

}  // namespace infeed
