#include "tools/images/tree_union.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "records/store/index_data.h"
#include "tools/images/record_images.h"
#include "tools/images/record_tree.h"

namespace infeed {
namespace {

// The length of RAW in the paths under RAW, with any number of slashes at its
// end.
std::size_t RootLength(std::string_view root) {
  const std::size_t last = root.find_last_not_of('/');
  return last == std::string_view::npos ? root.size() : last + 1;
}

void RefuseMixedLayouts(const std::vector<ImageTree>& trees,
                        const std::vector<std::string>& roots) {
  for (std::size_t i = 1; i < trees.size(); ++i) {
    if (trees[i].has_split_folders != trees[0].has_split_folders) {
      const std::size_t split = trees[i].has_split_folders ? i : 0;
      throw UsageError("--raw_data_dir: " + roots[split] +
                       " has train, validation or test folders, " +
                       roots[i - split] +
                       " plain class folders: give folders of one layout");
    }
  }
}

// The classes of all trees, and their numbers by name.
struct UnitedClasses {
  std::vector<ImageClass> classes;  // with the first text that is not the name
  std::map<std::string, std::int32_t> numbers;
};

bool HaveSameClasses(const std::vector<ImageTree>& trees) {
  return std::ranges::all_of(trees, [&](const ImageTree& tree) {
    return std::ranges::equal(tree.classes, trees.front().classes, {},
                              &ImageClass::name, &ImageClass::name);
  });
}

// The union of all classes: in their order if all trees have the same classes,
// else by name.
UnitedClasses UniteClasses(const std::vector<ImageTree>& trees) {
  UnitedClasses united;
  for (const ImageTree& tree : trees) {
    for (const auto& [name, text] : tree.classes) {
      const auto next = static_cast<std::int32_t>(united.classes.size());
      const auto [place, is_new] = united.numbers.emplace(name, next);
      if (is_new) {
        united.classes.push_back({name, text});
        continue;
      }
      ImageClass& known =
          united.classes[static_cast<std::size_t>(place->second)];
      known.text = known.text == name ? text : known.text;
    }
  }
  if (!HaveSameClasses(trees)) {
    std::ranges::sort(united.classes, {}, &ImageClass::name);
    for (std::size_t i = 0; i < united.classes.size(); ++i) {
      united.numbers[united.classes[i].name] = static_cast<std::int32_t>(i);
    }
  }
  return united;
}

// Renumbers the classes of a tree's images to the union's numbers. Adds a note
// if the tree is made of records, whose labels are numbers.
void Renumber(const UnitedClasses& united, ImageTree& tree) {
  std::vector<std::int32_t> numbers;
  for (const ImageClass& image_class : tree.classes) {
    numbers.push_back(united.numbers.at(image_class.name));
  }
  const bool is_of_records =
      !tree.splits.empty() && !tree.splits.front().images.empty() &&
      tree.splits.front().images.front().records != nullptr;
  for (std::size_t i = 0; is_of_records && i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<std::int32_t>(i)) {
      tree.notes.push_back(fmt::format(
          "classes are numbered anew, by name, as the inputs have different "
          "ones: {} was class {} (from 0) of the records, and is {}",
          tree.classes[i].name, i, numbers[i]));
      break;
    }
  }
  for (ImageSplit& split : tree.splits) {
    for (ImageFile& image : split.images) {
      image.class_index = numbers[static_cast<std::size_t>(image.class_index)];
    }
  }
}

void RefuseTwins(std::vector<const ImageFile*> images) {
  const auto key = [](const ImageFile* image) {
    return std::pair(image->class_index, BaseName(image->path));
  };
  std::ranges::sort(images, {}, [&](const ImageFile* image) {
    return std::tuple(key(image), std::string_view(image->path));
  });
  const auto twin = std::ranges::adjacent_find(images, {}, key);
  if (twin != images.end()) {
    throw UsageError("--raw_data_dir: " + (*twin)->path + " and " +
                     (*std::next(twin))->path +
                     " have the same class and name: remove or rename one, or "
                     "give its folder once");
  }
}

ImageSplit UnitedSplit(std::string_view name, std::vector<ImageTree>& trees,
                       const std::vector<std::string>& roots) {
  // With the length of the folder in its path.
  std::vector<std::pair<ImageFile, std::size_t>> images;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (ImageSplit& split : trees[i].splits) {
      if (split.name != name) {
        continue;
      }
      for (ImageFile& image : split.images) {
        const std::size_t root = image.records == nullptr
                                     ? RootLength(roots[i])
                                     : image.records->FolderLength(image);
        images.emplace_back(std::move(image), root);
      }
    }
  }
  std::ranges::sort(images, {}, [](const auto& rooted) {
    const std::string_view path = rooted.first.path;
    return std::pair(path.substr(rooted.second), path);
  });
  std::vector<const ImageFile*> files;
  for (const auto& [image, root] : images) {
    if (image.records == nullptr) {
      files.push_back(&image);
    }
  }
  RefuseTwins(std::move(files));
  ImageSplit split{std::string(name), {}};
  for (auto& [image, root] : images) {
    split.images.push_back(std::move(image));
  }
  return split;
}

