#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>

#include "base/owner_process.h"
#include "pipeline/engine/input_pipeline.h"

#include "python/module/batch.h"

namespace infeed::python {

// Epoch, position, past epochs: StreamPosition; then the fingerprint of what
// came before.
using Place =
    std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::uint64_t>;

// An InputPipeline for Python: waits without the interpreter's lock, can be
// interrupted, and may be shared by threads.
class Stream {
 public:
  Stream(std::shared_ptr<const RecordIndex> index,
         const nanobind::dict& options, const nanobind::object& selection,
         const nanobind::dict& fields, const nanobind::object& objects,
         const nanobind::list& views, const nanobind::tuple& worker_tls,
         const Place& start);
  // Without the interpreter's lock: its threads may be waiting for a server in
  // this process, which needs it.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // The next batch; null at the end. Raises KeyboardInterrupt when a signal
  // comes meanwhile; no batch is lost by that. Calls all_held() once when it
  // waits because the caller holds all batches.
  [[nodiscard]] Loan Next(const nanobind::callable& all_held);
  // One batch of any epoch of the stream that comes through this place, without
  // an effect on Next(). Ctrl-C takes effect afterwards.
  [[nodiscard]] Loan BatchAt(std::uint32_t epoch, std::int64_t number,
                             const Place& place);
  // A dict for each slot of a batch of this stream, None for an empty one.
  [[nodiscard]] nanobind::list Describe(const Batch& batch);
  // uint8 arrays over the memory of the batches that Next() lends, but not of
  // copies. Each keeps its memory mapped, and no batch on loan.
  [[nodiscard]] nanobind::list BatchMemory() const;
  // The place after the last batch of Next().
  [[nodiscard]] Place position() const;
  // Ends the stream, and waits until no thread is in a call above: no thread
  // may wake up in an interpreter that is ending.
  void Stop();

  // Converts a place to the stream's state as text (stream_state.h), and back.
  // Throw UsageError for another stream's state, and for a place outside an
  // epoch.
  [[nodiscard]] std::string StateAt(const Place& place) const;
  [[nodiscard]] Place PlaceOf(const std::string& text) const;

  [[nodiscard]] std::string StatsText() const;
  [[nodiscard]] std::string VerdictText() const;
  [[nodiscard]] std::int64_t epoch_samples() const {
    return pipeline_->epoch_samples();
  }
  [[nodiscard]] bool has_labels() const { return ReadsLabels(options_); }
  // Messages about bad records since the last call.
  [[nodiscard]] std::vector<std::string> TakeMessages();
  // Lines about workers, since the last call.
  [[nodiscard]] std::vector<std::string> TakeNotes();

 private:
  // Waits for the next batch for at most this time; nullopt: none yet.
  std::optional<Loan> NextWithin(std::chrono::milliseconds time);

  std::shared_ptr<const RecordIndex> index_;
  InputOptions options_;
  std::mutex messages_mutex_;
  std::vector<std::string> messages_;
  std::vector<std::string> notes_;
  std::timed_mutex next_mutex_;   // one thread at a time
  std::atomic<int> waiting_ = 0;  // threads without the interpreter's lock
  OwnerProcess process_;
  std::atomic<bool> told_ = false;  // that all batches are held
  std::unique_ptr<InputPipeline> pipeline_;
};

// Adds Stream.
void AddStream(nanobind::module_& module);

}  // namespace infeed::python
