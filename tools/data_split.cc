#include "tools/data_split.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace infeed {
namespace {

constexpr std::array<const char*, 3> kSplitNames = {"train", "validation",
                                                    "test"};

// A hash of a file's base name (FNV-1a, then Philox, since FNV alone leaves
// names that differ in the last letter close together).
std::uint64_t NameHash(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path.substr(path.rfind('/') + 1)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  const std::array<std::uint32_t, 4> words =
      Philox4x32({static_cast<std::uint32_t>(hash),
                  static_cast<std::uint32_t>(hash >> 32)},
                 {});
  return std::uint64_t{words[0]} << 32 | words[1];
}

// A class's images in the order in which they are dealt out.
std::vector<ImageFile> DealingOrder(std::vector<ImageFile> images) {
  std::sort(images.begin(), images.end(),
            [](const ImageFile& a, const ImageFile& b) {
              const std::uint64_t hash_a = NameHash(a.path);
              const std::uint64_t hash_b = NameHash(b.path);
              return hash_a != hash_b ? hash_a < hash_b : a.path < b.path;
            });
  return images;
}

// How many of a class's images each part gets. Fractions such as 0.7 are not
// exact: 0.7 * 10 must still be 7.
std::vector<std::size_t> PartSizes(const std::vector<double>& fractions,
                                   std::size_t images) {
  std::vector<std::size_t> sizes;
  std::size_t left = images;
  for (std::size_t part = 0; part + 1 < fractions.size(); ++part) {
    const auto share = static_cast<std::size_t>(
        std::trunc(fractions[part] * static_cast<double>(images) + 1e-6));
    sizes.push_back(std::min(left, std::max(share, std::size_t{part == 0})));
    left -= sizes.back();
  }
  sizes.push_back(left);
  return sizes;
}

}  // namespace

std::vector<double> ParseSplit(const std::string& text) {
  std::vector<double> fractions;
  double sum = 0;
  const char* place = text.data();
  const char* const end = place + text.size();
  bool good = true;
  while (good) {
    double fraction = 0;
    const auto [next, error] = std::from_chars(place, end, fraction);
    good = error == std::errc{} && fraction > 0 && fraction < 1;
    fractions.push_back(fraction);
    sum += fraction;
    place = next;
    if (place == end || *place != '/') {
      break;
    }
    ++place;
  }
  if (!good || place != end || fractions.size() < 2 || fractions.size() > 3 ||
      std::abs(sum - 1) > 1e-6) {
    throw UsageError("--split " + text +
                     ": give fractions whose sum is 1, as 0.9/0.1 (train, "
                     "validation) or 0.8/0.1/0.1 (and test)");
  }
  return fractions;
}

void SplitTree(const std::vector<double>& fractions, ImageTree& tree) {
  if (tree.has_split_folders) {
    throw UsageError(
        "--split: the folder has train, validation or test folders already; "
        "leave the flag out, or give a folder of class folders");
  }
  std::vector<std::vector<ImageFile>> classes(tree.classes.size());
  for (ImageFile& image : tree.splits.front().images) {
    classes[static_cast<std::size_t>(image.class_index)].push_back(
        std::move(image));
  }
  std::vector<ImageSplit> splits(fractions.size());
  for (std::vector<ImageFile>& images : classes) {
    const std::vector<std::size_t> sizes = PartSizes(fractions, images.size());
    std::vector<ImageFile> dealt = DealingOrder(std::move(images));
    auto next = std::make_move_iterator(dealt.begin());
    for (std::size_t part = 0; part < splits.size(); ++part) {
      const auto first = next;
      next += static_cast<std::ptrdiff_t>(sizes[part]);
      splits[part].images.insert(splits[part].images.end(), first, next);
    }
  }
  tree.splits.clear();
  for (std::size_t part = 0; part < splits.size(); ++part) {
    splits[part].name = kSplitNames[part];
    std::sort(splits[part].images.begin(), splits[part].images.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    if (splits[part].images.empty()) {
      tree.notes.push_back(splits[part].name +
                           ": no images, the classes have too few to divide");
    } else {
      tree.splits.push_back(std::move(splits[part]));
    }
  }
}

}  // namespace infeed
