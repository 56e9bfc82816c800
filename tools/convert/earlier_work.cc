#include "tools/convert/earlier_work.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "tools/convert/record_maker.h"
#include "tools/images/raw_images.h"
#include "tools/images/record_images.h"
#include "tools/shards/progress.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// The shards' names show their format. Change this when the same images and
// options give different bytes.
constexpr std::string_view kConversion = "infeed conversion 1";

// Two hashes of different kinds over fields with unambiguous boundaries.
class Hash {
 public:
  Hash& Add(std::string_view text) {
    Add(std::ssize(text));
    AddBytes(std::as_bytes(std::span(text)));
    return *this;
  }
  Hash& Add(std::int64_t value) {
    AddBytes(std::as_bytes(std::span(&value, 1)));
    return *this;
  }

  [[nodiscard]] std::string Hex() const {
    return fmt::format("{:016x}{:08x}", fnv_, crc_);
  }

 private:
  void AddBytes(std::span<const std::byte> bytes) {
    crc_ = ExtendCrc32c(crc_, bytes);
    for (const std::byte byte : bytes) {  // FNV-1a
      fnv_ = (fnv_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }

  std::uint64_t fnv_ = 0xcbf29ce484222325U;
  std::uint32_t crc_ = 0;
};

std::string OptionsText(const ConverterOptions& options) {
  const ImageEncoderOptions& image = options.image;
  return fmt::format(
      "{} verify={} format={} max_size={} quality={} image_size={} "
      "keep_png={} exif_orientation={} seek_index={}",
      kConversion, image.verify, static_cast<int>(image.format), image.max_size,
      image.quality,
      image.format == ImageForm::kPixels ? SizeText(image.image_size) : "0",
      image.keep_png, image.exif_rotate ? "all" : "false",
      ChoiceName(WantedSeekEntries(options), kSeekEntries));
}

// Returns nanoseconds.
std::int64_t ModificationTime(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw IoError(path, "stat", errno);
  }
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
         status.st_mtim.tv_nsec;
}

// The version of the file or object that holds an image.
std::int64_t VersionOf(const ImageFile& image, const RawImages* raw) {
  if (image.raw_index >= 0) {
    Check(raw != nullptr, "raw images come with their files");
    return raw->VersionOf(image);
  }
  if (image.records != nullptr) {
    return image.records->VersionOf(image.record);
  }
  return image.object != nullptr ? image.object->version()
                                 : ModificationTime(image.path);
}

// Adds the annotations of an image, and the version of its mask.
void AddToHash(const ImageObjects& annotations, Hash& hash) {
  hash.Add(ObjectsKey(annotations)).Add(annotations.mask);
  if (!annotations.mask.empty()) {
    hash.Add(OpenSource(annotations.mask)->version());
  }
}

std::string ConversionKeyPath(const std::string& output_dir) {
  return (fs::path(ConversionSideFolder(output_dir)) / kConversionName)
      .string();
}

// Whether the folder's shards are of the conversion with this key.
bool HasKey(const std::string& output_dir, const std::string& key) {
  std::ifstream file(ConversionKeyPath(output_dir));
  std::string line;
  return std::getline(file, line) && line == key;
}

// A link without a target counts, too.
bool HasFile(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Returns the problem with a shard's bytes; empty: none.
std::string Mismatch(const std::string& path, const DatasetInfo::Shard& shard,
                     bool read_it) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) {
    return "it is missing";
  }
  if (size != static_cast<std::uintmax_t>(shard.bytes)) {
    return fmt::format("it has {} bytes, not {}", size, shard.bytes);
  }
  if (read_it) {
    const TrackedSource file(std::make_unique<FileSource>(path),
                             [](std::int64_t /*bytes*/) {});
    const std::string crc = fmt::format("{:08x}", file.Checksum());
    if (crc != shard.crc32c) {
      return fmt::format("its checksum is {}, not {}", crc, shard.crc32c);
    }
  }
  return "";
}

// "train-00000-of-00002.shard.json.tmp-7" -> "train-00000-of-00002", and
// "train-000000.tar.shard.json.tmp-7" -> "train-000000.tar".
std::string_view ShardOf(std::string_view file) {
  constexpr std::string_view kTarEnding = ".tar";
  const std::string_view stem = file.substr(0, file.find('.'));
  return file.substr(0, file.substr(stem.size()).starts_with(kTarEnding)
                            ? stem.size() + kTarEnding.size()
                            : stem.size());
}

// Whether a conversion makes files of that name, ignoring its temporary suffix.
bool IsOurs(const fs::path& folder, std::string_view file) {
  return folder.filename() == ".infeed" || IsShardName(ShardOf(file)) ||
         IsTarShardName(ShardOf(file)) || file.starts_with("labels.txt.") ||
         file.starts_with("dataset.json.");
}

}  // namespace

ShardFingerprints::ShardFingerprints(const ConversionPlan& plan,
                                     const ConverterOptions& options)
    : plan_(plan), options_(OptionsText(options)) {}

