#pragma once

#include <string>

#include "pipeline/batch.h"
#include "trainer/eval_result.h"
#include "trainer/summary_writer.h"

// What TensorBoard and pages show as pictures.
namespace infeed {

// A picture in a page: as little as keeps it as it is to the eye.
struct WebPicture {
  std::string type{};  // "image/png"
  std::string bytes{};
};

// An image of a batch as training has it. Requires: 0 <= slot < batch.size().
[[nodiscard]] SummaryImage InputPicture(const Batch& batch, int slot);

// The same for a page. Requires: the same.
[[nodiscard]] WebPicture PictureForWeb(const Batch& batch, int slot);

// The confusion matrix: a row for each label, a column for each class that was
// said; the darker, the larger the part of the row. Requires: result.confusion
// is there.
[[nodiscard]] SummaryImage ConfusionPicture(const EvalResult& result);

// The ROC curve over the diagonal, false positives to the right, true ones
// upwards. Requires: result.roc is there.
[[nodiscard]] SummaryImage RocPicture(const EvalResult& result);

}  // namespace infeed
