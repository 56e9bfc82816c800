#include "tools/inspect/seek_check.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/store/seek_feature.h"

namespace infeed {
namespace {

bool IsRight(const JpegSeekIndex& index, std::span<const std::byte> jpeg) {
  std::optional<JpegSeekIndex> made = MakeSeekIndex(jpeg, index.run);
  if (!index.is_complete()) {
    if (!made) {
      return true;  // The JPEG may be irregular after the covered rows.
    }
    made->entries.resize(std::min(made->entries.size(), index.entries.size()));
  }
  return made == index;
}

}  // namespace

void SeekCheck::Open(std::size_t shard, std::int64_t shard_size) {
  shards_[shard].file = SeekFile::Find(paths_[shard], shard_size);
}

void SeekCheck::CheckRecord(std::size_t shard, const Record& record,
                            const ImagenetExampleView& example) {
  Shard& state = shards_[shard];
  std::span<const std::byte> sealed = example.seek_index;
  std::vector<std::byte> buffer;
  const bool is_beside = sealed.empty() && state.file &&
                         record.number < state.file->info().records;
  if (is_beside) {
    sealed = state.file->Read(
        record.number, LongestSeekIndex(std::ssize(record.payload)), buffer);
  }
  if (sealed.empty()) {
    return;
  }
  const std::string fault = Fault(sealed, example.encoded);
  if (!fault.empty()) {
    const std::string index =
        is_beside ? "the seek index in the file beside the shard "
                  : "the seek index ";
    const std::lock_guard lock(mutex_);
    state.findings.push_back({.record = {.record = record.number,
                                         .offset = record.offset,
                                         .reason = index + fault},
                              .is_beside = is_beside});
  }
}

std::string SeekCheck::Fault(std::span<const std::byte> sealed,
                             std::span<const std::byte> jpeg) const {
  const OpenedSeekIndex opened = OpenSeekIndex(sealed, jpeg);
  if (opened.seal != SeekSeal::kGood) {
    return std::string(SeekSealText(opened.seal));
  }
  JpegSeekIndex index;
  if (!ParseSeekIndex(opened.body, index)) {
    return "cannot be read";
  }
  return remake_ && !IsRight(index, jpeg) ? "is not what the JPEG's scan says"
                                          : "";
}

std::vector<DamagedRecord> SeekCheck::Take(std::size_t shard,
                                           std::int64_t records,
                                           bool records_are_lost) {
  std::vector<DamagedRecord> bad;
  {
    const std::lock_guard lock(mutex_);
    Shard& state = shards_[shard];
    const bool uses_file = !records_are_lost && state.file != nullptr &&
                           state.file->info().records == records;
    for (Finding& finding : state.findings) {
      if (uses_file || !finding.is_beside) {
        bad.push_back(std::move(finding.record));
      }
    }
  }
  std::ranges::sort(bad);
  return bad;
}

}  // namespace infeed