bool HasRecordFiles(const std::string& folder) {
  return std::ranges::any_of(kSplits, [&](std::string_view split) {
    return !FindSplit(folder, split, [](const ShardSetFaults&) {}).empty() ||
           !FindSplitFiles(folder, split).empty();
  });
}

// nullopt: the input is not a folder of images, but a folder of records, or
// names files of records.
std::optional<ImageTree> FindFolderImages(const std::string& input) {
  if (!IsDataFolder(input)) {
    return std::nullopt;
  }
  try {
    return FindImages(input);
  } catch (const UsageError& error) {
    if (!HasRecordFiles(input)) {
      throw UsageError(std::string(error.what()) +
                       "; no TFRecords, tars or zips either");
    }
  }
  return std::nullopt;
}

// The trees of all inputs, and the input of each. All inputs of records are one
// tree.
struct InputTrees {
  std::vector<ImageTree> trees = {};
  std::vector<std::string> roots = {};
};

InputTrees FindTrees(const std::vector<std::string>& inputs,
                     const FindImagesOptions& options) {
  InputTrees found;
  std::string records;
  for (const std::string& input : inputs) {
    if (std::optional<ImageTree> tree = FindFolderImages(input)) {
      found.trees.push_back(*std::move(tree));
      found.roots.push_back(input);
    } else {
      records.append(records.empty() ? "" : ",").append(input);
    }
  }
  if (records.empty()) {
    return found;
  }
  std::optional<ImageTree> tree = FindRecordImages(
      records, options.keys, options.threads, options.on_records);
  if (!tree) {
    throw UsageError("--raw_data_dir " + records +
                     ": no records of train, validation or test in it");
  }
  found.trees.push_back(*std::move(tree));
  found.roots.push_back(std::move(records));
  return found;
}

}  // namespace

ImageTree FindImagesIn(const std::vector<std::string>& raw_data_dirs,
                       const FindImagesOptions& options) {
  auto [trees, roots] = FindTrees(raw_data_dirs, options);
  if (trees.size() == 1) {
    return std::move(trees.front());
  }
  RefuseMixedLayouts(trees, roots);
  const UnitedClasses classes = UniteClasses(trees);
  ImageTree united;
  united.has_split_folders = trees.front().has_split_folders;
  united.classes = classes.classes;
  for (ImageTree& tree : trees) {
    Renumber(classes, tree);
    std::move(tree.notes.begin(), tree.notes.end(),
              std::back_inserter(united.notes));
    for (const LeftOut& left_out : tree.left_out) {
      AddLeftOut(united.left_out, left_out);
    }
  }
  for (const std::string_view name : kSplits) {
    ImageSplit split = UnitedSplit(name, trees, roots);
    if (!split.images.empty()) {
      united.splits.push_back(std::move(split));
    }
  }
  return united;
}

}  // namespace infeed
