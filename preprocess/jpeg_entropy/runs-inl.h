// Decodes several runs of MCUs in one loop, 1.5 times as fast as one after the
// other.
#if defined(INFEED_PREPROCESS_JPEG_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#undef INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_RUNS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Tracks the runs' progress and gives the streams lists of blocks, a chunk of
// MCUs at a time.
class RunQueue {
 public:
  RunQueue(const McuLayout& layout, std::span<McuRun> runs)
      : layout_(layout), runs_(runs) {}

  // Gives a stream the next chunk of its run, or of the next run. False:
  // irregular data. If no run is left, the stream stops.
  [[nodiscard]] bool Supply(int i, Stream& s) {
    Lane& lane = lanes_[i];
    if (lane.run != nullptr && !Finish(lane, frame_.last[i], s)) {
      return false;
    }
    while (lane.run == nullptr || lane.left == 0) {
      if (lane.run != nullptr) {
        lane.run->place = Place(lane, s);
        --active_;
      }
      if (next_run_ == runs_.size()) {
        return Park(lane, frame_.last[i], s);
      }
      lane.run = &runs_[next_run_++];
      ++active_;
      if (!Enter(lane, s)) {
        return false;
      }
    }
    List(lane, frame_.last[i], s);
    return true;
  }

  [[nodiscard]] StreamFrame& frame() { return frame_; }
  [[nodiscard]] int active() const { return active_; }
  // Set when a code is invalid.
  [[nodiscard]] bool& bad() { return bad_; }

 private:
  static constexpr int kChunkBlocks = 48;

  struct Lane {
    McuRun* run = nullptr;
    int left = 0;    // MCUs not yet listed
    int listed = 0;  // blocks
    std::array<int, 3> dc{};
    std::int16_t* coefficients = nullptr;
    std::uint8_t* ends = nullptr;
    std::array<BlockJob, kChunkBlocks + 1> jobs;
  };

  static ScanPlace Place(const Lane& lane, const Stream& s) {
    return {.bit = static_cast<std::size_t>(s.next - lane.run->bytes.data) * 8 +
                   static_cast<std::size_t>(std::countr_zero(s.bits)),
            .dc = lane.dc};
  }

  bool Park(Lane& lane, const BlockJob*& last, Stream& s) {
    lane.run = nullptr;
    last = &none_;
    s.bits = 1;
    s.next = no_bytes_.data();
    Stop(lane.jobs[0]);
    lane.listed = 0;
    s.job = lane.jobs.data();
    Begin(s);
    s.entry = FusedTable::kStop;
    return true;
  }

  void Stop(BlockJob& job) {
    // A stopped stream keeps writing to the place before its block.
    job = {&stop_, &stop_, no_block_.data() + 65, &job, 0};
  }

  static bool Enter(Lane& lane, Stream& s) {
    const McuRun& run = *lane.run;
    if (run.place.bit > run.bytes.size * 8) {
      return false;
    }
    lane.left = run.mcus;
    lane.dc = run.place.dc;
    lane.coefficients = run.coefficients;
    lane.ends = run.ends;
    s.next = run.bytes.data + run.place.bit / 8;
    s.bits = (BigEndian(s.next) | 1) << run.place.bit % 8;
    return true;
  }

  // Lists blocks, only as many as cannot read beyond the slack.
  void List(Lane& lane, const BlockJob*& last, Stream& s) {
    constexpr std::size_t kBlockBytes = 64 * 31 / 8;
    const auto rest = lane.run->bytes.size + kScanSlack - 64 -
                      static_cast<std::size_t>(s.next - lane.run->bytes.data);
    const int blocks = static_cast<int>(
        std::min<std::size_t>(kChunkBlocks, rest / kBlockBytes));
    const int mcus = std::min(lane.left, blocks / layout_.blocks);
    lane.left -= mcus;
    BlockJob* const jobs = lane.jobs.data();
    const int count = mcus * layout_.blocks;
    if (count != lane.listed) {
      Link(lane, count);
    }
    std::int16_t* block = lane.coefficients;
    for (int i = 0; i < count; ++i, block += 64) {
      ClearBlock(block);
      jobs[i].behind = block + 64;
    }
    last = jobs + count;
    s.job = jobs;
    Begin(s);
    Refill(s);
    s.entry = layout_.block[0].dc->fused[s.bits >> (64 - FusedTable::kBits)];
    if (IsLong(static_cast<std::uint32_t>(s.entry))) {
      TakeLong(*layout_.block[0].dc, s, bad_);
    }
  }

