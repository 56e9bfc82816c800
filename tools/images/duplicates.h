#pragma once

#include <string>
#include <vector>

#include "records/store/image_tree.h"

// Finds images of the same content by the SHA-256 of their bytes, or of their
// pixels for images in raw files.
namespace infeed {

// Returns the groups in the order of the tree. Files with a unique size are not
// opened; the others are read by several threads (0: one per core). Throws
// IoError.
[[nodiscard]] std::vector<DuplicateGroup> FindDuplicates(const ImageTree& tree,
                                                         int threads);

// Whether a group's images have different classes, so that at least one label
// is wrong.
[[nodiscard]] bool ClassesDiffer(const DuplicateGroup& group);

// Whether a group's images are in several splits, so that training images are
// used for evaluation.
[[nodiscard]] bool SplitsDiffer(const DuplicateGroup& group);

// A line for each of these two conditions that holds for a group.
[[nodiscard]] std::vector<std::string> DuplicateWarnings(
    const std::vector<DuplicateGroup>& groups);

// The groups with their warnings, as text for the user.
[[nodiscard]] std::string DuplicatesText(
    const std::vector<DuplicateGroup>& groups);

}  // namespace infeed
