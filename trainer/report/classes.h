#pragma once

#include <string>
#include <vector>

#include "trainer/scores/eval_result.h"

namespace infeed {

// What the report says of an evaluation's classes, as HTML; "" where the
// evaluation has no such thing.
struct ClassCards {
  std::string confusion;  // numbers where they fit, else a picture
  std::string table;      // each class's accuracy, or the worst
  std::string roc;
  bool are_wide = false;  // the first two need the page's whole width
};

// names: by label; a class without one is shown as its label.
[[nodiscard]] ClassCards ClassCardsOf(const EvalResult& result,
                                      const std::vector<std::string>& names);

}  // namespace infeed
