#pragma once

#include "pipeline/batch.h"
#include "trainer/eval_result.h"
#include "trainer/summary_writer.h"

// What TensorBoard shows as pictures.
namespace infeed {

// An image of a batch as training has it. Requires: 0 <= slot < batch.size().
[[nodiscard]] SummaryImage InputPicture(const Batch& batch, int slot);

// The confusion matrix: a row for each label, a column for each class that was
// said; the darker, the larger the part of the row. Requires: result.confusion
// is there.
[[nodiscard]] SummaryImage ConfusionPicture(const EvalResult& result);

// The ROC curve over the diagonal, false positives to the right, true ones
// upwards. Requires: result.roc is there.
[[nodiscard]] SummaryImage RocPicture(const EvalResult& result);

}  // namespace infeed
