#include "records/store/mapped_shards.h"

#include <sys/resource.h>

#include <iterator>
#include <string>

#include "records/files/open_source.h"

namespace infeed {
namespace {

// Pages that this process had to wait for until they were read, since it began.
std::int64_t MajorFaults() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_majflt : 0;
}

}  // namespace

MappedShards::MappedShards(const RecordIndex& index)
    : index_(index),
      shards_(index.shards().size()),
      resident_(shards_.size()) {}

const MappedFile* MappedShards::Find(std::int32_t shard) {
  const auto number = static_cast<std::size_t>(shard);
  const std::string& path = index_.shards()[number];
  if (IsUrl(path) || !index_.holds_examples(number)) {
    return nullptr;
  }
  Shard& mapped = shards_[number];
  std::call_once(mapped.once, [&] { mapped.file = MappedFile::Map(path); });
  return mapped.file == nullptr || mapped.file->is_damaged()
             ? nullptr
             : mapped.file.get();
}

void MappedShards::BeginRound() { resident_.NoteMajorFaults(MajorFaults()); }

bool MappedShards::IsResident(const RecordLocation& location) {
  const MappedFile* const file = Find(location.shard);
  return file != nullptr &&
         resident_.Has(static_cast<std::size_t>(location.shard),
                       location.end() - location.offset,
                       std::ssize(file->bytes()));
}

}  // namespace infeed
