#include "tools/inspect/extraction.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/plain_text.h"
#include "records/example/imagenet_example.h"
#include "records/files/folder_listing.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "tools/cli/image_format.h"
#include "tools/cli/parallel_for.h"
#include "tools/cli/safe_name.h"
#include "tools/inspect/dataset_stats.h"
#include "tools/inspect/file_below.h"
#include "tools/inspect/payload_check.h"
#include "tools/shards/progress.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::string ClassFolder(const ImagenetExampleView& example) {
  if (!example.synset.empty()) {
    return SafeName(example.synset);
  }
  return example.label < 0 ? "unlabelled" : std::to_string(example.label);
}

std::string FileName(const ImagenetExampleView& example, bool packed,
                     const std::string& shard_path, const Record& record) {
  const std::string extension(
      packed ? "png" : FileExtension(DetectImageFormat(example.encoded)));
  if (example.filename.empty()) {
    return fmt::format("{}-{:06}.{}", SafeName(FileNameOf(shard_path)),
                       record.number, extension);
  }
  const std::string name = SafeName(example.filename);
  if (!HasImageExtension(name)) {  // X_train.raw#00017
    return extension == "bin" ? name : name + "." + extension;
  }
  return packed ? fs::path(name).replace_extension(extension).string() : name;
}

// "a/b.jpg" -> "a/b-2.jpg".
std::string Numbered(const std::string& path, std::int64_t number) {
  const std::string extension = fs::path(path).extension();
  return fmt::format("{}-{}{}", path.substr(0, path.size() - extension.size()),
                     number, extension);
}

bool HasSize(const std::string& path, std::size_t bytes) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size == bytes;
}

ImagenetExampleView Parse(const Record& record, const RecordKeys& keys) {
  return ParseImagenetExample(record.payload, LabelList::kAny,
                              {.image = keys.image, .label = keys.label});
}

// An image's path relative to the output folder: CLASS/NAME. CLASS is the
// synset, else the label; NAME is the record's file name, else a name made of
// shard and record number. Throws DataError for a record without an image.
std::string ImagePath(const std::string& shard_path, const Record& record,
                      const ExtractOptions& options) {
  const ImagenetExampleView example = Parse(record, options.keys);
  const bool packed = example.encoded.empty() && HoldsPixels(record.payload);
  if (example.encoded.empty() && !packed) {
    RequireImageKey(record.payload, options.keys.image);
    throw DataError("there is no image in the record");
  }
  std::string path;
  if (options.split) {
    const std::string name = FileNameOf(shard_path);
    const std::string_view prefix = ShardPrefix(name);
    path = SafeName(prefix.empty() ? "other" : prefix) + "/";
  }
  return path + ClassFolder(example) + "/" +
         FileName(example, packed, shard_path, record);
}

using PlacedPath = std::pair<RecordPlace, std::string>;

// For each path that several records have, returns new paths for all records
// but the first: with -2, -3, ... before the extension.
std::map<RecordPlace, std::string> ResolveClashes(
    std::vector<PlacedPath> paths) {
  std::sort(paths.begin(), paths.end());
  std::unordered_set<std::string> taken;
  std::vector<const PlacedPath*> clashing;
  for (const PlacedPath& placed : paths) {
    if (!taken.insert(placed.second).second) {
      clashing.push_back(&placed);
    }
  }
  // Renamed after all paths are known: a new path must not equal that of a
  // later record.
  std::map<RecordPlace, std::string> renamed;
  std::map<std::string_view, std::int64_t> last;
  for (const PlacedPath* placed : clashing) {
    std::int64_t& number = last.try_emplace(placed->second, 1).first->second;
    std::string path;
    do {
      path = Numbered(placed->second, ++number);
    } while (!taken.insert(path).second);
    renamed.emplace(placed->first, std::move(path));
  }
  return renamed;
}

// Shared by the writing threads.
struct ExtractPlan {
  const std::vector<std::string>& shards;
  const ExtractOptions& options;
  std::map<RecordPlace, std::string> renamed = {};
  std::mutex mutex = {};  // of the members below
  Extraction done = {};
  std::set<std::string> folders = {};
};

