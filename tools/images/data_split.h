#pragma once

#include <string>
#include <vector>

#include "records/store/image_tree.h"

namespace infeed {

// Parses "0.9/0.1" (train and validation), "0.8/0.1/0.1" (and test) or
// "reference", which means 0.8/0.1/0.1 as in the flowers example of the
// ResNet-50 on TPU guide. Throws UsageError unless these are two or three
// fractions above 0 whose sum is 1.
[[nodiscard]] std::vector<double> ParseSplit(const std::string& text);

// Divides a tree whose images are all in train. Of each class, trunc(fraction *
// images) go to each part but the last, which gets the rest; train gets at
// least one image of each class. An image's part depends on its file name, so
// most images keep their part when others are added or removed; the order
// within a part is the tree's. A part without images is omitted with a note.
// Throws UsageError when the tree is already divided.
void SplitTree(const std::vector<double>& fractions, ImageTree& tree);

}  // namespace infeed
