#include "tools/images/duplicates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/sha256.h"
#include "tools/cli/parallel_for.h"
#include "tools/images/raw_images.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

using Digest = Sha256::Digest;

// The bytes of an image's file. A bad record has its path instead, which no
// other has: the conversion reports it.
std::string BytesOf(const ImageFile& image) {
  try {
    return ReadImage(image);
  } catch (const DataError&) {
    return image.path;
  }
}

Digest FileDigest(const ImageFile& image) {
  const std::string bytes = BytesOf(image);
  Sha256 hash;
  hash.Add(std::as_bytes(std::span(bytes)));
  return hash.Finish();
}

Digest PixelDigest(const RawImages& raw, const ImageFile& file) {
  RgbImage image;
  raw.Read(file, image);
  Sha256 hash;
  hash.Add(std::as_bytes(image.pixels()));
  return hash.Finish();
}

// An image, by its place in the tree.
struct Candidate {
  std::int64_t bytes = 0;
  Digest digest{};
  std::size_t split = 0;
  std::size_t image = 0;

  [[nodiscard]] auto place() const { return std::tuple(split, image); }
};

// Calls visit(first, last) for each run of two or more elements of one key.
template <typename Key, typename Visit>
void ForEachRun(const std::vector<Candidate>& candidates, Key Candidate::*key,
                const Visit& visit) {
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last = std::find_if_not(
        first, candidates.end(),
        [&](const Candidate& other) { return *first.*key == other.*key; });
    if (last - first > 1) {
      visit(first, last);
    }
    first = last;
  }
}

// The images that share their size with another image.
std::vector<Candidate> OfOneSize(const ImageTree& tree) {
  std::vector<Candidate> all;
  for (std::size_t split = 0; split < tree.splits.size(); ++split) {
    const std::vector<ImageFile>& images = tree.splits[split].images;
    for (std::size_t i = 0; i < images.size(); ++i) {
      all.push_back({images[i].bytes, {}, split, i});
    }
  }
  std::ranges::stable_sort(all, {}, &Candidate::bytes);
  std::vector<Candidate> candidates;
  ForEachRun(all, &Candidate::bytes, [&](auto first, auto last) {
    candidates.insert(candidates.end(), first, last);
  });
  return candidates;
}

DuplicateGroup::Image Described(const ImageTree& tree,
                                const Candidate& candidate) {
  const ImageSplit& split = tree.splits[candidate.split];
  const ImageFile& image = split.images[candidate.image];
  return {ImagePathForMessages(image),
          image.objects != nullptr
              ? "-"
              : tree.classes[static_cast<std::size_t>(image.class_index)].name,
          split.name};
}

bool Differ(const DuplicateGroup& group,
            std::string DuplicateGroup::Image::*field) {
  return std::ranges::adjacent_find(group.images, std::ranges::not_equal_to(),
                                    field) != group.images.end();
}

}  // namespace

std::vector<DuplicateGroup> FindDuplicates(const ImageTree& tree, int threads) {
  std::vector<Candidate> candidates = OfOneSize(tree);
  ParallelFor(candidates.size(), threads, [&](std::size_t i) {
    Candidate& candidate = candidates[i];
    const ImageFile& image =
        tree.splits[candidate.split].images[candidate.image];
    candidate.digest = image.raw_index >= 0 ? PixelDigest(*tree.raw, image)
                                            : FileDigest(image);
  });
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.digest, candidate.place());
  });
  std::vector<std::vector<Candidate>> runs;
  ForEachRun(candidates, &Candidate::digest,
             [&](auto first, auto last) { runs.emplace_back(first, last); });
  std::ranges::sort(runs, {},
                    [](const auto& run) { return run.front().place(); });
  std::vector<DuplicateGroup> groups(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Candidate& candidate : runs[i]) {
      groups[i].images.push_back(Described(tree, candidate));
    }
  }
  return groups;
}

bool ClassesDiffer(const DuplicateGroup& group) {
  return Differ(group, &DuplicateGroup::Image::class_name);
}

bool SplitsDiffer(const DuplicateGroup& group) {
  return Differ(group, &DuplicateGroup::Image::split);
}

std::vector<std::string> DuplicateWarnings(
    const std::vector<DuplicateGroup>& groups) {
  std::vector<std::string> warnings;
  const auto warn = [&](const auto& differ, const char* what) {
    const auto count = std::count_if(groups.begin(), groups.end(), differ);
    if (count > 0) {
      warnings.push_back(
          fmt::format("duplicates: {} of images with the same content {}",
                      CountText(count, "group"), what));
    }
  };
  warn(ClassesDiffer, "have different classes: some labels must be wrong");
  warn(SplitsDiffer,
       "lie in several splits: test images are also training images");
  return warnings;
}

std::string DuplicatesText(const std::vector<DuplicateGroup>& groups) {
  if (groups.empty()) {
    return "no duplicates: no two images have the same content\n";
  }
  std::string text;
  for (const DuplicateGroup& group : groups) {
    text += fmt::format(
        "{} images have the same content{}{}:\n", group.images.size(),
        ClassesDiffer(group) ? ", but different classes" : "",
        SplitsDiffer(group) ? ", and lie in several splits" : "");
    for (const DuplicateGroup::Image& image : group.images) {
      text += fmt::format("  {} (class {}, {})\n", ShownText(image.path),
                          ShownText(image.class_name), image.split);
    }
  }
  return text + fmt::format(
                    "{} of duplicates: {} of different classes, {} in several "
                    "splits\n",
                    CountText(groups.size(), "group"),
                    std::count_if(groups.begin(), groups.end(), ClassesDiffer),
                    std::count_if(groups.begin(), groups.end(), SplitsDiffer));
}

}  // namespace infeed
