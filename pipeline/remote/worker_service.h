#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/remote/rpc.h"
#include "records/store/record_index.h"

namespace infeed {

struct WorkerOptions {
  std::string name = {};   // for messages and tables
  int threads = 0;         // that fill ranges; 0: one per core
  bool use_cache = false;  // keep encoded records, within memory_limit
  bool verify_checksums = true;
  bool map_files = true;
  // Bytes of the program, ranges, decoders and cache, checked when a stream is
  // opened.
  std::int64_t memory_limit = std::int64_t{4} << 30;
  // A stream that was asked for within this time is in use; tests change it.
  std::chrono::milliseconds use_time{10'000};
};

// Since the start.
struct WorkerServiceStats {
  std::int64_t ranges = 0;    // filled
  std::int64_t slots = 0;     // filled, without those declined
  std::int64_t declined = 0;  // slots
  std::int64_t busy = 0;      // ranges refused because too many waited
  std::int64_t refused = 0;   // streams that could not be opened
  int streams = 0;            // open now
  int in_work = 0;            // ranges waiting or being filled now
};

// A worker: fills ranges of slots of data that it was started with, on request
// of any number of trainers. It has no state of a stream but what the stream's
// slots depend on.
//
//   Handle ─► Open: a filler for the stream, unless it has one (16 at most: the
//   │               least recently used one goes; if all are in use, kBusy)
//   └───────► Fill: 2 x threads ranges at most, else kBusy ─► threads ─► reply
//
// Credit: twice the threads, divided among the streams that asked within the
// last second; at least 1. Thread-safe.
class WorkerService {
 public:
  static constexpr int kMostStreams = 16;
  static constexpr int kMostThreads = 1024;

  // Streams of any of the data sets can be opened. Throws UsageError for
  // options out of their range. Requires: there is a data set.
  WorkerService(std::vector<std::shared_ptr<const RecordIndex>> data,
                const WorkerOptions& options);
  // Finishes the ranges in work, as far as somebody waits for them.
  ~WorkerService();
  WorkerService(const WorkerService&) = delete;
  WorkerService& operator=(const WorkerService&) = delete;

  // RpcServer::Handler.
  void Handle(std::shared_ptr<RpcServerCall> call);

  [[nodiscard]] WorkerServiceStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace infeed