// The second pass: writes a record's image, its bytes unchanged, or packed
// pixels as a PNG.
void WriteImage(std::size_t shard, const Record& record, ExtractPlan& plan) {
  const auto renamed =
      plan.renamed.find({.shard = shard, .record = record.number});
  const std::string path =
      renamed != plan.renamed.end()
          ? renamed->second
          : ImagePath(plan.shards[shard], record, plan.options);
  std::span<const std::byte> bytes = Parse(record, plan.options.keys).encoded;
  std::string png;
  if (bytes.empty()) {
    png = EncodePng(UnpackRecord(record.payload)->view());
    bytes = std::as_bytes(std::span(png));
  }
  const std::string& output = plan.options.output;
  const bool is_there =
      plan.options.resume && HasSize(output + "/" + path, bytes.size());
  if (!is_there) {
    WriteFileBelow(output, path, bytes);
  }
  const std::lock_guard lock(plan.mutex);
  plan.folders.insert(fs::path(path).parent_path().string());
  ++(is_there ? plan.done.skipped : plan.done.written);
  plan.done.bytes += is_there ? 0 : std::ssize(bytes);
}

// Rejects an output folder in which files might be overwritten by mistake.
void CheckOutput(const ExtractOptions& options) {
  MakeFolder(options.output);
  std::error_code ignored;
  if (!options.resume && !fs::is_empty(options.output, ignored)) {
    throw UsageError(options.output +
                     ": is not empty (give another --output, or --resume to "
                     "continue an earlier run)");
  }
}

// Calls `visit` for all records, from several threads.
void Pass(const std::vector<std::string>& shards, const ExtractOptions& options,
          const std::function<void(std::size_t, const Record&)>& visit,
          const std::function<void(ShardPass)>& finished) {
  ShardProgress progress(shards);
  RecordPassOptions pass = progress.Options();
  pass.limit = options.limit;
  pass.image_key = options.keys.image;
  PassOverRecords(
      shards, ThreadCount(options.threads),
      [&](std::size_t /*thread*/, std::size_t shard, const Record& record) {
        visit(shard, record);
      },
      pass, finished);
}

// The first pass: collects the path of each record.
std::map<RecordPlace, std::string> PlanNames(
    const std::vector<std::string>& shards, const ExtractOptions& options) {
  std::mutex mutex;
  std::vector<PlacedPath> paths;
  Pass(
      shards, options,
      [&](std::size_t shard, const Record& record) {
        std::string path = ImagePath(shards[shard], record, options);
        const std::lock_guard lock(mutex);
        paths.emplace_back(RecordPlace{.shard = shard, .record = record.number},
                           std::move(path));
      },
      [](const ShardPass&) {});  // The second pass reports bad records.
  return ResolveClashes(std::move(paths));
}

}  // namespace

Extraction ExtractImages(
    const std::vector<std::string>& shards, const ExtractOptions& options,
    const std::function<void(const ShardPass&)>& finished) {
  CheckOutput(options);
  ExtractPlan plan = {.shards = shards,
                      .options = options,
                      .renamed = PlanNames(shards, options)};
  std::int64_t bad = 0;
  Pass(
      shards, options,
      [&](std::size_t shard, const Record& record) {
        WriteImage(shard, record, plan);
      },
      [&](const ShardPass& pass) {
        finished(pass);
        bad += std::ssize(pass.bad);
      });
  plan.done.renamed = plan.renamed.size();
  plan.done.folders = plan.folders.size();
  plan.done.bad = bad;
  return plan.done;
}

ReportTable ExtractionReport(const Extraction& extraction) {
  const std::int64_t skipped = extraction.skipped;
  return {
      {"written", extraction.written, CountText(extraction.written, "image")},
      {"folders", extraction.folders,
       " in " + CountText(extraction.folders, "folder")},
      {"bytes", extraction.bytes, ", " + FileSizeText(extraction.bytes)},
      {"skipped", skipped,
       skipped > 0 ? fmt::format(", {} existed", skipped) : ""},
      {"renamed", extraction.renamed},
      {"bad", extraction.bad, fmt::format(", {} bad\n", extraction.bad)}};
}

}  // namespace infeed
