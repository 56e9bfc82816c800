// Decodes several runs of MCUs in one loop, up to twice as fast as one after
// the other.
#if defined(INFEED_PREPROCESS_JPEG_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#undef INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/stream_loop-inl.h"
#include "preprocess/jpeg_entropy/stream_source-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Tracks the runs' progress and gives the streams a chunk of MCUs at a time.
class RunQueue {
 public:
  RunQueue(const McuLayout& layout, std::span<McuRun> runs)
      : source_(layout), blocks_(layout.blocks), runs_(runs) {}

  // Gives a stream the next chunk of its run, or of the next run. False:
  // irregular data. If no run is left, the stream idles.
  [[nodiscard]] bool Supply(std::size_t i, Stream& s) {
    Lane& lane = lanes_[i];
    if (lane.run != nullptr && !Finish(lane)) {
      return false;
    }
    if (lane.run == nullptr || lane.done == lane.run->mcus) {
      active_ -= lane.run != nullptr ? 1 : 0;
      lane.run = nullptr;
      if (next_run_ == runs_.size()) {
        s = source_.Idle();
        return true;
      }
      ++active_;
      lane.run = &runs_[next_run_++];
      lane.done = 0;
      if (lane.run->place.bit > lane.run->bytes.size * 8) {
        return false;
      }
      s = source_.Begin(lane.run->bytes, lane.run->place.bit,
                        lane.run->coefficients, lane.ends.data());
    }
    s.memory.end = lane.ends.data();
    lane.chunk =
        source_.Continue(s, lane.run->bytes, lane.run->mcus - lane.done);
    return true;
  }

  [[nodiscard]] int active() const { return active_; }

 private:
  struct Lane {
    McuRun* run = nullptr;
    int done = 0;   // MCUs
    int chunk = 0;  // MCUs, after those
    std::array<std::uint64_t, StreamSource::kChunk> ends{};
  };

  // Completes the blocks that a stream has decoded.
  bool Finish(Lane& lane) const {
    McuRun& run = *lane.run;
    const std::ptrdiff_t blocks = std::ptrdiff_t{lane.done} * blocks_;
    lane.done += lane.chunk;
    return source_.Finish(run.bytes, lane.chunk, run.coefficients + 64 * blocks,
                          lane.ends.data(), run.ends + blocks, run.place);
  }

  StreamSource source_;
  int blocks_;  // in an MCU
  std::span<McuRun> runs_;
  std::size_t next_run_ = 0;
  int active_ = 0;
  std::array<Lane, kStreams> lanes_;
};

// Decodes any number of runs, each as DecodeMcus() does, but with
// kRunSlackBlocks behind its coefficients. kStreams runs are decoded at a time;
// when one is done, the next begins. Fastest for a multiple of kStreams runs of
// similar lengths.
[[nodiscard]] inline bool DecodeRuns(const McuLayout& layout,
                                     std::span<McuRun> runs) {
  if (runs.size() == 1) {
    McuRun& run = runs[0];
    return DecodeMcus(layout, run.bytes, run.mcus, run.place, run.coefficients,
                      run.ends);
  }
  RunQueue queue(layout, runs);
  std::array<Stream, kStreams> streams{};
  for (;;) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      if (streams[i].memory.end == streams[i].memory.stop &&
          !queue.Supply(i, streams[i])) {
        return false;
      }
    }
    if (queue.active() == 0) {
      return true;
    }
    TakeUntilStop(streams);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_RUNS_INL_H_
