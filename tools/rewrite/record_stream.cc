#include "tools/rewrite/record_stream.h"

#include <utility>

#include "base/print_lines.h"
#include "records/files/open_source.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/writer.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

constexpr std::int64_t kNamed = 10;

bool IsPacked(const std::string& shard) {
  return ReadCompression(*OpenSource(shard)) != Compression::kNone;
}

// Whether all frame offsets can be read from the headers alone.
bool HasIndex(const std::string& shard, bool skip_bad) {
  if (IsPacked(shard)) {
    return false;
  }
  if (skip_bad) {
    try {
      (void)RecordIndex({shard});
    } catch (const DataError&) {
      return false;
    }
  }
  return true;
}

}  // namespace

void BadRecords::Take(const DataError& error) {
  if (!skips_) {
    throw DataError(error.origin(),
                    error.reason() +
                        " (`records repair` saves the good records first; "
                        "--on_bad_record skip leaves bad ones out)");
  }
  const std::int64_t number = count_++;
  if (names_ == Names::kPrinted && number < kNamed) {
    PrintLine(std::string("left out: ") + error.what());
  }
}

RecordStream::RecordStream(std::size_t shards, ShardOpener open,
                           BadRecords& bad)
    : shards_(shards), open_(std::move(open)), bad_(bad) {}

std::optional<Record> RecordStream::Next() {
  while (shard_ < shards_) {
    if (!reader_) {
      reader_ = std::make_unique<TfrecordReader>(
          open_(shard_), TfrecordReaderOptions{.resynchronise = bad_.skips()});
    }
    try {
      if (const std::optional<Record> record = reader_->Next()) {
        return record;
      }
      reader_.reset();
      ++shard_;
    } catch (const DataError& error) {
      bad_.Take(error);
    }
  }
  return std::nullopt;
}

RecordSequence::RecordSequence(std::vector<std::string> shards,
                               const Options& options)
    : shards_(std::move(shards)) {
  bool all_indexed = true;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (HasIndex(shards_[i], options.skip_bad)) {
      continue;
    }
    if (options.any_order && options.folder != nullptr) {
      Copy(i, options);
    } else {
      all_indexed = false;
    }
  }
  if (all_indexed) {
    index_.emplace(shards_);
  } else {
    ReadLengths(options);
  }
}

// Replaces a shard by an uncompressed copy.
void RecordSequence::Copy(std::size_t shard, const Options& options) {
  BadRecords bad(options.skip_bad);
  const std::string path = options.folder->ScratchPathFor(
      options.scratch_name + "-" + std::to_string(shard));
  RecordStream stream(
      1, [&](std::size_t) { return options.open(shard); }, bad);
  TfrecordWriter writer(path, {.write_index = true});
  while (const std::optional<Record> record = stream.Next()) {
    writer.Append(record->payload);
    options.on_record();
  }
  writer.Close();
  left_out_ += bad.count();
  shards_[shard] = path;
}

void RecordSequence::ReadLengths(const Options& options) {
  // The writer of the records names the bad ones.
  BadRecords bad(options.skip_bad, BadRecords::Names::kSilent);
  RecordStream stream(shards_.size(), options.open, bad);
  while (const std::optional<Record> record = stream.Next()) {
    lengths_.push_back(std::ssize(record->payload));
    options.on_record();
  }
}

std::int64_t RecordSequence::frame_bytes(std::int64_t record) const {
  const std::int64_t length = index_
                                  ? index_->at(record).length
                                  : lengths_[static_cast<std::size_t>(record)];
  return length + static_cast<std::int64_t>(kFrameOverheadBytes);
}

}  // namespace infeed
