#include "tools/shards/record_pass.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// The bytes that a thread reads from a shard before it returns the shard.
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
constexpr std::size_t kBatchRecords = 1024;

// Records, copied from a reader's buffer. Reused for each batch.
class RecordBatch {
 public:
  void Clear() {
    bytes_.clear();
    places_.clear();
  }
  void Add(const Record& record) {
    places_.push_back({.begin = bytes_.size(),
                       .size = record.payload.size(),
                       .number = record.number,
                       .offset = record.offset});
    bytes_.insert(bytes_.end(), record.payload.begin(), record.payload.end());
  }
  [[nodiscard]] bool full() const {
    return bytes_.size() >= kBatchBytes || places_.size() >= kBatchRecords;
  }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // Valid until the batch changes.
  [[nodiscard]] Record at(std::size_t i) const {
    const Place& place = places_[i];
    return {.payload = std::span(bytes_).subspan(place.begin, place.size),
            .number = place.number,
            .offset = place.offset};
  }

 private:
  struct Place {
    std::size_t begin;
    std::size_t size;
    std::int64_t number;
    std::int64_t offset;
  };
  std::vector<std::byte> bytes_;
  std::vector<Place> places_;
};

struct ShardState {
  std::unique_ptr<RecordCursor> reader;  // used by the taking thread
  bool taken = false;
  bool ended = false;       // nothing more is read from it
  std::size_t pending = 0;  // batches not yet noted
  ShardPass pass;
};

// The findings of reading and visiting a batch.
struct BatchPass {
  std::int64_t records = 0;
  std::int64_t payload_bytes = 0;
  std::vector<DamagedRecord> bad;
};

DamagedRecord AsDamagedRecord(const DataError& error) {
  return {.record = error.origin().record,
          .offset = error.origin().offset,
          .reason = error.reason()};
}

// The state shared by the threads. Thread-safe, except Finish().
class Pass {
 public:
  Pass(const std::vector<std::string>& paths, const RecordVisit& visit,
       const RecordPassOptions& options,
       const std::function<void(ShardPass)>& finished)
      : paths_(paths),
        visit_(visit),
        options_(options),
        finished_(finished),
        left_(options.limit),
        shards_(paths.size()) {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].pass.shard = i;
    }
  }

  // Takes a shard, reads a batch, returns the shard and visits the batch, until
  // nothing is left to read.
  void Work(std::size_t thread) {
    try {
      RecordBatch batch;
      while (const std::optional<std::size_t> shard = Take()) {
        BatchPass found;
        GiveBack(*shard, Read(*shard, batch, found));
        Visit(thread, *shard, batch, found);
        if (options_.visited) {
          options_.visited(found.records);
        }
        Note(*shard, std::move(found));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) {
        error_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  // Rethrows what a thread threw. Requires: no Work() runs.
  void Finish() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  // Waits for the first shard that no thread has taken; nullopt at the end.
  std::optional<std::size_t> Take() {
    std::unique_lock lock(mutex_);
    while (!error_) {
      bool all_ended = true;
      for (std::size_t i = first_; i < shards_.size(); ++i) {
        ShardState& shard = shards_[i];
        all_ended = all_ended && shard.ended;
        if (!shard.ended && !shard.taken) {
          shard.taken = true;
          ++shard.pending;
          return i;
        }
        if (!shard.ended && options_.limit >= 0) {
          break;  // With a limit shards must be read in order.
        }
      }
      if (all_ended) {
        return std::nullopt;
      }
      changed_.wait(lock);
    }
    return std::nullopt;
  }

  std::unique_ptr<ByteSource> Open(std::size_t shard) const {
    return options_.open ? options_.open(shard) : OpenSource(paths_[shard]);
  }

  // Fills a batch; false when the shard has no more records. Requires: this
  // thread has taken the shard.
  bool Read(std::size_t index, RecordBatch& batch, BatchPass& found) {
    batch.Clear();
    if (left_ == 0) {
      return false;
    }
    std::unique_ptr<RecordCursor>& reader = shards_[index].reader;
    if (!reader) {
      reader = std::make_unique<RecordCursor>(
          Open(index), TfrecordReaderOptions{.resynchronise = true},
          options_.image_key);
    }
    while (!batch.full() && left_ != 0) {
      if (!ReadOne(*reader, batch, found)) {
        if (options_.read) {
          options_.read(index, *reader);
        }
        return false;
      }
    }
    return true;
  }

  // False at the end.
  bool ReadOne(RecordCursor& reader, RecordBatch& batch, BatchPass& found) {
    try {
      const std::optional<Record> record = reader.Next();
      if (!record) {
        return false;
      }
      batch.Add(*record);
      found.payload_bytes += std::ssize(record->payload);
    } catch (const DataError& error) {
      found.bad.push_back(AsDamagedRecord(error));
    }
    ++found.records;
    if (left_ > 0) {  // With a limit only one thread reads.
      --left_;
    }
    return true;
  }

  void GiveBack(std::size_t index, bool more) {
    const std::lock_guard lock(mutex_);
    ShardState& shard = shards_[index];
    shard.taken = false;
    shard.ended = !more;
    if (shard.ended) {
      shard.reader.reset();
    }
    while (first_ < shards_.size() && shards_[first_].ended) {
      ++first_;
    }
    changed_.notify_all();
  }

  void Visit(std::size_t thread, std::size_t shard, const RecordBatch& batch,
             BatchPass& found) const {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Record record = batch.at(i);
      try {
        visit_(thread, shard, record);
      } catch (const DataError& error) {
        found.bad.push_back({.record = record.number,
                             .offset = record.offset,
                             .reason = error.reason()});
      }
    }
  }

  // Adds a batch's findings, and reports the shards that are done.
  void Note(std::size_t index, BatchPass found) {
    const std::lock_guard lock(mutex_);
    ShardState& shard = shards_[index];
    shard.pass.records += found.records;
    shard.pass.payload_bytes += found.payload_bytes;
    std::move(found.bad.begin(), found.bad.end(),
              std::back_inserter(shard.pass.bad));
    --shard.pending;
    while (reported_ < shards_.size() && shards_[reported_].ended &&
           shards_[reported_].pending == 0) {
      Report(shards_[reported_++].pass);
    }
  }

  void Report(ShardPass& pass) const {
    std::ranges::sort(pass.bad);
    finished_(std::move(pass));
  }

  const std::vector<std::string>& paths_;
  const RecordVisit& visit_;
  const RecordPassOptions& options_;
  const std::function<void(ShardPass)>& finished_;
  std::int64_t left_;  // records still to visit; -1: all
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t first_ = 0;     // shards before it have ended
  std::size_t reported_ = 0;  // shards that are done
  std::vector<ShardState> shards_;
  std::exception_ptr error_;
};

}  // namespace

void PassOverRecords(const std::vector<std::string>& paths, std::size_t threads,
                     const RecordVisit& visit, const RecordPassOptions& options,
                     const std::function<void(ShardPass)>& finished) {
  Check(threads > 0, "a thread looks at the records");
  Pass pass(paths, visit, options, finished);
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&pass, i] { pass.Work(i); });
    }
  }  // Joined here.
  pass.Finish();
}

}  // namespace infeed
