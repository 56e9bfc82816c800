#pragma once

#include <memory>
#include <string>

#include "records/bytes/byte_source.h"
#include "tools/images/tree.h"

// Reads images, each a file or an object in a store. An object is read by one
// request, in the version that was listed; if it was replaced since, that is an
// IoError.
namespace infeed {

// Begins to fetch an object whose bytes will be read soon. Null: the image is a
// file and needs no fetching.
[[nodiscard]] std::unique_ptr<ByteSource> FetchImage(const ImageFile& image);

// Returns an image's bytes. fetched: the result of FetchImage() for the image,
// or null. Throws IoError, also for an image of more than 1 GiB.
[[nodiscard]] std::string ReadImage(const ImageFile& image,
                                    const ByteSource* fetched = nullptr);

// The name of an image's file, without folders; for a URL of a web server
// decoded and without the query.
[[nodiscard]] std::string ImageName(const ImageFile& image);

// The image's path or URL for messages.
[[nodiscard]] std::string ImagePathForMessages(const ImageFile& image);

}  // namespace infeed
