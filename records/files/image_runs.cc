#include "records/files/image_runs.h"

#include <algorithm>
#include <utility>

#include "records/bytes/plain_text.h"
#include "records/files/split_names.h"

namespace infeed {

ImageRuns GatherRuns(std::span<const std::string_view> paths) {
  ImageRuns images;
  bool is_sorted = true;
  std::string_view before;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string_view path = paths[i];
    is_sorted = is_sorted && before <= path;
    const std::size_t folder = before.rfind('/') + 1;
    if (i > 0 && is_sorted && path.find('/', folder) == path.npos &&
        path.substr(0, folder) == before.substr(0, folder)) {
      ++images.back().count;
    } else {
      images.push_back({.file = i, .path = path});
    }
    before = path;
  }
  if (!is_sorted) {
    SeparateRuns(paths, images);
    std::ranges::sort(images, {}, &ImageRun::path);
  }
  return images;
}

void SeparateRuns(std::span<const std::string_view> paths, ImageRuns& images) {
  ImageRuns separate;
  for (const ImageRun& run : images) {
    const std::size_t above = paths[run.file].size() - run.path.size();
    for (std::size_t i = run.file; i < run.file + run.count; ++i) {
      separate.push_back({.file = i, .path = paths[i].substr(above)});
    }
  }
  images = std::move(separate);
}

bool HasFolder(const ImageRun& image) {
  return !FirstFolder(image.path).empty();
}

bool IsNamedAsSplit(const ImageRun& image) {
  return !SplitNamed(FirstFolder(image.path)).empty();
}

bool IsImagesFolder(std::string_view name) {
  return name == "images" || name == "Images" || name == "IMAGES";
}

std::string WithoutEnd(std::string folder) {
  while (folder.size() > 1 &&
         (folder.ends_with('/') || folder.ends_with('#'))) {
    folder.pop_back();
  }
  return folder;
}

bool ShareFolder(const ImageRuns& images) {
  return !images.empty() && HasFolder(images.front()) &&
         std::ranges::all_of(images, [&](const ImageRun& image) {
           return FirstFolder(image.path) == FirstFolder(images.front().path);
         });
}

void TakeOffFolder(ImageRuns& images) {
  for (ImageRun& image : images) {
    image.path = BelowFirstFolder(image.path);
  }
}

void TakeOffImagesFolder(ImageRuns& images) {
  if (ShareFolder(images) && IsImagesFolder(FirstFolder(images.front().path))) {
    TakeOffFolder(images);
  }
}

}  // namespace infeed
