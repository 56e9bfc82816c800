#include "python/module/index.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Shards = std::vector<std::string>;
using Images = std::vector<std::pair<std::string, std::int64_t>>;

std::shared_ptr<RecordIndex> IndexShards(Shards shards, bool use_cache) {
  if (shards.empty()) {
    throw UsageError("there are no shards to index");
  }
  const nb::gil_scoped_release release;
  return std::make_shared<RecordIndex>(
      std::move(shards), RecordIndexOptions{.use_cache = use_cache});
}

std::shared_ptr<RecordIndex> IndexImages(const Images& images) {
  if (images.empty()) {
    throw UsageError("there are no images to index");
  }
  std::vector<LabelledImage> files;
  files.reserve(images.size());
  for (const auto& [path, label] : images) {
    files.push_back({.path = path, .label = label});
  }
  return std::make_shared<RecordIndex>(RecordIndex::OfImages(files));
}

// The split's shards where there are some, else all shards of the folder or
// pattern.
Shards FindShards(const std::string& data, const std::string& split) {
  const nb::gil_scoped_release release;
  const bool is_folder = data.find_first_of("*?[,") == std::string::npos;
  if (!split.empty() && is_folder) {
    try {
      Shards shards = FindSplit(data, split);
      if (!shards.empty()) {
        return shards;
      }
    } catch (const IoError&) {
      // It is a file; ListShards() says so if it is nothing at all.
    }
  }
  return ListShards(data);
}

}  // namespace

void AddIndex(nb::module_& module) {
  nb::class_<RecordIndex>(
      module, "Index",
      "Where the records of a list of shards are. Made by one pass over the "
      "frames and kept beside the shards.")
      .def("__len__", &RecordIndex::size)
      .def_prop_ro("shards", &RecordIndex::shards, "Their paths.")
      .def_prop_ro("identity", &RecordIndex::identity,
                   "A hash of names, offsets and lengths, in hex.");
  module.def("index_shards", &IndexShards, nb::arg("shards"),
             nb::arg("use_cache") = true, "Indexes shards, by path or URL.");
  module.def("index_images", &IndexImages, nb::arg("images"),
             "Indexes image files, (path, label) each.");
  module.def("find_shards", &FindShards, nb::arg("data"), nb::arg("split") = "",
             "The shards of a file, folder, pattern, comma-separated list or "
             "URL; of a data set's folder those of the split.");
}

}  // namespace infeed::python
