#include "records/store/open_shards.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// Pages that this process had to wait for until they were read, since it began.
std::int64_t MajorFaults() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_majflt : 0;
}

std::size_t LimitFor(const std::vector<std::string>& shards,
                     std::size_t max_open) {
  if (max_open == 0) {
    throw UsageError("max_open_shards must be at least 1");
  }
  const bool needs_files = !std::ranges::all_of(shards, IsUrl) ||
                           !cloud_settings().cache_folder.empty();
  return needs_files ? max_open : std::numeric_limits<std::size_t>::max();
}

bool IsAsIndexed(const ByteSource& source, const RecordIndex& index,
                 std::size_t shard) {
  return source.size() == index.shard_bytes(shard) &&
         source.version() == index.shard_version(shard);
}

// Of a local file that changed, what is damaged is a bad record, as is an image
// file of another size, whose version the index does not have.
std::unique_ptr<ByteSource> OpenUnchanged(const RecordIndex& index,
                                          std::size_t shard) {
  const std::string& path = index.shards()[shard];
  std::unique_ptr<ByteSource> source = OpenSource(path);
  if (IsUrl(path) && !index.is_of_images() &&
      !IsAsIndexed(*source, index, shard)) {
    throw IoError(source->path() +
                  ": the object was replaced since its records were found: "
                  "start again");
  }
  return source;
}

}  // namespace

MappedShards::MappedShards(const RecordIndex& index)
    : index_(index),
      shards_(index.shards().size()),
      resident_(shards_.size()) {}

const MappedFile* MappedShards::Find(std::int32_t shard) {
  const auto number = static_cast<std::size_t>(shard);
  const MappedFile* file =
      shards_[number].mapped.load(std::memory_order_acquire);
  if (file == nullptr) {
    file = Map(number);
  }
  return file == nullptr || file->is_damaged() ? nullptr : file;
}

const MappedFile* MappedShards::Map(std::size_t number) {
  const std::string& path = index_.shards()[number];
  if (IsUrl(path) || !index_.holds_examples(number)) {
    return nullptr;
  }
  Shard& shard = shards_[number];
  std::call_once(shard.once, [&] {
    shard.file = MappedFile::Map(path);
    shard.mapped.store(shard.file.get(), std::memory_order_release);
  });
  return shard.file.get();
}

void MappedShards::BeginRound() { resident_.NoteMajorFaults(MajorFaults()); }

bool MappedShards::IsResident(const RecordLocation& location) {
  const MappedFile* const file = Find(location.shard);
  return file != nullptr &&
         resident_.Has(static_cast<std::size_t>(location.shard),
                       location.end() - location.offset,
                       std::ssize(file->bytes()));
}

std::vector<std::string> FindChangedShards(const RecordIndex& index) {
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const std::string& path = index.shards()[i];
    if (IsUrl(path) || index.is_of_images()) {
      continue;
    }
    try {
      if (!IsAsIndexed(FileSource(path), index, i)) {
        changed.push_back(path);
      }
    } catch (const IoError&) {  // Reading it is an error, or goes on.
    }
  }
  return changed;
}

OpenShards::OpenShards(const RecordIndex& index, std::size_t max_open)
    : index_(index), max_open_(LimitFor(index.shards(), max_open)) {}

std::shared_ptr<const ByteSource> OpenShards::Open(std::int32_t shard) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(shard); found != open_.end()) {
      uses_.splice(uses_.begin(), uses_, found->second.use);
      return found->second.source;
    }
  }
  // Opened without the lock, so that other threads can read meanwhile. Two
  // threads may open the same shard at once; the first one's source is kept.
  std::shared_ptr<const ByteSource> source = OpenAnew(shard);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = open_.try_emplace(shard);
  if (!is_new) {
    return place->second.source;
  }
  uses_.push_front(shard);
  place->second = {.source = source, .use = uses_.begin()};
  if (open_.size() > max_open_) {
    DropOldest();
  }
  return source;
}

// Opens a shard; at the process's limit of open files, drops others first.
std::shared_ptr<const ByteSource> OpenShards::OpenAnew(std::int32_t shard) {
  for (;;) {
    try {
      return OpenUnchanged(index_, static_cast<std::size_t>(shard));
    } catch (const IoError& error) {
      const std::lock_guard lock(mutex_);
      if (error.errno_value() != EMFILE || uses_.empty()) {
        throw;
      }
      DropOldest();
    }
  }
}

// Requires: the lock is held, and a source is open.
void OpenShards::DropOldest() {
  open_.erase(uses_.back());
  uses_.pop_back();
}

}  // namespace infeed
