#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/store/image_tree.h"

// Reads images from files, objects in a store, or records. An object is read by
// one request, in the version that was listed; if it was replaced since then,
// that is an IoError.
namespace infeed {

// Begins to fetch an image whose bytes will be read soon. Null: the image is
// not an object.
[[nodiscard]] std::unique_ptr<ByteSource> FetchImage(const ImageFile& image);

// Returns an image's bytes. fetched: the result of FetchImage() for the image,
// or null. Throws IoError, also for an image of more than 1 GiB, and DataError
// for a bad record.
[[nodiscard]] std::string ReadImage(const ImageFile& image,
                                    const ByteSource* fetched = nullptr);

// Returns the files that contain the images, each once: image files, raw files,
// shards.
[[nodiscard]] std::vector<std::string> FilesOf(
    std::span<const ImageFile> images);

// The name of an image's file, without folders: for a web server's URL decoded
// and without the query, for an image in a record the name stored there.
[[nodiscard]] std::string ImageName(const ImageFile& image);

[[nodiscard]] std::string ImagePathForMessages(const ImageFile& image);

}  // namespace infeed
