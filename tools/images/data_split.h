#pragma once

#include <string>
#include <vector>

#include "tools/images/tree.h"

namespace infeed {

// Parses "0.9/0.1" (train and validation), "0.8/0.1/0.1" (and test) or
// "reference": the last of these, as the ResNet-50 on TPU guide divides its
// flowers. Throws UsageError unless these are two or three fractions above 0
// whose sum is 1.
[[nodiscard]] std::vector<double> ParseSplit(const std::string& text);

// Divides a tree whose images are all train: of each class, trunc(fraction *
// images) go to every part but the last, which gets the rest; train has one
// image of each class at least. Which image goes where depends on its file
// name, so most stay where they are when others come or go; the order within a
// part is the tree's. A part without images is left out with a note. Throws
// UsageError when the tree is divided already.
void SplitTree(const std::vector<double>& fractions, ImageTree& tree);

}  // namespace infeed
