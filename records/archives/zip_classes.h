#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/archives/zip_directory.h"

// The images of a zip archive and their classes.
namespace infeed {

struct ZipImages {
  struct Image {
    std::int64_t offset = 0;        // of its local header in the file
    std::int64_t extent = 0;        // bytes to read for ReadZipEntry()
    std::int64_t bytes = 0;         // of the image, as the archive claims
    std::int32_t class_index = -1;  // into classes; -1: no class
    std::int32_t split = 0;         // into kSplits (shards.h)
  };

  // Of all splits, sorted bytewise, so that a class has one number in every
  // split.
  std::vector<std::string> classes;
  std::vector<Image> images;  // sorted by name, bytewise
  // Files that are not images, hidden ones, __MACOSX/, and images outside the
  // splits' folders.
  std::int64_t left_out = 0;
  // Links, and files with names that are absolute or have "..": left out, too.
  std::vector<std::string> bad_names;
};

// Finds the images of all splits. Layouts, after leading folders that all
// images share, up to the first split's name:
//
//   {train,validation|val,test}/<class>/*
//   <class>/*                               all of it is train
//   {train,validation|val,test}/*, or *     no classes; but if all images of a
//                                           split are named WORD.NUMBER.EXT, as
//                                           cat.0.jpg, WORD is the class
//
// Where that gives no class at all, the last folder that all images share is
// the class: an archive of one class.
//
// Split folders are such if one has a folder in it or all images are in them:
// an ordinary class may be named "train", too. Folders inside a class folder
// belong to the class. An image beside class folders has no class.
[[nodiscard]] ZipImages FindZipImages(const ZipDirectory& directory);

// Removes the images of all other splits than this one: "train", "validation"
// (or "val"), "test"; "" keeps all.
void KeepSplit(std::string_view split, ZipImages& images);

}  // namespace infeed
