#include "python/module/index.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"
#include "tools/images/tree.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Shards = std::vector<std::string>;
using Images = std::vector<std::pair<std::string, std::int64_t>>;
using Names = std::vector<std::string>;
using NamedIndex = std::pair<std::shared_ptr<RecordIndex>, Names>;

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
    // From 1 here, so that the first class need not occur; -1: not known.
    files.push_back({.path = path, .label = label < 0 ? -1 : label + 1});
  }
  return std::make_shared<RecordIndex>(RecordIndex::OfImages(files));
}

// The images of a split; of a folder that is not divided, all.
std::vector<LabelledImage> SplitImages(const ImageTree& tree,
                                       const std::string& split) {
  const std::string name = split == "val" ? "validation" : split;
  std::vector<LabelledImage> files;
  for (const ImageSplit& part : tree.splits) {
    if (name.empty() || !tree.has_split_folders || part.name == name) {
      for (const ImageFile& image : part.images) {
        files.push_back({.path = image.path, .label = image.class_index + 1});
      }
    }
  }
  return files;
}

// nullopt: it is no folder of class folders.
std::optional<ImageTree> FindTree(const std::string& folder) {
  std::error_code ignored;
  if (!IsUrl(folder) && !std::filesystem::is_directory(folder, ignored)) {
    return std::nullopt;
  }
  try {
    return FindImages(folder);
  } catch (const UsageError&) {  // It has none of the layouts.
    return std::nullopt;
  }
}

// The images of a folder of class folders and the classes' names; nullopt: it
// is no such folder.
std::optional<NamedIndex> IndexFolder(const std::string& folder,
                                      const std::string& split) {
  const nb::gil_scoped_release release;
  const std::optional<ImageTree> tree = FindTree(folder);
  if (!tree) {
    return std::nullopt;
  }
  const std::vector<LabelledImage> files = SplitImages(*tree, split);
  if (files.empty()) {
    throw UsageError(folder + " has no images of split='" + split + "'");
  }
  Names names;
  for (const ImageClass& one : tree->classes) {
    names.push_back(one.name);
  }
  return NamedIndex(std::make_shared<RecordIndex>(RecordIndex::OfImages(files)),
                    std::move(names));
}

// The names in the dataset.json of a shard, if there is one.
Names ClassNamesOf(const std::string& shard) {
  const nb::gil_scoped_release release;
  const std::optional<DatasetInfo> info = FindDatasetInfo(shard);
  return info ? info->classes : Names();
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
  module.def("index_folder", &IndexFolder, nb::arg("folder"), nb::arg("split"),
             "Indexes the images of a folder of class folders; with it, the "
             "classes' names. None: it is no such folder.");
  module.def("class_names", &ClassNamesOf, nb::arg("shard"),
             "The classes' names in a data set's dataset.json.");
  module.def("find_shards", &FindShards, nb::arg("data"), nb::arg("split") = "",
             "The shards of a file, folder, pattern, comma-separated list or "
             "URL; of a data set's folder those of the split.");
}

}  // namespace infeed::python