std::string ShardFingerprints::Of(const ShardTask& task) const {
  const PlannedSplit& split = plan_.splits[task.split];
  const PlannedShard& shard = split.shards[task.shard];
  Hash hash;
  hash.Add(options_).Add(shard.name);
  for (std::int64_t i = shard.first; i < shard.first + shard.count; ++i) {
    const ImageFile& image = split.images[static_cast<std::size_t>(i)];
    std::string_view path = image.path;
    if (path.starts_with(plan_.passing_folder)) {
      path.remove_prefix(plan_.passing_folder.size());
    }
    hash.Add(path)
        .Add(image.raw_index)
        .Add(image.bytes)
        .Add(VersionOf(image, plan_.raw.get()));
    if (image.objects != nullptr) {
      AddToHash(*image.objects, hash);
      continue;
    }
    const ImageClass& image_class =
        plan_.classes[static_cast<std::size_t>(image.class_index)];
    hash.Add(image.class_index).Add(image_class.name).Add(image_class.text);
  }
  return hash.Hex();
}

std::string ConversionKey(const ConversionPlan& plan,
                          const ConverterOptions& options) {
  return Hash()
      .Add(OptionsText(options))
      .Add(static_cast<std::int64_t>(plan.format))
      .Add(static_cast<std::int64_t>(plan.seed))
      .Add(plan.source)
      .Hex();
}

std::vector<ShardTask> SelectTasks(const ConversionPlan& plan,
                                   const TaskShare& share) {
  std::vector<ShardTask> tasks;
  std::int64_t number = 0;
  for (std::size_t split = 0; split < plan.splits.size(); ++split) {
    for (std::size_t i = 0; i < plan.splits[split].shards.size(); ++i) {
      if (share.Has(number++)) {
        tasks.push_back({split, i});
      }
    }
  }
  return tasks;
}

ShardState CheckShard(const std::string& output_dir, const std::string& name,
                      const std::string& fingerprint,
                      const ConverterOptions& options) {
  std::optional<FinishedShard> shard = ReadFinishedShard(output_dir, name);
  if (!shard) {
    return {.shard = {}, .problem = "it is not finished"};
  }
  if (shard->fingerprint != fingerprint) {
    return {.shard = {},
            .problem = "it was made from other images or by other flags"};
  }
  if (!shard->bad_image_policy.empty() &&
      shard->bad_image_policy !=
          ChoiceName(options.on_bad_image, kOnBadImages)) {
    return {.shard = {},
            .problem =
                "it was made with --on_bad_image " + shard->bad_image_policy};
  }
  std::string problem =
      Mismatch(output_dir + "/" + name, shard->info, options.verify_resume);
  return {.shard = std::move(*shard), .problem = std::move(problem)};
}

EarlierWork FindEarlierWork(const ConversionPlan& plan,
                            const std::string& output_dir,
                            const ConverterOptions& options) {
  EarlierWork work;
  ShardFingerprints fingerprints(plan, options);
  for (const ShardTask& task : SelectTasks(plan, options.share)) {
    std::string fingerprint = fingerprints.Of(task);
    ShardState state =
        CheckShard(output_dir, plan.At(task).name, fingerprint, options);
    if (state.problem.empty()) {
      work.kept.push_back(
          {.task = task, .shard = std::move(state.shard), .kept = true});
    } else {
      work.missing.push_back({task, std::move(fingerprint)});
      std::string path = output_dir + "/" + plan.At(task).name;
      if (HasFile(path)) {
        work.replaced.push_back(std::move(path));
      }
    }
  }
  if (work.missing.empty() ||
      HasKey(output_dir, ConversionKey(plan, options))) {
    return work;
  }
  work.foreign = work.replaced;
  for (const char* name : {"/labels.txt", "/dataset.json"}) {
    if (HasFile(output_dir + name)) {
      work.foreign.push_back(output_dir + name);
    }
  }
  return work;
}

void WriteConversionKey(const ConversionPlan& plan,
                        const std::string& output_dir,
                        const ConverterOptions& options) {
  WriteFileAtomically(ConversionKeyPath(output_dir),
                      ConversionKey(plan, options) + "\n", kInOwnFolder);
}

void RemoveDeadTemporaries(const ConversionPlan& plan,
                           const std::string& output_dir,
                           const TaskShare& share) {
  std::set<std::string, std::less<>> others;
  std::set<fs::path> folders = {output_dir, ConversionSideFolder(output_dir)};
  std::int64_t number = 0;
  for (const ShardTask& task : SelectTasks(plan, {})) {
    const fs::path name = plan.At(task).name;
    folders.insert((output_dir / name).parent_path());
    if (!share.Has(number++)) {
      others.insert(name.filename().string());
    }
  }
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    for (fs::directory_iterator entry(folder, ignored), end; entry != end;
         entry.increment(ignored)) {
      const std::string name = entry->path().filename().string();
      if (!NameOfLeftover(name).empty() && IsOurs(folder, name) &&
          !others.contains(ShardOf(name))) {
        fs::remove(entry->path(), ignored);
      }
    }
  }
}

}  // namespace infeed
