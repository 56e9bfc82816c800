#pragma once

#include <string>

#include "records/files/folder_listing.h"

namespace infeed {

// What lies in a "folder" of a bucket: s3://BUCKET/FOLDER or gs://..., in the
// store's order. ListFolder() takes folders of both kinds, and sorts. Throws
// IoError, also when there is nothing of that name, and UsageError.
[[nodiscard]] FolderListing ListObjectFolder(const std::string& url);

}  // namespace infeed
