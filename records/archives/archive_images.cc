#include "records/archives/archive_images.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "records/archives/tar_member.h"
#include "records/bytes/plain_text.h"
#include "records/files/folder_listing.h"
#include "records/files/image_layout.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

// Whether any part of a path, folder or file, is hidden.
bool IsHidden(std::string_view path) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (IsHiddenName(path.substr(0, slash))) {
      return true;
    }
    if (slash == std::string_view::npos) {
      return false;
    }
    path.remove_prefix(slash + 1);
  }
}

void NoteNames(const std::vector<std::string>& names, const std::string& what,
               const std::string& advice, std::vector<std::string>& notes) {
  if (!names.empty()) {
    notes.push_back(what + ": " + std::to_string(names.size()) +
                    ", the first " + AsUtf8(*std::ranges::min_element(names)) +
                    advice);
  }
}

// The files of an archive that may be images or label files.
struct Sorted {
  std::vector<std::string> names = {};  // of each file; "": of no use
  std::vector<std::size_t> images = {};
  std::vector<std::size_t> others = {};
};

Sorted SortFiles(const std::vector<ArchiveFile>& files,
                 std::vector<std::string>& notes) {
  Sorted sorted;
  std::vector<std::string> bad;
  std::vector<std::string> archives;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string name = ArchiveName(files[i].name);
    if (!files[i].is_readable || TarNameLeadsOut(name)) {
      bad.push_back(std::exchange(name, ""));
    } else if (IsHidden(name)) {
      name.clear();
    } else {
      if (IsArchiveName(BaseName(name))) {
        archives.push_back(name);
      }
      (HasImageExtension(BaseName(name)) ? sorted.images : sorted.others)
          .push_back(i);
    }
    sorted.names.push_back(std::move(name));
  }
  NoteNames(bad,
            "entries left out, as they are links to no file in the archive or "
            "their names lead out of it",
            "", notes);
  NoteNames(archives, "archives inside, which are not read",
            ": unpack the outer one", notes);
  return sorted;
}

[[noreturn]] void FailOfTwins(const std::string& path, const std::string& name,
                              const ArchiveFile& one,
                              const ArchiveFile& other) {
  const auto [first, last] = std::minmax(one.offset, other.offset);
  throw DataError({path, -1, last},
                  AsUtf8(name) + ": the name occurs twice, first at byte " +
                      std::to_string(first) +
                      " (as after tar -r): unpack the archive, where the "
                      "last one stays, and pack it again");
}

// The files that may have labels, by name. Those that occur twice must not be
// read.
class LabelFiles {
 public:
  LabelFiles(const std::string& path, const std::vector<ArchiveFile>& files,
             const Sorted& sorted)
      : path_(path), files_(files) {
    for (const std::size_t other : sorted.others) {
      files_of_[sorted.names[other]].push_back(other);
    }
  }

  [[nodiscard]] bool Has(const std::string& name) const {
    return files_of_.contains(name);
  }
  // Requires: Has(name). Throws DataError if the name occurs twice.
  [[nodiscard]] const ArchiveFile& At(const std::string& name) const {
    const std::vector<std::size_t>& places = files_of_.find(name)->second;
    if (places.size() > 1) {
      FailOfTwins(path_, name, files_[places[0]], files_[places[1]]);
    }
    return files_[places[0]];
  }

 private:
  const std::string& path_;
  const std::vector<ArchiveFile>& files_;
  std::map<std::string_view, std::vector<std::size_t>> files_of_;
};

// Requires: images are sorted by split and name.
void RefuseTwins(const std::string& path, const std::vector<ArchiveFile>& files,
                 const Sorted& sorted,
                 const std::vector<LaidOutImage>& images) {
  const auto name_of = [&](const LaidOutImage& image) -> const std::string& {
    return sorted.names[sorted.images[image.file]];
  };
  const auto twin = std::ranges::adjacent_find(images, {}, name_of);
  if (twin != images.end()) {
    FailOfTwins(path, name_of(*twin), files[sorted.images[twin->file]],
                files[sorted.images[std::next(twin)->file]]);
  }
}

}  // namespace

ArchiveImages FindArchiveImages(
    const std::string& path, const std::vector<ArchiveFile>& files,
    const std::function<std::string(const ArchiveFile&)>& read) {
  ArchiveImages found;
  const Sorted sorted = SortFiles(files, found.notes);
  for (std::string& note : found.notes) {  // As the layout's.
    note.insert(0, PathForMessages(path) + ": ");
  }
  TreeFiles tree = {.root = PathForMessages(path) + "#"};
  for (const std::size_t image : sorted.images) {
    tree.images.push_back(sorted.names[image]);
  }
  for (const std::size_t other : sorted.others) {
    tree.others.push_back(sorted.names[other]);
  }
  const LabelFiles others(path, files, sorted);
  tree.read = [&](std::string_view name) {
    return read(others.At(std::string(name)));
  };
  ImageLayout layout = LayOutImages(tree);
  const ClassTexts texts = FindClassTexts(
      tree.root, layout.folder, layout.classes,
      [&](const std::string& name) -> std::optional<std::string> {
        return others.Has(name) ? std::optional(tree.read(name)) : std::nullopt;
      },
      found.notes);
  if (!layout.classes.empty()) {  // Else it may be a tar of samples.
    RefuseTwins(path, files, sorted, layout.images);
  }
  found.classes = std::move(layout.classes);
  for (const std::string& name : found.classes) {
    if (const auto text = texts.find(name); text != texts.end()) {
      found.class_texts.insert(*text);
    }
  }
  found.has_splits = layout.has_splits;
  std::ranges::move(layout.notes, std::back_inserter(found.notes));
  found.images.reserve(layout.images.size());
  for (const LaidOutImage& image : layout.images) {
    const ArchiveFile& file = files[sorted.images[image.file]];
    found.images.push_back({.offset = file.offset,
                            .extent = file.extent,
                            .bytes = file.bytes,
                            .class_index = image.class_index,
                            .split = image.split});
  }
  return found;
}

std::string ArchiveName(std::string_view name) {
  std::string text(name);
  if (text.find('/') == std::string::npos) {
    std::ranges::replace(text, '\\', '/');
  }
  std::size_t start = 0;
  while (text.compare(start, 2, "./") == 0) {  // Some archives have it.
    start += 2;
  }
  return text.substr(start);
}

void KeepSplit(std::string_view split, ArchiveImages& images) {
  if (!split.empty()) {
    std::erase_if(images.images, [split](const ArchiveImages::Image& image) {
      return kSplits[static_cast<std::size_t>(image.split)] != split;
    });
  }
}

}  // namespace infeed
