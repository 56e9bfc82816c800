#include "records/archives/zip_classes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "records/bytes/base_name.h"
#include "records/files/folder_listing.h"
#include "records/files/shards.h"

namespace infeed {
namespace {

constexpr std::string_view kTrain = "train";

// The index of a split in kSplits; their number for any other text.
std::int32_t NumberOfSplit(std::string_view split) {
  return static_cast<std::int32_t>(std::ranges::find(kSplits, split) -
                                   kSplits.begin());
}

// An image on its way to its class. The views are of the directory's names.
struct Candidate {
  const ZipEntry* entry = nullptr;
  std::string_view path;  // below the folders that were taken off so far
  std::string_view split = kTrain;
  bool is_in_split = false;          // in a folder of the split
  std::string_view class_name = {};  // empty: none
};

using Candidates = std::vector<Candidate>;

// The first folder of a path; empty if it has none.
std::string_view FirstFolder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view()
                                         : path.substr(0, slash);
}

// A path without its first folder, which it has.
std::string_view BelowFirst(std::string_view path) {
  return path.substr(path.find('/') + 1);
}

// Some archives have it before each name.
std::string_view WithoutDotSlash(std::string_view path) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  return path;
}

// Whether any part of a path, folder or file, satisfies a predicate.
template <typename Predicate>
bool AnyPart(std::string_view path, Predicate predicate) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (predicate(path.substr(0, slash))) {
      return true;
    }
    if (slash == std::string_view::npos) {
      return false;
    }
    path.remove_prefix(slash + 1);
  }
}

bool IsBadName(std::string_view name) {
  return name.starts_with('/') ||
         AnyPart(name, [](std::string_view part) { return part == ".."; });
}

bool IsHidden(std::string_view path) {
  return AnyPart(path, [](std::string_view part) {
    return part.starts_with('.') || part == "__MACOSX";
  });
}

Candidates FindCandidates(const ZipDirectory& directory, ZipImages& found) {
  Candidates candidates;
  for (const ZipEntry& entry : directory.entries) {
    const std::string_view path = WithoutDotSlash(entry.name);
    if (entry.is_link || IsBadName(path)) {
      found.bad_names.push_back(entry.name);
    } else if (IsHidden(path) || !HasImageExtension(BaseName(path))) {
      ++found.left_out;
    } else {
      candidates.push_back({.entry = &entry, .path = path});
    }
  }
  std::sort(found.bad_names.begin(), found.bad_names.end());
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return a.entry->name < b.entry->name;
            });
  return candidates;
}

// Takes off the leading folders that all images share, up to a split's name,
// and returns the last one; empty: there was none.
std::string_view DropCommonFolders(Candidates& candidates) {
  std::string_view last;
  while (!candidates.empty()) {
    const std::string_view common = FirstFolder(candidates.front().path);
    const bool is_shared = std::all_of(
        candidates.begin(), candidates.end(), [&](const Candidate& image) {
          return FirstFolder(image.path) == common;
        });
    if (common.empty() || !is_shared || !SplitOfFolder(common).empty()) {
      break;
    }
    last = common;
    for (Candidate& image : candidates) {
      image.path = BelowFirst(image.path);
    }
  }
  return last;
}

bool HasSplitFolders(const Candidates& candidates) {
  const auto is_in_split = [](const Candidate& image) {
    return !SplitOfFolder(FirstFolder(image.path)).empty();
  };
  return std::all_of(candidates.begin(), candidates.end(), is_in_split) ||
         std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate& image) {
                       return is_in_split(image) &&
                              !FirstFolder(BelowFirst(image.path)).empty();
                     });
}

// Sets the splits of all images and takes the split folders off. Images outside
// them are left out.
void SetSplits(Candidates& candidates, ZipImages& found) {
  if (!HasSplitFolders(candidates)) {
    return;
  }
  for (Candidate& image : candidates) {
    image.split = SplitOfFolder(FirstFolder(image.path));
    image.is_in_split = true;
    image.path = BelowFirst(image.path);
  }
  found.left_out += static_cast<std::int64_t>(std::erase_if(
      candidates, [](const Candidate& image) { return image.split.empty(); }));
}

// WORD of a name WORD.NUMBER.EXT; empty if the name has another form.
std::string_view WordOf(std::string_view name) {
  const auto is_number = [](std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == last) {
    return {};
  }
  const std::string_view word = name.substr(0, first);
  const std::string_view number = name.substr(first + 1, last - first - 1);
  // A number for a word would be a date or the like.
  return is_number(word) || number.empty() || !is_number(number)
             ? std::string_view()
             : word;
}

// Sets the classes of archives without class folders, split by split.
void SetClassesByWord(Candidates& candidates) {
  std::map<std::string_view, bool> has_words;  // by split
  for (Candidate& image : candidates) {
    image.class_name = WordOf(BaseName(image.path));
    bool& all = has_words.emplace(image.split, true).first->second;
    all = all && !image.class_name.empty();
  }
  for (Candidate& image : candidates) {
    if (!has_words.at(image.split)) {
      image.class_name = {};
    }
  }
}

// shared: the folder of all images, which is their class where they have no
// other: an archive of one class.
void SetClasses(std::string_view shared, Candidates& candidates) {
  bool has_folders = false;
  for (Candidate& image : candidates) {
    image.class_name = FirstFolder(image.path);
    has_folders |= !image.class_name.empty();
  }
  if (!has_folders) {
    SetClassesByWord(candidates);
  }
  const bool has_classes = std::any_of(
      candidates.begin(), candidates.end(), [](const Candidate& image) {
        return !image.class_name.empty() || image.is_in_split;
      });
  for (Candidate& image : candidates) {
    image.class_name = has_classes ? image.class_name : shared;
  }
}

// The number of each class, in the order of their names.
std::map<std::string_view, std::int32_t> NumberClasses(
    const Candidates& candidates) {
  std::map<std::string_view, std::int32_t> numbers;
  for (const Candidate& image : candidates) {
    if (!image.class_name.empty()) {
      numbers.emplace(image.class_name, -1);
    }
  }
  std::int32_t next = 0;
  for (auto& [name, number] : numbers) {
    number = next++;
  }
  return numbers;
}

}  // namespace

ZipImages FindZipImages(const ZipDirectory& directory) {
  ZipImages found;
  Candidates candidates = FindCandidates(directory, found);
  const std::string_view shared = DropCommonFolders(candidates);
  SetSplits(candidates, found);
  SetClasses(shared, candidates);
  const auto numbers = NumberClasses(candidates);
  for (const auto& [name, number] : numbers) {
    found.classes.emplace_back(name);
  }
  found.images.reserve(candidates.size());
  for (const Candidate& image : candidates) {
    found.images.push_back({.offset = image.entry->offset,
                            .extent = image.entry->extent,
                            .bytes = image.entry->bytes,
                            .class_index = image.class_name.empty()
                                               ? -1
                                               : numbers.at(image.class_name),
                            .split = NumberOfSplit(image.split)});
  }
  return found;
}

void KeepSplit(std::string_view split, ZipImages& images) {
  if (!split.empty()) {
    const std::int32_t number =
        NumberOfSplit(split == "val" ? "validation" : split);
    std::erase_if(images.images, [number](const ZipImages::Image& image) {
      return image.split != number;
    });
  }
}

}  // namespace infeed
