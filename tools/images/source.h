#pragma once

#include <memory>
#include <string>

#include "records/bytes/byte_source.h"
#include "tools/images/tree.h"

// The bytes of images that have a file, or an object in a store, of their own.
// An object is read in the state in which it was listed, by one request; one
// that was replaced since is an IoError.
namespace infeed {

// Begins to fetch an object whose bytes are wanted soon. Null where there is
// nothing to fetch: the image is a file.
[[nodiscard]] std::unique_ptr<ByteSource> FetchImage(const ImageFile& image);

// Returns an image's bytes. `fetched` is what FetchImage() gave for it, or null
// without. Throws IoError, also for more than 1 GiB.
[[nodiscard]] std::string ReadImage(const ImageFile& image,
                                    const ByteSource* fetched = nullptr);

// The name of an image's file, without folders: of a web server's without the
// query and decoded.
[[nodiscard]] std::string ImageName(const ImageFile& image);

// Its path or URL, fit for messages.
[[nodiscard]] std::string ImagePathForMessages(const ImageFile& image);

}  // namespace infeed
