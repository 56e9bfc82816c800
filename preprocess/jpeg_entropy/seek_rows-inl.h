// Per-target code: included once for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_SEEK_ROWS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_SEEK_ROWS_INL_H_
#undef INFEED_PREPROCESS_JPEG_SEEK_ROWS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_SEEK_ROWS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "preprocess/jpeg_entropy/mcu_stream-inl.h"
#include "preprocess/jpeg_entropy/runs-inl.h"
#include "preprocess/jpeg_entropy/seek_index.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Decodes rows of MCUs from a seek index, several at once. Each row is decoded
// from the entry before the window's first MCU to the entry behind its last
// one, where it must end exactly. With entries at rows only, the decode stops
// at the window's last MCU; the end is then checked only if that is the row's
// last MCU. Every call returns false if the index and the scan disagree.
class SeekRows {
 public:
  static constexpr int kAtOnce = kStreams;

  // Requires: SeekIndexFits().
  SeekRows(const PlainJpeg& jpeg, const JpegSeekIndex& index,
           PlainScratch& scratch);

  // Decodes `rows` rows of MCUs from `first` on, 1..kAtOnce. Row i's blocks, of
  // the plan's MCUs, are then at coefficients(i), their ends at ends(i).
  // Requires: the index covers the rows.
  [[nodiscard]] bool Decode(int first, int rows);

  [[nodiscard]] const std::int16_t* coefficients(int i) const {
    return runs_[i].coefficients + std::ptrdiff_t{64} * skipped_blocks_;
  }
  [[nodiscard]] const std::uint8_t* ends(int i) const {
    return runs_[i].ends + skipped_blocks_;
  }

 private:
  // Un-stuffs the bytes of a row and sets up its run.
  [[nodiscard]] bool Enter(int row, McuRun& run, ScanPlace& arrival,
                           std::uint8_t*& out) const;
  [[nodiscard]] const SeekEntry& Entry(int row, int run) const {
    return index_.entries[static_cast<std::size_t>(row) * runs_per_row_ + run];
  }

  const PlainJpeg& jpeg_;
  const JpegSeekIndex& index_;
  PlainScratch& scratch_;
  int runs_per_row_;
  int first_run_;  // first decoded run of each row
  int end_run_;
  int mcus_;  // decoded in each row
  int skipped_blocks_;
  bool arrives_;
  std::array<McuRun, kAtOnce> runs_{};
};

inline SeekRows::SeekRows(const PlainJpeg& jpeg, const JpegSeekIndex& index,
                          PlainScratch& scratch)
    : jpeg_(jpeg),
      index_(index),
      scratch_(scratch),
      runs_per_row_(index.runs_per_row()) {
  const WindowPlan& plan = scratch.plan;
  first_run_ = plan.first_mcu / index.run;
  end_run_ = (plan.end_mcu - 1) / index.run + 1;
  const int begin = first_run_ * index.run;
  const int end = std::min(end_run_ * index.run, index.mcus_per_row);
  arrives_ = index.run < index.mcus_per_row || plan.end_mcu == end;
  mcus_ = (arrives_ ? end : plan.end_mcu) - begin;
  skipped_blocks_ = (plan.first_mcu - begin) * jpeg.layout.blocks;
  const std::size_t blocks =
      static_cast<std::size_t>(mcus_) * jpeg.layout.blocks + kRunSlackBlocks;
  scratch.coefficients.Grow(blocks * 64 * kAtOnce);
  scratch.ends.Grow(blocks * kAtOnce);
  for (int i = 0; i < kAtOnce; ++i) {
    runs_[i].coefficients = scratch.coefficients.data() + blocks * 64 * i;
    runs_[i].ends = scratch.ends.data() + blocks * i;
  }
}

inline bool SeekRows::Decode(int first, int rows) {
  const std::size_t begin = Entry(first, first_run_).byte;
  const std::size_t end = Entry(first + rows - 1, end_run_).byte;
  if (begin > end || end > jpeg_.bytes.size()) {
    return false;
  }
  constexpr std::size_t kOver = 128;  // bytes behind each run, and a vector
  scratch_.coded.Grow(end - begin + kOver * (kAtOnce + 1) + kScanSlack);
  std::uint8_t* out = scratch_.coded.data();
  std::array<ScanPlace, kAtOnce> arrivals;
  for (int i = 0; i < rows; ++i) {
    if (!Enter(first + i, runs_[i], arrivals[i], out)) {
      return false;
    }
  }
  std::memset(out, 0, kScanSlack);
  const std::span<McuRun> runs(runs_.data(), static_cast<std::size_t>(rows));
  if (!DecodeRuns(jpeg_.layout, runs)) {
    return false;
  }
  for (int i = 0; arrives_ && i < rows; ++i) {
    if (runs_[i].place != arrivals[i]) {
      return false;
    }
  }
  return true;
}

inline bool SeekRows::Enter(int row, McuRun& run, ScanPlace& arrival,
                            std::uint8_t*& out) const {
  const SeekEntry& from = Entry(row, first_run_);
  const SeekEntry& to = Entry(row, end_run_);
  if (from.byte > to.byte || to.byte > jpeg_.bytes.size()) {
    return false;
  }
  constexpr std::size_t kAhead = 32;  // bytes that a decode may look ahead
  const std::uint8_t* const data = AsUnsigned(jpeg_.bytes).data();
  std::uint8_t* const begin = out;
  if (Unstuff(data + from.byte, data + to.byte, out) != data + to.byte) {
    return false;
  }
  const auto arrival_byte = static_cast<std::size_t>(out - begin);
  const std::size_t end = std::min(to.byte + kAhead, jpeg_.bytes.size());
  static_cast<void>(Unstuff(data + to.byte, data + end, out));
  run.bytes = {begin, static_cast<std::size_t>(out - begin)};
  run.mcus = mcus_;
  run.place = {.bit = from.bit, .dc = {from.dc[0], from.dc[1], from.dc[2]}};
  arrival = {.bit = arrival_byte * 8 + to.bit,
             .dc = {to.dc[0], to.dc[1], to.dc[2]}};
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_SEEK_ROWS_INL_H_
