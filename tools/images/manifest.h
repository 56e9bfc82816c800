#pragma once

#include <string>
#include <vector>

#include "records/store/image_tree.h"

namespace infeed {

// Lists the images that manifests name: tables in .csv or .tsv files (quoted as
// in RFC 4180) whose first row has the columns "path" and "label" and may have
// "split" (train, validation or val, test) and "text" (the class's readable
// name), in any order. A relative path starts at base_dir, or at the manifest's
// folder if base_dir is empty. Images are sorted bytewise by the paths as
// written in the manifest.
//
// Throws UsageError for a manifest of another extension, and when some have a
// split column and others not; DataError naming manifest and line for a table
// that is not as above, and for an image that is listed twice; IoError for a
// manifest that cannot be read. Requires: at least one manifest.
[[nodiscard]] ImageTree ReadManifests(const std::vector<std::string>& manifests,
                                      const std::string& base_dir);

}  // namespace infeed
