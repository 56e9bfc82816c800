#include "records/files/layout_faults.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

constexpr std::array<std::string_view, 6> kImages = {
    "images", "image", "imgs", "img", "jpegimages", "photos"};
constexpr std::array<std::string_view, 9> kMasks = {"annotation",
                                                    "annotations",
                                                    "label",
                                                    "labels",
                                                    "mask",
                                                    "masks",
                                                    "segmentation",
                                                    "segmentationclass",
                                                    "segmentationobject"};

bool IsAmong(std::string_view name, const auto& names) {
  return std::ranges::find(names, LowerCase(name)) != names.end();
}

std::string TwoFolders(std::string_view one, std::string_view other) {
  return ": the folders " + std::string(one) + "/ and " + std::string(other) +
         "/ ";
}

// A file's way to be read; the first of the list that is there counts.
struct Hint {
  bool (*is_it)(std::string_view path);
  std::string_view what;
};

constexpr std::array<Hint, 6> kHints = {{
    {[](std::string_view path) {
       return path.ends_with(".json") &&
              (path.find("coco") != path.npos ||
               BaseName(path).starts_with("instances"));
     },
     "boxes of COCO are read by imagenet_to_records --coco FILE"},
    {[](std::string_view path) {
       return path.ends_with(".yaml") || path.ends_with(".yml") ||
              (path.ends_with(".txt") &&
               ("/" + std::string(path)).find("/labels/") != std::string::npos);
     },
     "boxes of YOLO are read by imagenet_to_records --yolo"},
    {[](std::string_view path) { return path.ends_with(".xml"); },
     "boxes of Pascal VOC are read by imagenet_to_records --voc"},
    {[](std::string_view path) { return path.find("idx3-ubyte") != path.npos; },
     "raw files of MNIST are read by imagenet_to_records --raw_format idx"},
    {[](std::string_view path) {
       return BaseName(path).starts_with("data_batch_") &&
              path.ends_with(".bin");
     },
     "raw files of CIFAR-10 are read by imagenet_to_records --raw_format "
     "cifar10"},
    {[](std::string_view path) {
       return path.ends_with(".csv") || path.ends_with(".tsv");
     },
     "a table of images and labels is read by imagenet_to_records --manifest "
     "FILE"},
}};

}  // namespace

std::string OtherLayoutHint(const std::string& folder,
                            std::span<const std::string_view> files) {
  for (const Hint& hint : kHints) {
    const auto file = std::ranges::find_if(files, hint.is_it);
    if (file != files.end()) {
      return "; " + folder + std::string(*file) + ": " + std::string(hint.what);
    }
  }
  return "";
}

void RefuseSplitsInClasses(const std::string& folder, const ImageRuns& images) {
  const bool are_inside =
      !images.empty() && std::ranges::all_of(images, [](const ImageRun& image) {
        return HasFolder(image) &&
               !SplitNamed(FirstFolder(BelowFirstFolder(image.path))).empty();
      });
  if (are_inside) {
    throw UsageError(folder + std::string(images.front().path) +
                     ": splits are inside the class folders here: move them "
                     "outside, SPLIT/<class>/*");
  }
}

void RefuseNamesLikeSplits(const std::string& folder, const ImageRuns& images) {
  std::map<std::string_view, std::string_view> like;  // folders, by split
  bool have_classes = true;
  bool are_all = true;
  std::string_view last;  // Most images are in the folder of the one before.
  std::string_view split;
  for (const ImageRun& image : images) {
    if (const std::string_view own = FirstFolder(image.path); own != last) {
      last = own;
      split = LikelySplit(own);
      if (!split.empty()) {
        like.emplace(split, own);
      }
    }
    if (split.empty()) {
      are_all = false;
      continue;
    }
    const std::string_view inside = FirstFolder(BelowFirstFolder(image.path));
    have_classes &= !inside.empty() && !IsImagesFolder(inside);
  }
  if (like.size() > 1 && like.contains("train") && (are_all || have_classes)) {
    throw UsageError(
        WithoutEnd(folder) +
        TwoFolders(like.begin()->second, std::next(like.begin())->second) +
        "seem to be splits: name them train, validation or test; or, if they "
        "are classes, put all of them into a folder train/");
  }
}

void RefuseImagesBesideMasks(const std::string& folder,
                             const ImageRuns& images) {
  std::string_view of_images;
  std::string_view of_masks;
  for (const ImageRun& image : images) {
    const std::string_view own = FirstFolder(image.path);
    if (IsAmong(own, kImages)) {
      of_images = own;
    } else if (IsAmong(own, kMasks)) {
      of_masks = own;
    } else {
      return;
    }
  }
  if (!of_images.empty() && !of_masks.empty()) {
    throw UsageError(
        WithoutEnd(folder) + TwoFolders(of_images, of_masks) +
        "seem to be images and their masks or labels, not classes: sort the "
        "images into class folders; boxes are converted by imagenet_to_records "
        "--voc, --yolo or --coco, and masks are fields of records; or, if they "
        "are classes, rename one");
  }
}

}  // namespace infeed
