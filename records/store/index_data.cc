#include "records/store/index_data.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/files/unreadable_format.h"
#include "records/store/image_tree.h"

namespace infeed {
namespace {

bool HasShards(const std::string& folder) {
  return std::ranges::any_of(kSplits, [&](std::string_view split) {
    return !FindSplit(folder, split, [](const ShardSetFaults&) {}).empty();
  });
}

// nullopt: it is no folder of class folders.
std::optional<ImageTree> FindTree(const std::string& folder) {
  try {
    return FindImages(folder, KeepListings::kYes);
  } catch (const UsageError&) {  // It has none of the layouts.
    return std::nullopt;
  } catch (const IoError&) {
    if (IsUrl(folder)) {  // A web server cannot list, a bucket has none.
      return std::nullopt;
    }
    throw;
  }
}

bool IsWanted(const ImageTree& tree, const ImageSplit& part,
              std::string_view split) {
  return split.empty() ||
         (tree.has_split_folders ? part.name == split : split == "train");
}

// One name for a folder, however it was written.
std::string AbsoluteRoot(const std::string& folder) {
  if (IsUrl(folder)) {
    return "";
  }
  std::string root =
      std::filesystem::absolute(folder).lexically_normal().string();
  while (root.size() > 1 && root.ends_with('/')) {
    root.pop_back();
  }
  return root;
}

constexpr std::size_t kMaxNotes = 5;

// What the user should know of the folder, in a few sentences.
std::vector<std::string> MakeNotes(const ImageTree& tree,
                                   const std::string& folder) {
  std::vector<std::string> notes = tree.notes;
  for (const LeftOut& files : tree.left_out) {
    if (files.kind == LeftOut::Kind::kUnreadable) {
      notes.push_back(
          files.format + " files left out: " + std::to_string(files.count) +
          ", such as " + files.example + "; " + UnreadableReason(files.format));
    }
  }
  if (notes.size() > kMaxNotes) {
    const std::size_t more = notes.size() - kMaxNotes + 1;
    notes.resize(kMaxNotes - 1);
    notes.push_back(folder + ": and " + std::to_string(more) +
                    " more folders or kinds of files left out");
  }
  return notes;
}

// The image files of a split; nullopt: there are none.
std::optional<RecordIndex> IndexTree(const ImageTree& tree,
                                     const std::string& folder,
                                     std::string_view split) {
  std::vector<LabelledImage> files;
  for (const ImageSplit& part : tree.splits) {
    if (IsWanted(tree, part, split)) {
      for (const ImageFile& image : part.images) {
        files.push_back({.path = image.path,
                         .label = image.class_index + 1,
                         .bytes = image.bytes});
      }
    }
  }
  if (files.empty()) {
    return std::nullopt;
  }
  ImageFolderInfo info = {.kept_root = AbsoluteRoot(folder),
                          .notes = MakeNotes(tree, folder)};
  for (const ImageClass& one : tree.classes) {
    info.classes.push_back(one.name);
  }
  return RecordIndex::OfImages(files, info);
}

std::optional<RecordIndex> IndexFiles(
    std::vector<std::string> files, std::string_view split,
    const DataOptions& options, std::vector<std::string> other_files = {}) {
  if (files.empty()) {
    return std::nullopt;
  }
  RecordIndex index(std::move(files), {.use_cache = options.use_cache,
                                       .split = std::string(split),
                                       .other_files = std::move(other_files)});
  return index.size() > 0 ? std::optional(std::move(index)) : std::nullopt;
}

std::optional<RecordIndex> IndexFolder(const std::string& folder,
                                       std::string_view split,
                                       const DataOptions& options) {
  std::vector<std::string> shards = FindSplit(folder, split, options.on_faults);
  if (!shards.empty()) {
    return IndexFiles(std::move(shards), "", options);
  }
  if (HasShards(folder)) {
    return std::nullopt;  // Of other splits; folders beside them are no
                          // classes.
  }
  if (const std::optional<ImageTree> tree = FindTree(folder)) {
    return IndexTree(*tree, folder, split);
  }
  return IndexFiles(FindSplitFiles(folder, split), split, options);
}

// Without a split in its name a file is for training; a zip may have a folder
// for each split.
bool IsOfSplit(const std::string& file, std::string_view split) {
  const std::string name = FileNameOf(file);
  const std::string_view said = SplitInName(name);
  return said.empty() ? split == "train" || name.ends_with(".zip")
                      : said == split;
}

// The files of a split that a part of a list names; adds those of other splits
// to `others`.
std::vector<std::string> FilesOfPart(const std::string& part,
                                     std::string_view split,
                                     const DataOptions& options,
                                     std::vector<std::string>& others) {
  if (IsDataFolder(part)) {
    std::vector<std::string> shards = FindSplit(part, split, options.on_faults);
    return shards.empty() ? FindSplitFiles(part, split) : shards;
  }
  std::vector<std::string> files = ListShards(part, options.on_faults);
  const auto other = std::ranges::stable_partition(
      files, [&](const auto& file) { return IsOfSplit(file, split); });
  std::ranges::move(other, std::back_inserter(others));
  files.erase(other.begin(), other.end());
  return files;
}

std::optional<RecordIndex> IndexNamed(const std::string& data,
                                      std::string_view split,
                                      const DataOptions& options) {
  std::vector<std::string> files;
  std::vector<std::string> others;
  for (const std::string& part : SplitAtCommas(data)) {
    std::ranges::move(FilesOfPart(part, split, options, others),
                      std::back_inserter(files));
  }
  return IndexFiles(std::move(files), split, options, std::move(others));
}

}  // namespace

bool IsDataFolder(const std::string& data) {
  if (IsUrl(data)) {
    return data.find_first_of("*?[{,") == std::string::npos &&
           !IsRecordFileName(FileNameOf(data));
  }
  std::error_code ignored;
  return std::filesystem::is_directory(data, ignored);
}

bool IsImageFolder(const std::string& data) {
  return IsDataFolder(data) && !HasShards(data) && FindTree(data).has_value();
}

std::optional<RecordIndex> IndexSplit(const std::string& data,
                                      std::string_view split,
                                      const DataOptions& options) {
  if (split.empty()) {
    return IndexData(data, options);
  }
  if (split == "val") {
    split = "validation";
  }
  return IsDataFolder(data) ? IndexFolder(data, split, options)
                            : IndexNamed(data, split, options);
}

RecordIndex IndexData(const std::string& data, const DataOptions& options) {
  if (IsDataFolder(data) && !HasShards(data)) {
    if (const std::optional<ImageTree> tree = FindTree(data)) {
      return *IndexTree(*tree, data, "");
    }
  }
  return RecordIndex(ListShards(data, options.on_faults),
                     {.use_cache = options.use_cache});
}

}  // namespace infeed
