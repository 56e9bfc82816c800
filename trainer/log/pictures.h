#pragma once

#include <string>
#include <vector>

#include "pipeline/memory/batch.h"
#include "trainer/log/summary_writer.h"
#include "trainer/scores/eval_result.h"

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

// The confusion matrix: a row for each actual class, a column for each
// predicted one; the darker, the larger the part of the row. Up to 50 classes
// have their names beside them, where there are any. Requires: result.confusion
// is there.
[[nodiscard]] SummaryImage ConfusionPicture(
    const EvalResult& result, const std::vector<std::string>& names = {});

// The ROC curve over the diagonal, false positives to the right, true ones
// upwards. Requires: result.roc is there.
[[nodiscard]] SummaryImage RocPicture(const EvalResult& result);

}  // namespace infeed
