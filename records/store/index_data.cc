#include "records/store/index_data.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/cloud/fetch_pool.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "records/files/unreadable_format.h"
#include "records/store/file_records.h"
#include "records/store/image_tree.h"
#include "records/store/index_classes.h"

namespace infeed {
namespace {

bool HasShards(const std::string& folder) {
  return std::ranges::any_of(kSplits, [&](std::string_view split) {
    return !FindSplit(folder, split, [](const ShardSetFaults&) {}).empty();
  });
}

bool HasRecordFiles(const std::string& folder) {
  return std::ranges::any_of(kSplits, [&](std::string_view split) {
    return !FindSplitFiles(folder, split).empty();
  });
}

// nullopt: it has no images, or images in no layout beside files of records.
std::optional<ImageTree> FindTree(const std::string& folder) {
  try {
    return FindImageTree(folder);
  } catch (const UsageError&) {  // It has none of the layouts.
    if (!HasRecordFiles(folder)) {
      throw;
    }
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

// Notes on the folder for the user, in a few sentences.
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

// The image files of a split; nullopt: none.
std::optional<RecordIndex> IndexTree(ImageTree tree, const std::string& folder,
                                     std::string_view split) {
  std::vector<LabelledImage> files;
  std::set<std::string> splits;
  for (ImageSplit& part : tree.splits) {
    if (IsWanted(tree, part, split)) {
      splits.insert(tree.has_split_folders ? part.name : "train");
      files.reserve(files.size() + part.images.size());
      for (ImageFile& image : part.images) {
        files.push_back({.path = std::move(image.path),
                         .label = image.class_index + 1,
                         .bytes = image.bytes});
      }
    }
  }
  if (files.empty()) {
    return std::nullopt;
  }
  ImageFolderInfo info = {.kept_root = AbsoluteRoot(folder),
                          .notes = MakeNotes(tree, folder),
                          .splits = std::move(splits)};
  for (const ImageClass& one : tree.classes) {
    info.classes.push_back(one.name);
  }
  return RecordIndex::OfImages(std::move(files), info);
}

struct DataFile {
  std::string path;
  ShardSplit split = {};
  std::size_t entry = 0;  // the number of the list's entry that names it
};

// An index of files that may be of several data sets.
RecordIndex IndexSets(std::vector<std::string> paths,
                      const RecordIndexOptions& index_options,
                      const DataOptions& options) {
  RecordIndex index(std::move(paths), index_options);
  if (!options.takes_any_numbering) {
    RequireOneNumbering(index);
  }
  return index;
}

std::optional<RecordIndex> IndexFiles(
    const std::vector<DataFile>& files, const DataOptions& options,
    std::vector<std::string> other_files = {}) {
  RecordIndexOptions index_options = {.use_cache = options.use_cache,
                                      .other_files = std::move(other_files)};
  std::vector<std::string> paths;
  for (const DataFile& file : files) {
    paths.push_back(file.path);
    index_options.splits.push_back(file.split);
  }
  if (paths.empty()) {
    return std::nullopt;
  }
  RecordIndex index = IndexSets(std::move(paths), index_options, options);
  return index.size() > 0 ? std::optional(std::move(index)) : std::nullopt;
}

// The files, each as a whole: they are shards of the split.
std::vector<DataFile> Whole(std::vector<std::string> paths) {
  std::vector<DataFile> files;
  for (std::string& path : paths) {
    files.push_back({.path = std::move(path)});
  }
  return files;
}

// Those of the files that are archives with folders of splits. Looks into many
// at once, as remote ones answer slowly.
std::set<std::string> ArchivesOfSplits(std::vector<std::string> paths,
                                       bool use_cache) {
  constexpr std::size_t kThreads = 16;
  std::erase_if(paths, [](const std::string& path) {
    return !IsArchiveName(FileNameOf(path));
  });
  if (paths.empty()) {
    return {};
  }
  std::vector<char> have_splits(paths.size());
  FetchPool(static_cast<int>(std::min(paths.size(), kThreads)) - 1)
      .ForEach(paths.size(), [&](std::size_t i) {
        have_splits[i] = HasSplitFolders(*OpenSource(paths[i]), use_cache);
      });
  std::set<std::string> found;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (have_splits[i] != 0) {
      found.insert(std::move(paths[i]));
    }
  }
  return found;
}

// The split that a file's folder is named after.
std::string_view SplitOfFolder(const std::string& file) {
  return SplitNamed(FileNameOf(FolderOfShard(file)));
}

// The other files of a split in a folder, and in folders named after splits.
std::vector<DataFile> OtherFiles(const std::string& folder,
                                 std::string_view split,
                                 const DataOptions& options) {
  const std::string own = FolderOfShard(ShardPathIn(folder, "x"));
  ShardSet set = SetOfSplitFiles(folder, std::string(split));
  std::vector<std::string> named = FindSplitFiles(folder, split, &set.sizes);
  RefuseTwoNames(folder, split, named);
  const ShardSetFaults faults = FindFaults(named, set);
  if (faults.any()) {
    options.on_faults(faults);
  }
  std::vector<std::string> others;
  for (const std::string_view other : kSplits) {
    std::ranges::copy_if(FindSplitFiles(folder, other),
                         std::back_inserter(others),
                         [&](const std::string& path) {
                           return !std::ranges::binary_search(named, path) ||
                                  NamesTwoSplits(FileNameOf(path));
                         });
  }
  std::set<std::string> paths = ArchivesOfSplits(others, options.use_cache);
  for (const std::string& path : others) {
    if (FolderOfShard(path) == own && !paths.contains(path)) {
      RefuseTwoSplits(path);
    }
  }
  paths.insert(named.begin(), named.end());
  std::vector<DataFile> files;
  for (const std::string& path : paths) {
    const std::string_view said = FolderOfShard(path) == own
                                      ? SplitInName(FileNameOf(path))
                                      : SplitOfFolder(path);
    files.push_back({path, {std::string(split), std::string(said)}});
  }
  return files;
}

std::optional<RecordIndex> IndexFolder(const std::string& folder,
                                       std::string_view split,
                                       const DataOptions& options) {
  std::vector<std::string> shards = FindSplit(folder, split, options.on_faults);
  if (!shards.empty()) {
    return IndexFiles(Whole(std::move(shards)), options);
  }
  if (HasShards(folder)) {
    return std::nullopt;  // Files of other splits: the folders beside them are
                          // not classes.
  }
  if (std::optional<ImageTree> tree = FindTree(folder)) {
    return IndexTree(*std::move(tree), folder, split);
  }
  return IndexFiles(OtherFiles(folder, split, options), options);
}

// The files of a list, each with the split in its name, or, if the files are in
// folders of several splits, with its folder's.
std::vector<DataFile> NamedFiles(const std::vector<std::string>& list,
                                 const OnShardSetFaults& on_faults) {
  std::vector<DataFile> files;
  std::set<std::string_view> splits;
  for (std::size_t entry = 0; entry < list.size(); ++entry) {
    for (std::string& path : ListShardsOf({list[entry]}, on_faults)) {
      splits.insert(SplitOfFolder(path));
      files.push_back({.path = std::move(path), .entry = entry});
    }
  }
  for (DataFile& file : files) {
    std::string_view said = SplitInName(FileNameOf(file.path));
    if (said.empty() && splits.size() > 1) {
      said = SplitOfFolder(file.path);
    }
    file.split.said = said;
  }
  return files;
}

// The files that may have records of a split. An archive without a split in its
// name, with folders of splits, or that is the only file, may be of any split.
std::vector<DataFile> OfSplit(std::vector<DataFile> files,
                              std::string_view split, bool use_cache) {
  const bool is_one = files.size() == 1;
  std::vector<std::string> named_otherwise;
  for (const DataFile& file : files) {
    const std::string& said = file.split.said;
    if (!is_one && ((!said.empty() && said != split) ||
                    NamesTwoSplits(FileNameOf(file.path)))) {
      named_otherwise.push_back(file.path);
    }
  }
  const std::set<std::string> archives =
      ArchivesOfSplits(named_otherwise, use_cache);
  for (const std::string& path : named_otherwise) {
    if (!archives.contains(path)) {
      RefuseTwoSplits(path);
    }
  }
  std::erase_if(files, [&](DataFile& file) {
    const std::string& said = file.split.said;
    const bool may_be_tree =
        archives.contains(file.path) ||
        (IsArchiveName(FileNameOf(file.path)) && (is_one || said.empty()));
    file.split.wanted = split;
    return !may_be_tree && split != (said.empty() ? "train" : said);
  });
  return files;
}

// One name for a folder, however it was written.
std::filesystem::path OneNameOf(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path one = std::filesystem::weakly_canonical(
      std::filesystem::absolute(folder, error), error);
  return error || IsUrl(folder.string()) ? folder : one;
}

// Two entries of a list that name a file would use its records twice. Links to
// files are files of their own.
void RefuseFilesTwice(const std::vector<DataFile>& files) {
  std::map<std::filesystem::path, std::filesystem::path> one_names;
  std::set<std::filesystem::path> names;
  for (const DataFile& file : files) {
    const std::filesystem::path path(file.path);
    const auto [folder, is_new] = one_names.try_emplace(path.parent_path());
    if (is_new) {
      folder->second = OneNameOf(folder->first);
    }
    if (!names.insert(folder->second / path.filename()).second) {
      throw UsageError(PathForMessages(file.path) +
                       " is in the list already: name each file once");
    }
  }
}

// The files of a split in a folder that is an entry of a list.
std::vector<DataFile> FilesInFolder(const std::string& folder,
                                    std::string_view split,
                                    const DataOptions& options) {
  if (!HasShards(folder) && !HasRecordFiles(folder)) {
    throw UsageError(PathForMessages(folder) +
                     ": has no shards, tars or zips; a folder of images "
                     "cannot be part of a list" +
                     ParquetHintOfFolder(folder));
  }
  std::vector<std::string> shards = FindSplit(folder, split, options.on_faults);
  return shards.empty() ? OtherFiles(folder, split, options)
                        : Whole(std::move(shards));
}

std::optional<RecordIndex> IndexNamed(const std::vector<std::string>& list,
                                      std::string_view split,
                                      const DataOptions& options) {
  std::vector<std::vector<DataFile>> files_of(list.size());  // by entry
  std::vector<std::string> others;   // the entries that are no folders
  std::vector<std::size_t> entries;  // of these
  for (std::size_t entry = 0; entry < list.size(); ++entry) {
    if (IsDataFolder(list[entry])) {
      files_of[entry] = FilesInFolder(list[entry], split, options);
    } else {
      others.push_back(list[entry]);
      entries.push_back(entry);
    }
  }
  std::vector<std::string> named_files;
  if (!others.empty()) {
    std::vector<DataFile> named = NamedFiles(others, options.on_faults);
    std::ranges::transform(named, std::back_inserter(named_files),
                           &DataFile::path);
    for (DataFile& file : OfSplit(std::move(named), split, options.use_cache)) {
      files_of[entries[file.entry]].push_back(std::move(file));
    }
  }
  std::vector<DataFile> files;
  for (std::vector<DataFile>& of_entry : files_of) {
    std::ranges::move(of_entry, std::back_inserter(files));
  }
  if (!options.takes_files_twice) {
    RefuseFilesTwice(files);
  }
  return IndexFiles(files, options, std::move(named_files));
}

// The only path of a list, if it is one.
std::string OnlyPath(const std::string& data) {
  const std::vector<std::string> list = DataPaths(data);
  return list.size() == 1 ? list.front() : data;
}

// The split in the name of data, if it is one file and no pattern; "" if none.
std::string_view SplitOfOneFile(const std::string& data) {
  const std::string path = OnlyPath(data);
  std::error_code ignored;
  const bool is_file =
      IsUrl(path) ? !IsDataFolder(path) &&
                        path.find_first_of("*?[{,") == std::string::npos
                  : std::filesystem::is_regular_file(path, ignored);
  return is_file ? SplitInName(FileNameOf(path)) : "";
}

// Whether data is a list of files without a split in their names.
bool SaysNoSplit(const std::string& data) {
  return !IsDataFolder(data) &&
         std::ranges::all_of(
             NamedFiles(DataPaths(data), [](const ShardSetFaults&) {}),
             [](const DataFile& file) { return file.split.said.empty(); });
}

std::string RecordsBelowText(const std::string& folder) {
  const std::string below = FindFolderOfRecords(folder);
  return below.empty() ? ParquetHintOfFolder(folder)
                       : "; there are files of records in " + below +
                             ": name that folder";
}

}  // namespace

bool IsDataFolder(const std::string& data) {
  if (IsUrl(data)) {
    return data.find_first_of("*?[{,") == std::string::npos &&
           !IsRecordFileName(FileNameOf(data));
  }
  std::error_code ignored;
  return std::filesystem::is_directory(OnlyPath(data), ignored);
}

bool IsImageFolder(const std::string& data) {
  return IsDataFolder(data) && !HasShards(OnlyPath(data)) &&
         FindTree(OnlyPath(data)).has_value();
}

std::optional<RecordIndex> IndexSplit(const std::string& data,
                                      std::string_view split,
                                      const DataOptions& options) {
  if (split.empty()) {
    return IndexData(data, options);
  }
  split = RequireSplitName(split);
  return IsDataFolder(data) ? IndexFolder(OnlyPath(data), split, options)
                            : IndexNamed(DataPaths(data), split, options);
}

RecordIndex IndexSplitThatIsThere(const std::string& data,
                                  std::string_view split,
                                  const DataOptions& options) {
  if (std::optional<RecordIndex> index = IndexSplit(data, split, options)) {
    return *std::move(index);
  }
  if (SaysNoSplit(data)) {
    RecordIndex index = IndexData(data, options);
    if (index.class_names().empty()) {  // A tree has its splits.
      return index;
    }
  }
  throw UsageError(MissingSplitText(data, split));
}

std::string DefaultSplit(const std::string& data, std::string_view split) {
  const std::string_view said = SplitOfOneFile(data);
  // In an archive, folders of splits count more than its name.
  const bool is_other =
      !said.empty() && said != split &&
      !(IsArchiveName(FileNameOf(OnlyPath(data))) && IndexSplit(data, split));
  return std::string(is_other ? said : split);
}

std::string MissingSplitText(const std::string& data, std::string_view split) {
  std::string there;
  for (const std::string_view other : kSplits) {
    if (other != split &&
        IndexSplit(data, other, {.on_faults = [](const ShardSetFaults&) {}})) {
      there.append(there.empty() ? "" : " and ").append(other);
    }
  }
  return PathForMessages(data) + " has no images of split='" +
         std::string(split) + "'; there is " +
         (!there.empty() ? there + ": name a split that is there"
                         : "none of train, validation and test" +
                               RecordsBelowText(OnlyPath(data)));
}

RecordIndex IndexData(const std::string& data, const DataOptions& options) {
  const std::string folder = OnlyPath(data);
  if (IsDataFolder(data) && !HasShards(folder)) {
    if (std::optional<ImageTree> tree = FindTree(folder)) {
      return *IndexTree(*std::move(tree), folder, "");
    }
  }
  return IndexSets(ListShards(data, options.on_faults),
                   {.use_cache = options.use_cache}, options);
}

}  // namespace infeed
