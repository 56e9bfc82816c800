#pragma once

#include <string>
#include <vector>

#include "tools/images/tree.h"

// Images of the same content, told by the SHA-256 of their bytes, or of their
// pixels where they lie in raw files.
namespace infeed {

// Returns the groups in the order of the tree. Files of a size that no other
// has are never opened; the rest are read by several threads (0: one for each
// core). Throws IoError.
[[nodiscard]] std::vector<DuplicateGroup> FindDuplicates(const ImageTree& tree,
                                                         int threads);

// Whether a group's images are of several classes, so that one is mislabelled.
[[nodiscard]] bool ClassesDiffer(const DuplicateGroup& group);

// Whether they lie in several splits, so that what is tested was learned.
[[nodiscard]] bool SplitsDiffer(const DuplicateGroup& group);

// One line for each of these two that is true of a group.
[[nodiscard]] std::vector<std::string> DuplicateWarnings(
    const std::vector<DuplicateGroup>& groups);

// The groups for the user to read, with what is wrong about each.
[[nodiscard]] std::string DuplicatesText(
    const std::vector<DuplicateGroup>& groups);

}  // namespace infeed
