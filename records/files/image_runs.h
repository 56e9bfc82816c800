#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A tree's images on their way to their classes (image_layout.h).
namespace infeed {

// Images of one folder whose paths follow each other. Millions of images are in
// thousands of folders, which alone decide in most layouts.
struct ImageRun {
  std::size_t file = 0;   // the first image, in the list of paths
  std::size_t count = 1;  // of images that are neighbours in the list
  // The first one's, below the folders that were taken off so far.
  std::string_view path = {};
  std::string_view class_name = {};  // empty: none yet
};

using ImageRuns = std::vector<ImageRun>;

// All images, in the order of their paths. The views are of the paths.
[[nodiscard]] ImageRuns GatherRuns(std::span<const std::string_view> paths);

// Makes a run of each image, for layouts in which its name counts. paths: those
// that were gathered.
void SeparateRuns(std::span<const std::string_view> paths, ImageRuns& images);

[[nodiscard]] bool HasFolder(const ImageRun& image);
[[nodiscard]] bool IsNamedAsSplit(const ImageRun& image);

// A folder between a split and its images that is no class.
[[nodiscard]] bool IsImagesFolder(std::string_view name);

// The path of a folder or an archive, without what its files' paths begin with
// after it ("/", "#").
[[nodiscard]] std::string WithoutEnd(std::string folder);

// Whether all images have the same first folder.
[[nodiscard]] bool ShareFolder(const ImageRuns& images);

// Requires: all have a folder.
void TakeOffFolder(ImageRuns& images);

// Takes off a folder "images" that all images are in.
void TakeOffImagesFolder(ImageRuns& images);

}  // namespace infeed
