#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
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
#include "pipeline/reading/orientation_note.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/store/index_data.h"
#include "records/store/label_index.h"
#include "records/store/record_index.h"

#include "python/module/module.h"
#include "python/module/unlocked.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Images = std::vector<std::pair<nb::bytes, std::int64_t>>;
using Names = std::vector<std::string>;

std::shared_ptr<RecordIndex> IndexImages(const Images& images) {
  if (images.empty()) {
    throw UsageError("there are no images to index");
  }
  std::vector<LabelledImage> files;
  files.reserve(images.size());
  for (const auto& [path, label] : images) {
    // Labels begin at 1, so that the first class need not occur; -1: not known.
    files.push_back({.path = std::string(path.c_str(), path.size()),
                     .label = label < 0 ? -1 : label + 1});
  }
  return std::make_shared<RecordIndex>(RecordIndex::OfImages(std::move(files)));
}

Names AsText(const std::vector<std::string>& names) {
  Names texts;
  for (const std::string& name : names) {
    texts.push_back(AsUtf8(name));
  }
  return texts;
}

Names PathsOf(const RecordIndex& index) { return AsText(index.shards()); }

Names SplitsOf(const RecordIndex& index) {
  return {index.splits().begin(), index.splits().end()};
}

Names NotesOf(const RecordIndex& index) {
  const Unlocked unlocked;
  std::vector<std::string> notes = index.notes();
  if (const std::string turned = OrientationNote(index); !turned.empty()) {
    notes.push_back(turned);
  }
  return AsText(notes);
}

Names ClassNamesOf(const RecordIndex& index) {
  const Unlocked unlocked;
  return FindNumberedClasses(index).names;
}

// As it is from another working directory, too. A link stays before "..".
std::string AbsolutePath(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::current_path(error);
  if (error || IsUrl(path) || path.starts_with('/') ||
      path.starts_with("pipe:")) {
    return path;
  }
  bool leads = true;
  for (const fs::path& part : fs::path(path)) {
    if (leads && part == "..") {
      whole = whole.parent_path();
    } else if (part != ".") {
      leads = false;
      whole /= part;
    }
  }
  return whole.string();
}

nb::bytes AbsoluteOf(const nb::bytes& path) {
  const std::string whole = AbsolutePath({path.c_str(), path.size()});
  return nb::bytes(whole.data(), whole.size());
}

// A list as DataPaths() takes it, with such paths; the same if all are.
nb::bytes AbsoluteData(const nb::bytes& spec) {
  std::string list;
  bool differs = false;
  for (const std::string& path : DataPaths({spec.c_str(), spec.size()})) {
    const std::string whole = AbsolutePath(path);
    differs = differs || whole != path;
    list += list.empty() ? "" : ",";
    for (const char c : whole) {
      list += c == ',' ? "\\," : std::string(1, c);
    }
  }
  return differs ? nb::bytes(list.data(), list.size()) : spec;
}

// The records of a split; "": all.
std::shared_ptr<RecordIndex> IndexOf(const nb::bytes& spec,
                                     const std::string& split, bool use_cache) {
  const std::string data(spec.c_str(), spec.size());
  const Unlocked unlocked;
  return std::make_shared<RecordIndex>(
      IndexSplitThatIsThere(data, split, {.use_cache = use_cache}));
}

std::string DefaultSplitOf(const nb::bytes& spec, const std::string& split) {
  const std::string data(spec.c_str(), spec.size());
  const Unlocked unlocked;
  return DefaultSplit(data, split);
}

}  // namespace

void AddIndex(nb::module_& module) {
  nb::class_<RecordIndex>(
      module, "Index",
      "Where the records of some files are. Made by one pass over the files' "
      "headers and kept beside them.")
      .def("__len__", &RecordIndex::size)
      .def_prop_ro("shards", &PathsOf,
                   "Their paths; bytes that are not UTF-8 are \\xNN.")
      .def_prop_ro("notes", &NotesOf, "Sentences on what was left out.")
      .def_prop_ro("splits", &SplitsOf,
                   "Of its records, as the names of files and folders say.")
      .def_prop_ro("identity", &RecordIndex::identity,
                   "A hash of names, offsets and lengths, in hex.");
  module.def("index_data", &IndexOf, nb::arg("data"), nb::arg("split"),
             nb::arg("use_cache") = true,
             "Indexes a file, folder, pattern, comma-separated list or URL; of "
             "a data set's folder the split.");
  module.def("default_split", &DefaultSplitOf, nb::arg("data"),
             nb::arg("split"),
             "The split, or, if data is one file without it, the one that the "
             "file's name says.");
  module.def("absolute_data", &AbsoluteData, nb::arg("data"),
             "The same data for index_data() in any working directory.");
  module.def("absolute_path", &AbsoluteOf, nb::arg("path"),
             "The same path or URL in any working directory.");
  module.def("index_images", &IndexImages, nb::arg("images"),
             "Indexes image files, (path, label) each.");
  module.def("class_names", &ClassNamesOf, nb::arg("index"),
             "The classes' names, of folders, archives, dataset.json or "
             "labels.txt; else empty.");
}

}  // namespace infeed::python