  // Sets the tables of a list of blocks, which ends with a stop.
  void Link(Lane& lane, int count) {
    BlockJob* job = lane.jobs.data();
    for (int i = 0, b = 0; i < count; ++i, ++job) {
      const int next = b + 1 < layout_.blocks ? b + 1 : 0;
      job->ac = layout_.block[b].ac;
      job->next_dc = i + 1 < count ? layout_.block[next].dc : &stop_;
      job->next = job + 1;
      b = next;
    }
    Stop(*job);
    lane.listed = count;
  }

  // Completes the blocks that a stream has decoded.
  bool Finish(Lane& lane, const BlockJob* last, const Stream& s) {
    bool good = !bad_ && Place(lane, s).bit <= lane.run->bytes.size * 8;
    int b = 0;
    for (const BlockJob* job = lane.jobs.data(); job != last; ++job) {
      int& dc = lane.dc[layout_.block[b].component];
      b = b + 1 < layout_.blocks ? b + 1 : 0;
      dc += lane.coefficients[0];
      lane.coefficients[0] = static_cast<std::int16_t>(dc);
      good &= dc == static_cast<std::int16_t>(dc);
      lane.coefficients += 64;
      // 0: the last coefficient was written; 1..15: a run went past it.
      constexpr int kEndOver = FusedTable::kEndAdvance - 64;
      good &= job->over == 0 || job->over > kEndOver;
      *lane.ends++ = job->over == 0 ? 64 : job->over - kEndOver;
    }
    return good;
  }

  const McuLayout& layout_;
  std::span<McuRun> runs_;
  const FusedTable& stop_ = StopTable();
  std::size_t next_run_ = 0;
  int active_ = 0;
  bool bad_ = false;
  StreamFrame frame_{};
  BlockJob none_{};
  std::array<std::int16_t, 3 * 64> no_block_{};
  std::array<std::uint8_t, 16> no_bytes_{};
  std::array<Lane, 3> lanes_;
};

// Decodes until a stream is at the end of its list. Not inlined, so that it
// gets enough registers.
HWY_NOINLINE void TakeLists(RunQueue& queue, std::array<Stream, 3>& streams) {
  Stream a = streams[0];
  Stream b = streams[1];
  Stream c = streams[2];
  TakeLists(queue.frame(), a, b, c, queue.bad());
  streams = {a, b, c};
}

// Decodes any number of runs, each as DecodeMcus() does, but with
// kRunSlackBlocks behind its coefficients. Three runs are decoded at a time;
// when one is done, the next begins. Fastest for a multiple of three runs of
// similar lengths.
[[nodiscard]] inline bool DecodeRuns(const McuLayout& layout,
                                     std::span<McuRun> runs) {
  if (runs.size() == 1) {
    McuRun& run = runs[0];
    return DecodeMcus(layout, run.bytes, run.mcus, run.place, run.coefficients,
                      run.ends);
  }
  RunQueue queue(layout, runs);
  std::array<Stream, 3> streams{};
  for (;;) {
    for (int i = 0; i < 3; ++i) {
      if (streams[i].job == queue.frame().last[i] &&
          !queue.Supply(i, streams[i])) {
        return false;
      }
    }
    if (queue.active() == 0) {
      return true;
    }
    TakeLists(queue, streams);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_RUNS_INL_H_
