#pragma once

#include <string>

#include "pipeline/memory/batch.h"
#include "trainer/log/summary_writer.h"
#include "trainer/results/eval_result.h"

// Pictures for TensorBoard and for HTML pages.
namespace infeed {

// A picture for a page, compressed without visible loss.
struct WebPicture {
  std::string type{};  // "image/png"
  std::string bytes{};
};

// An image of a batch as training uses it. Requires: 0 <= slot < batch.size().
[[nodiscard]] SummaryImage InputPicture(const Batch& batch, int slot);

// InputPicture() for a page, with the same requirement.
[[nodiscard]] WebPicture PictureForWeb(const Batch& batch, int slot);

// The confusion matrix: a row for each actual class, a column for each
// predicted one; the larger the fraction of the row, the darker. Requires:
// result.confusion is not empty.
[[nodiscard]] SummaryImage ConfusionPicture(const EvalResult& result);

// The area under the ROC curve, and the diagonal; false positives to the right,
// true ones upwards. Requires: result.roc is not empty, with ascending rates.
[[nodiscard]] SummaryImage RocPicture(const EvalResult& result);

}  // namespace infeed
