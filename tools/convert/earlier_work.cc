#include "tools/convert/earlier_work.h"

#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/whole_number.h"
#include "records/files/shards.h"
#include "tools/convert/shard_fingerprint.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".tmp-";

std::uint32_t FileCrc32c(const ByteSource& file) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint32_t crc = 0;
  std::int64_t offset = 0;
  while (const std::size_t got = file.ReadAt(offset, buffer)) {
    crc = ExtendCrc32c(crc, std::span(buffer).first(got));
    offset += static_cast<std::int64_t>(got);
  }
  return crc;
}

// Returns what is wrong with a shard's bytes; empty: nothing.
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
    const std::string crc = fmt::format("{:08x}", FileCrc32c(FileSource(path)));
    if (crc != shard.crc32c) {
      return fmt::format("its checksum is {}, not {}", crc, shard.crc32c);
    }
  }
  return "";
}

// Whether no process of this machine has this number.
bool IsDead(std::string_view text) {
  const auto process = ParsePlainNumber<pid_t>(text);
  return process && *process > 0 && ::kill(*process, 0) != 0 && errno == ESRCH;
}

// "train-00000-of-00002.shard.json.tmp-7" -> "train-00000-of-00002".
std::string_view ShardOf(std::string_view file) {
  return file.substr(0, file.find('.'));
}

// Whether a conversion makes files of that name, ignoring its temporary suffix.
bool IsOurs(const fs::path& folder, std::string_view file) {
  return folder.filename() == ".infeed" || IsShardName(ShardOf(file)) ||
         file.starts_with("labels.txt.") || file.starts_with("dataset.json.");
}

}  // namespace

std::vector<ShardTask> TasksOf(const ConversionPlan& plan,
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

ShardState StateOf(const std::string& output_dir, const std::string& name,
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
      shard->bad_image_policy != OnBadImageName(options.on_bad_image)) {
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
  for (const ShardTask& task : TasksOf(plan, options.share)) {
    std::string fingerprint = fingerprints.Of(task);
    ShardState state =
        StateOf(output_dir, plan.At(task).name, fingerprint, options);
    if (state.problem.empty()) {
      work.kept.push_back(
          {.task = task, .shard = std::move(state.shard), .kept = true});
    } else {
      work.missing.push_back({task, std::move(fingerprint)});
    }
  }
  return work;
}

void RemoveDeadTemporaries(const ConversionPlan& plan,
                           const std::string& output_dir,
                           const TaskShare& share) {
  std::set<std::string, std::less<>> others;
  std::set<fs::path> folders = {output_dir, ConversionSideFolder(output_dir)};
  std::int64_t number = 0;
  for (const ShardTask& task : TasksOf(plan, {})) {
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
      const std::size_t mark = name.rfind(kTemporary);
      if (mark != std::string::npos &&
          IsDead(std::string_view(name).substr(mark + kTemporary.size())) &&
          IsOurs(folder, name) && !others.contains(ShardOf(name))) {
        fs::remove(entry->path(), ignored);
      }
    }
  }
}

}  // namespace infeed
