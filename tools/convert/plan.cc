#include "tools/convert/plan.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/files/class_list.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "tools/convert/python_shuffle.h"
#include "tools/shards/plan.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxShards = 99999;  // five digits in a name
constexpr std::int64_t kReferenceTrainShards = 1024;
constexpr std::int64_t kReferenceOtherShards = 128;

std::vector<ImageFile> Shuffled(std::vector<ImageFile> images,
                                std::uint64_t seed) {
  std::vector<ImageFile> shuffled;
  shuffled.reserve(images.size());
  for (const std::int64_t index : PythonShuffle(std::ssize(images), seed)) {
    shuffled.push_back(std::move(images[static_cast<std::size_t>(index)]));
  }
  return shuffled;
}

// With options.shards = 0: the layout's default.
std::int64_t ShardCount(const PlannedSplit& split, const PlanOptions& options) {
  const auto images = std::ssize(split.images);
  return options.shard_bytes > 0
             ? ShardCountBySize(images, split.bytes, options.shard_bytes)
             : options.shards;
}

std::vector<ShardRange> Ranges(const PlannedSplit& split,
                               const PlanOptions& options) {
  const auto images = std::ssize(split.images);
  const std::int64_t shards = ShardCount(split, options);
  switch (options.layout) {
    case ShardLayout::kFlat:
      return BalancedShards(
          images, shards > 0 ? shards : AutoShardCount(images, split.bytes));
    case ShardLayout::kReference:
      return ReferenceShards(images, shards > 0 ? shards
                                     : split.name == "train"
                                         ? kReferenceTrainShards
                                         : kReferenceOtherShards);
  }
  return {};
}

std::string TarShardName(std::string_view split, std::int64_t number) {
  return fmt::format("{}-{:06}.tar", split, number);
}

PlannedSplit PlanSplit(ImageSplit source, const PlanOptions& options) {
  PlannedSplit split;
  split.name = std::move(source.name);
  split.images = split.name == "train"
                     ? Shuffled(std::move(source.images), options.seed)
                     : std::move(source.images);
  for (const ImageFile& image : split.images) {
    split.bytes +=
        options.record_bytes > 0 ? options.record_bytes : image.bytes;
  }
  const std::string folder =
      options.layout == ShardLayout::kReference ? split.name + "/" : "";
  const std::vector<ShardRange> ranges = Ranges(split, options);
  const auto count = std::ssize(ranges);
  for (std::int64_t i = 0; i < count; ++i) {
    const ShardRange& range = ranges[static_cast<std::size_t>(i)];
    const std::string name = options.format == ShardFormat::kWebdataset
                                 ? TarShardName(split.name, i)
                                 : ShardName(split.name, i, count);
    split.shards.push_back({folder + name, range.first, range.count});
  }
  return split;
}

// Whether a base name is the name of a shard of train, validation or test.
bool IsSplitShard(const std::string& name) {
  return IsTarShardName(name) ||
         (IsShardName(name) &&
          std::ranges::any_of(kSplits, [&](std::string_view split) {
            return name.starts_with(std::string(split) + "-");
          }));
}

// Adds the shards in FOLDER/SUBFOLDER, with names relative to FOLDER.
void AddShards(const std::string& folder, const std::string& subfolder,
               std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::directory_iterator entry(fs::path(folder) / subfolder, error);
  if (error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_directory) {
    return;
  }
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (IsSplitShard(name)) {
      names.push_back((fs::path(subfolder) / name).string());
    }
  }
  if (error) {
    throw IoError(folder, "list", error.value());
  }
}

}  // namespace

std::int64_t ConversionPlan::images() const {
  std::int64_t count = 0;
  for (const PlannedSplit& split : splits) {
    count += std::ssize(split.images);
  }
  return count;
}

std::int64_t ConversionPlan::shards() const {
  std::int64_t count = 0;
  for (const PlannedSplit& split : splits) {
    count += std::ssize(split.shards);
  }
  return count;
}

ConversionPlan PlanConversion(ImageTree tree, const PlanOptions& options) {
  if (options.shards < 0 || options.shards > kMaxShards) {
    throw UsageError(fmt::format("--shards {}: give 1 to {}, or auto",
                                 options.shards, kMaxShards));
  }
  if (options.shard_bytes < 0) {
    throw UsageError("--shards: a size must be above 0");
  }
  if (options.format == ShardFormat::kWebdataset &&
      options.layout == ShardLayout::kReference) {
    throw UsageError(
        "--layout reference names TFRecords: leave it out with --format "
        "webdataset");
  }
  CheckClassCount(tree.classes.size());
  for (const ImageClass& image_class : tree.classes) {
    CheckClassName(image_class.name);
    CheckClassName(image_class.text);
  }
  ConversionPlan plan;
  plan.format = options.format;
  plan.seed = options.seed;
  plan.source = options.source;
  plan.passing_folder = options.passing_folder;
  plan.classes = std::move(tree.classes);
  plan.raw = std::move(tree.raw);
  plan.duplicates = std::move(tree.duplicates);
  plan.left_out = std::move(tree.left_out);
  for (ImageSplit& split : tree.splits) {
    plan.splits.push_back(PlanSplit(std::move(split), options));
    if (plan.splits.back().shards.size() > std::size_t{kMaxShards}) {
      throw UsageError(fmt::format(
          "--shards: this size gives {} shards; give one that gives no more "
          "than {}",
          plan.splits.back().shards.size(), kMaxShards));
    }
  }
  return plan;
}

bool IsTarShardName(std::string_view base_name) {
  constexpr std::size_t kDigits = 6;
  return std::ranges::any_of(kSplits, [&](std::string_view split) {
    const auto number =
        base_name.substr(std::min(base_name.size(), split.size() + 1), kDigits);
    return number.size() == kDigits &&
           number.find_first_not_of("0123456789") == number.npos &&
           base_name == fmt::format("{}-{}.tar", split, number);
  });
}

std::vector<std::string> ShardNames(const ConversionPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedSplit& split : plan.splits) {
    for (const PlannedShard& shard : split.shards) {
      names.push_back(shard.name);
    }
  }
  return names;
}

std::vector<std::string> StaleShards(const ConversionPlan& plan,
                                     const std::string& output_dir) {
  std::vector<std::string> present;
  AddShards(output_dir, "", present);
  for (const std::string_view split : kSplits) {
    AddShards(output_dir, std::string(split), present);
  }
  const std::vector<std::string> names = ShardNames(plan);
  const std::set<std::string> planned(names.begin(), names.end());
  std::vector<std::string> stale;
  for (const std::string& name : present) {
    if (!planned.contains(name)) {
      stale.emplace_back(output_dir).append("/").append(name);
    }
  }
  std::sort(stale.begin(), stale.end());
  return stale;
}

std::vector<std::string> OutputPaths(const ConversionPlan& plan,
                                     const std::string& output_dir) {
  std::vector<std::string> paths = StaleShards(plan, output_dir);
  for (const std::string& name : ShardNames(plan)) {
    paths.push_back(output_dir + "/" + name);
  }
  paths.push_back(output_dir + "/dataset.json");
  paths.push_back(output_dir + "/labels.txt");
  return paths;
}

}  // namespace infeed
