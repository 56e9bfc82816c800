#include "tools/rewrite/record_stream.h"

#include <string>
#include <utility>

#include "base/print_lines.h"

namespace infeed {
namespace {

constexpr std::int64_t kNamed = 10;

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

}  // namespace infeed
