#pragma once

#include <string>
#include <vector>

#include "trainer/results/eval_result.h"

namespace infeed {

// The report's sections about an evaluation's classes, as HTML; "" where the
// evaluation does not have the data.
struct ClassCards {
  std::string confusion;  // as numbers if they fit, else as a picture
  std::string table;      // the accuracy of each class, or of the worst classes
  std::string roc;
  bool are_wide = false;  // the first two need the page's whole width
};

// names: by label; a class without one is shown as its label.
[[nodiscard]] ClassCards MakeClassCards(const EvalResult& result,
                                        const std::vector<std::string>& names);

}  // namespace infeed
