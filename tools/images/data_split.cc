#include "tools/images/data_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "records/bytes/fnv_hash.h"
#include "records/files/split_names.h"
#include "tools/images/annotations.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

// A hash of a file's name: FNV-1a, then Philox, since FNV-1a alone gives close
// hashes to names that differ only in the last letter.
std::uint64_t NameHash(std::string_view name) {
  const std::uint64_t hash = FnvHash(name);
  const std::array<std::uint32_t, 4> words =
      Philox4x32({static_cast<std::uint32_t>(hash),
                  static_cast<std::uint32_t>(hash >> 32)},
                 {});
  return std::uint64_t{words[0]} << 32 | words[1];
}

// A class's images, by their places in the tree, in the order in which they are
// distributed to the parts. Images of the same name keep their order.
std::vector<std::size_t> DealingOrder(const std::vector<ImageFile>& images,
                                      const std::vector<std::size_t>& places) {
  std::vector<std::pair<std::uint64_t, std::size_t>> hashed;
  hashed.reserve(places.size());
  for (const std::size_t place : places) {
    hashed.emplace_back(NameHash(ImageName(images[place])), place);
  }
  std::sort(hashed.begin(), hashed.end());
  std::vector<std::size_t> order;
  order.reserve(places.size());
  for (const auto& [hash, place] : hashed) {
    order.push_back(place);
  }
  return order;
}

// The number of a class's images in each part. Fractions such as 0.7 are not
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

// The part of each image, by its place in the tree.
std::vector<std::size_t> PartOfEach(const std::vector<double>& fractions,
                                    const std::vector<ImageFile>& images,
                                    std::size_t classes) {
  // Images with boxes are not of a class: one group.
  std::vector<std::vector<std::size_t>> places(
      std::max(classes, std::size_t{1}));
  for (std::size_t i = 0; i < images.size(); ++i) {
    places[static_cast<std::size_t>(images[i].class_index)].push_back(i);
  }
  std::vector<std::size_t> part_of(images.size());
  for (const std::vector<std::size_t>& members : places) {
    const std::vector<std::size_t> sizes = PartSizes(fractions, members.size());
    const std::vector<std::size_t> dealt = DealingOrder(images, members);
    auto next = dealt.begin();
    for (std::size_t part = 0; part < sizes.size(); ++part) {
      for (std::size_t i = 0; i < sizes[part]; ++i) {
        part_of[*next++] = part;
      }
    }
  }
  return part_of;
}

}  // namespace

std::vector<double> ParseSplit(const std::string& text) {
  if (text == "reference") {
    return {0.8, 0.1, 0.1};
  }
  std::vector<double> fractions;
  double sum = 0;
  bool good = true;
  for (std::size_t begin = 0, end = 0; end != std::string::npos;
       begin = end + 1) {
    end = text.find('/', begin);
    const double fraction =
        ReadNumber(text.substr(begin, end - begin)).value_or(0);
    good = good && fraction > 0 && fraction < 1;
    fractions.push_back(fraction);
    sum += fraction;
  }
  if (!good || fractions.size() < 2 || fractions.size() > 3 ||
      std::abs(sum - 1) > 1e-6) {
    throw UsageError("--split " + text +
                     ": give fractions whose sum is 1, such as 0.9/0.1 (train, "
                     "validation) or 0.8/0.1/0.1 (and test), or reference");
  }
  return fractions;
}

void SplitTree(const std::vector<double>& fractions, ImageTree& tree) {
  if (tree.has_split_folders) {
    throw UsageError(
        "--split: the input is divided into train, validation or test already; "
        "leave the flag out, or give a folder of class folders");
  }
  std::vector<ImageFile> images = std::move(tree.splits.front().images);
  const std::vector<std::size_t> part_of =
      PartOfEach(fractions, images, tree.classes.size());
  std::vector<ImageSplit> splits(fractions.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    splits[part_of[i]].images.push_back(std::move(images[i]));
  }
  tree.splits.clear();
  for (std::size_t part = 0; part < splits.size(); ++part) {
    splits[part].name = kSplits[part];
    if (splits[part].images.empty()) {
      tree.notes.push_back(splits[part].name +
                           ": no images, the classes have too few to divide");
    } else {
      tree.splits.push_back(std::move(splits[part]));
    }
  }
}

}  // namespace infeed
