#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "preprocess/recipe.h"
#include "records/byte_source.h"
#include "records/imagenet_example.h"
#include "records/open_source.h"
#include "records/tfrecord_format.h"
#include "records/tfrecord_reader.h"
#include "tools/read_progress.h"
#include "tools/records_verbs.h"

namespace infeed {
namespace {

// What a pass over one shard found.
struct ShardReport {
  std::int64_t records = 0;
  std::vector<std::string> bad;
};

// Checks the payloads of records: one for each thread.
class PayloadCheck {
 public:
  explicit PayloadCheck(const VerifyOptions& options)
      : options_(options), preprocessor_({.recipe = Recipe::kPlain}) {}

  // Throws DataError without an origin.
  void Check(std::span<const std::byte> payload) {
    if (!options_.parse_examples) {
      return;
    }
    const ImagenetExampleView example = ParseImagenetExample(payload);
    if (options_.decode) {
      preprocessor_.Decode(example.encoded, SampleKey{});
    }
  }

 private:
  const VerifyOptions& options_;
  Preprocessor preprocessor_;
};

ShardReport VerifyShard(const std::string& path, PayloadCheck& check,
                        ReadProgress& progress) {
  TfrecordReader reader(path);
  ShardReport report;
  for (bool more = true; more;) {
    std::optional<Record> record;
    try {
      record = reader.Next();
      more = record.has_value();
      if (more) {
        progress.Add(static_cast<std::int64_t>(record->payload.size() +
                                               kFrameOverheadBytes));
        check.Check(record->payload);
      }
    } catch (const DataError& error) {
      report.bad.emplace_back(
          record ? error.At({path, record->number, record->offset}).what()
                 : error.what());
    }
    report.records += more ? 1 : 0;
  }
  return report;
}

// Verifies shards in several threads, and prints what they found in the order
// of the shards. Thread-safe, but for Finish().
class Verification {
 public:
  Verification(const ShardPaths& shards, const VerifyOptions& options,
               ReadProgress& progress)
      : shards_(shards),
        options_(options),
        progress_(progress),
        reports_(shards.size()) {}

  // Takes one shard after the other until there is none.
  void Work() {
    try {
      PayloadCheck check(options_);
      while (const std::optional<std::size_t> shard = Take()) {
        Keep(*shard, VerifyShard(shards_[*shard], check, progress_));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      next_ = shards_.size();
    }
  }

  // Ends the pass; rethrows what a thread threw. Requires: no Work() runs.
  [[nodiscard]] ExitCode Finish() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
    std::cout << fmt::format("{} records in {} shards, {} bad\n", records_,
                             shards_.size(), bad_);
    return bad_ > 0 ? ExitCode::kDataError : ExitCode::kDone;
  }

 private:
  std::optional<std::size_t> Take() {
    const std::lock_guard lock(mutex_);
    return next_ < shards_.size() ? std::optional(next_++) : std::nullopt;
  }

  void Keep(std::size_t shard, ShardReport report) {
    const std::lock_guard lock(mutex_);
    reports_[shard] = std::move(report);
    for (; printed_ < reports_.size() && reports_[printed_]; ++printed_) {
      for (const std::string& line : reports_[printed_]->bad) {
        std::cout << line << std::endl;
      }
      records_ += reports_[printed_]->records;
      bad_ += reports_[printed_]->bad.size();
      reports_[printed_]->bad = {};
    }
  }

  const ShardPaths& shards_;
  const VerifyOptions& options_;
  ReadProgress& progress_;
  std::mutex mutex_;
  std::size_t next_ = 0;     // the shard to take
  std::size_t printed_ = 0;  // shards whose reports are printed
  std::vector<std::optional<ShardReport>> reports_;
  std::int64_t records_ = 0;
  std::size_t bad_ = 0;
  std::exception_ptr error_;
};

std::int64_t BytesOf(const ShardPaths& shards) {
  std::int64_t bytes = 0;
  for (const std::string& path : shards) {
    bytes += OpenSource(path)->size();
  }
  return bytes;
}

}  // namespace

ExitCode VerifyRecords(const ShardPaths& shards, const VerifyOptions& options) {
  if (options.threads < 0) {
    throw UsageError(
        fmt::format("--threads must not be negative, not {}", options.threads));
  }
  const std::size_t wanted = options.threads > 0
                                 ? static_cast<std::size_t>(options.threads)
                                 : std::thread::hardware_concurrency();
  const std::size_t count = std::clamp<std::size_t>(
      wanted, 1, std::max<std::size_t>(shards.size(), 1));
  ReadProgress progress(BytesOf(shards));
  Verification verification(shards, options, progress);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&] { verification.Work(); });
    }
  }
  return verification.Finish();
}

}  // namespace infeed
