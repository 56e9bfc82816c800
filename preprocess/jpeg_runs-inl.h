// Several runs of MCUs decoded in one loop: while one stream's next symbol
// waits for its table, the others' go on. A block's end costs no branch: the
// next block's memory and tables are taken by conditional moves from a list.
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

#include "preprocess/jpeg_entropy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// A block to be decoded.
struct BlockJob {
  const FusedTable* ac;
  const FusedTable* next_dc;  // of the block behind
  std::int16_t* behind;       // where its coefficient 64 would be
  BlockJob* next;
  // How far behind coefficient 64 its last symbol went, modulo 256.
  std::uint8_t over;
};

// What the loop holds of a stream, in registers.
struct Stream {
  // The bits to come, from the highest; below them one that is set marks where
  // they end.
  std::uint64_t bits;
  const std::uint8_t* next;  // byte of the first of 64 bits
  std::int64_t place;        // in the block, -64..-1
  BlockJob* job;
  std::uint64_t entry;  // of the next symbol
};

// The place of a block's first symbol, as an operand in memory.
constexpr std::int64_t kFirst = -64;

// A table with which a stream stays where it is: its symbols use no bits.
inline const FusedTable& StopTable() {
  static const FusedTable table = [] {
    FusedTable stop{};
    stop.fused.fill(FusedTable::kStop);
    return stop;
  }();
  return table;
}

HWY_INLINE void Refill(Stream& s) {
  const int used = std::countr_zero(s.bits);
  s.next += used >> 3;
  s.bits = (BigEndian(s.next) | 1) << (used & 7);
}

// A stream out of registers, for functions that are not inlined: what has its
// address taken would stay in memory.
HWY_INLINE Stream Copy(const Stream& s) {
  return {s.bits, s.next, s.place, s.job, s.entry};
}
HWY_INLINE void Assign(const Stream& from, Stream& s) {
  s.bits = from.bits;
  s.next = from.next;
  s.place = from.place;
  s.job = from.job;
  s.entry = from.entry;
}

// Completes a look-up that found no whole symbol. Its entry then has no bits
// used: they are taken already, and the next ones there.
HWY_INLINE void TakeLong(const FusedTable& table, Stream& s, bool& bad) {
  Refill(s);
  std::uint32_t entry =
      LongSymbol(table, static_cast<std::uint32_t>(s.entry), s.bits);
  if (HWY_UNLIKELY(entry == 0)) {
    bad = true;
    entry = FusedTable::kLong;  // Ends the block: so the list's end comes.
  }
  s.bits <<= entry & 63;
  Refill(s);
  // 64 bits used are none, and not the mark of a long symbol.
  s.entry = (entry & ~std::uint32_t{255}) | 64;
}

#if defined(__x86_64__) && defined(__GNUC__)
// Takes a symbol: skips its bits, adds to the place, keeps the value, at the
// end of a block goes on to the next job, and looks the next symbol up.
// Compilers would branch at the end of a block, and have not enough registers
// for three streams.
HWY_INLINE void Take(Stream& s) {
  const FusedTable* table;
#if HWY_TARGET > HWY_AVX3
  std::uint64_t stored;
#endif
  // In the end `temporary` is the table.
  asm(
#if HWY_TARGET <= HWY_AVX2
      "shlx %[entry], %[bits], %[bits]\n\t"
      "mov %k[entry], %k[temporary]\n\t"
#else
      "mov %k[entry], %k[temporary]\n\t"
      "shl %b[temporary], %[bits]\n\t"
#endif
      "shr %[advance_shift], %k[temporary]\n\t"
      "shr %[value_shift], %k[entry]\n\t"
      "add %[temporary], %[place]\n\t"
      "mov %b[place], %c[over](%[job])\n\t"
      "mov %c[behind](%[job]), %[temporary]\n\t"
#if HWY_TARGET <= HWY_AVX3
      "mov %w[entry], -2(%[temporary], %[place], 2)\n\t"
#else
      "movzbl 63(%[places], %[place]), %k[stored]\n\t"
      "mov %w[entry], -128(%[temporary], %[stored], 2)\n\t"
#endif
      "mov %c[ac](%[job]), %[temporary]\n\t"
      "cmovns %c[next_dc](%[job]), %[temporary]\n\t"
      "cmovns %[first], %[place]\n\t"
      "cmovns %c[next](%[job]), %[job]\n\t"
      "mov %[bits], %[entry]\n\t"
      "shr %[look_shift], %[entry]\n\t"
      "mov (%[temporary], %[entry], 4), %k[entry]"
      : [bits] "+r"(s.bits), [place] "+r"(s.place), [job] "+r"(s.job),
        [entry] "+r"(s.entry)
#if HWY_TARGET <= HWY_AVX2
            ,
        [temporary] "=&r"(table)
#else
            ,
        [temporary] "=&c"(table)
#endif
#if HWY_TARGET > HWY_AVX3
            ,
        [stored] "=&r"(stored)
#endif
      : [first] "m"(kFirst), [over] "i"(offsetof(BlockJob, over)),
        [behind] "i"(offsetof(BlockJob, behind)),
        [ac] "i"(offsetof(BlockJob, ac)),
        [next_dc] "i"(offsetof(BlockJob, next_dc)),
        [next] "i"(offsetof(BlockJob, next)), [advance_shift] "i"(24),
        [value_shift] "i"(8), [look_shift] "i"(64 - FusedTable::kBits)
#if HWY_TARGET > HWY_AVX3
                                  ,
        [places] "r"(kStoredPlace.data())
#endif
      : "cc", "memory");
}
#else
HWY_INLINE void Take(Stream& s) {
  s.bits <<= s.entry & 63;
  const auto value = static_cast<std::int16_t>(s.entry >> 8);
  s.place += static_cast<std::int64_t>(s.entry >> 24);
  s.job->over = static_cast<std::uint8_t>(s.place);
  Store(s.job->behind, s.place, value);
  const bool end = s.place >= 0;
  const FusedTable* const table = end ? s.job->next_dc : s.job->ac;
  s.job = end ? s.job->next : s.job;
  s.place = end ? kFirst : s.place;
  s.entry = table->fused[s.bits >> (64 - FusedTable::kBits)];
}
#endif

// One symbol.
HWY_INLINE void Step(Stream& s, bool& bad) {
  Take(s);
  if (HWY_UNLIKELY(IsLong(static_cast<std::uint32_t>(s.entry)))) {
    // Where a block has just begun, the job before named the table.
    TakeLong(s.place == kFirst ? *s.job[-1].next_dc : *s.job->ac, s, bad);
  }
}

// The runs' progress: lists of blocks for the streams, a chunk of MCUs at a
// time.
class RunQueue {
 public:
  RunQueue(const McuLayout& layout, std::span<McuRun> runs)
      : layout_(layout), runs_(runs) {}

  // Gives a stream the next chunk of its run, or of the next run. False:
  // irregular. A stream without a run left stays where it is; its Last() is
  // null.
  [[nodiscard]] bool Supply(int i, Stream& s) {
    Lane& lane = lanes_[i];
    if (lane.run != nullptr && !Finish(lane, s)) {
      return false;
    }
    while (lane.run == nullptr || lane.left == 0) {
      if (lane.run != nullptr) {
        lane.run->place = Place(lane, s);
        --active_;
      }
      if (next_run_ == runs_.size()) {
        return Park(lane, s);
      }
      lane.run = &runs_[next_run_++];
      ++active_;
      if (!Enter(lane, s)) {
        return false;
      }
    }
    return List(lane, s);
  }

  [[nodiscard]] const BlockJob* last(int i) const { return lanes_[i].last; }
  [[nodiscard]] int active() const { return active_; }
  // Where a bad code is noted.
  [[nodiscard]] bool& bad() { return bad_; }

 private:
  static constexpr int kChunkBlocks = 48;

  struct Lane {
    McuRun* run = nullptr;
    int left = 0;  // MCUs that are not listed
    std::array<int, 3> dc{};
    std::int16_t* coefficients = nullptr;
    std::uint8_t* ends = nullptr;
    BlockJob* last = nullptr;  // behind the listed blocks
    std::array<BlockJob, kChunkBlocks + 1> jobs;
  };

  static ScanPlace Place(const Lane& lane, const Stream& s) {
    return {.bit = static_cast<std::size_t>(s.next - lane.run->bytes.data) * 8 +
                   static_cast<std::size_t>(std::countr_zero(s.bits)),
            .dc = lane.dc};
  }

  bool Park(Lane& lane, Stream& s) {
    lane.run = nullptr;
    lane.last = &none_;
    s.bits = 1;
    s.next = no_bytes_.data();
    Stop(lane.jobs[0]);
    s.job = lane.jobs.data();
    s.place = kFirst;
    s.entry = FusedTable::kStop;
    return true;
  }

  void Stop(BlockJob& job) {
    // It writes to the place before its block again and again.
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

  // Lists blocks, as many as cannot read beyond the slack.
  bool List(Lane& lane, Stream& s) {
    constexpr std::size_t kBlockBytes = 64 * 31 / 8;
    const auto rest = lane.run->bytes.size + kScanSlack - 64 -
                      static_cast<std::size_t>(s.next - lane.run->bytes.data);
    const int blocks = static_cast<int>(
        std::min<std::size_t>(kChunkBlocks, rest / kBlockBytes));
    const int mcus = std::min(lane.left, blocks / layout_.blocks);
    lane.left -= mcus;
    BlockJob* job = lane.jobs.data();
    std::int16_t* behind = lane.coefficients;
    std::memset(behind, 0, sizeof(*behind) * 64 * mcus * layout_.blocks);
    for (int mcu = 0; mcu < mcus; ++mcu) {
      for (int b = 0; b < layout_.blocks; ++b) {
        behind += 64;
        const int next = b + 1 < layout_.blocks ? b + 1 : 0;
        *job = {layout_.block[b].ac, layout_.block[next].dc, behind, job + 1,
                0};
        ++job;
      }
    }
    lane.last = job;
    job[-1].next_dc = &stop_;
    Stop(*job);
    s.job = lane.jobs.data();
    s.place = kFirst;
    Refill(s);
    s.entry = layout_.block[0].dc->fused[s.bits >> (64 - FusedTable::kBits)];
    if (IsLong(s.entry)) {
      TakeLong(*layout_.block[0].dc, s, bad_);
    }
    return true;
  }

  // Completes the blocks that a stream has decoded.
  bool Finish(Lane& lane, const Stream& s) {
    bool good = !bad_ && Place(lane, s).bit <= lane.run->bytes.size * 8;
    int b = 0;
    for (const BlockJob* job = lane.jobs.data(); job != lane.last; ++job) {
      int& dc = lane.dc[layout_.block[b].component];
      b = b + 1 < layout_.blocks ? b + 1 : 0;
      dc += lane.coefficients[0];
      lane.coefficients[0] = static_cast<std::int16_t>(dc);
      good &= dc == static_cast<std::int16_t>(dc);
      lane.coefficients += 64;
      // 0: the last coefficient was written; 1..15: a run past it.
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
  BlockJob none_{};
  std::array<std::int16_t, 3 * 64> no_block_{};
  std::array<std::uint8_t, 16> no_bytes_{};
  std::array<Lane, 4> lanes_;
};

// Supplies a stream that is at the end of its list. False: irregular.
HWY_INLINE bool Supplied(RunQueue& queue, int i, Stream& s) {
  if (HWY_LIKELY(s.job != queue.last(i))) {
    return true;
  }
  Stream copy = Copy(s);
  const bool good = queue.Supply(i, copy);
  Assign(copy, s);
  return good;
}

template <int kStreams>
bool DecodeStreams(const McuLayout& layout, std::span<McuRun> runs) {
  RunQueue queue(layout, runs);
  Stream a{};
  Stream b{};
  Stream c{};
  Stream d{};
  do {
    if (!Supplied(queue, 0, a) || !Supplied(queue, 1, b) ||
        (kStreams > 2 && !Supplied(queue, 2, c)) ||
        (kStreams > 3 && !Supplied(queue, 3, d))) {
      return false;
    }
    Refill(a);
    Refill(b);
    if constexpr (kStreams > 2) {
      Refill(c);
    }
    if constexpr (kStreams > 3) {
      Refill(d);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      Step(a, queue.bad());
      Step(b, queue.bad());
      if constexpr (kStreams > 2) {
        Step(c, queue.bad());
      }
      if constexpr (kStreams > 3) {
        Step(d, queue.bad());
      }
    }
  } while (queue.active() > 0);
  return true;
}

// Several runs, each as by DecodeMcus, but each with room for two blocks of
// coefficients behind its own.
[[nodiscard]] inline bool DecodeRuns(const McuLayout& layout,
                                     std::span<McuRun> runs) {
  switch (runs.size()) {
    case 0:
      return true;
    case 1:
      return DecodeMcus(layout, runs[0].bytes, runs[0].mcus, runs[0].place,
                        runs[0].coefficients, runs[0].ends);
    case 2:
      return DecodeStreams<2>(layout, runs);
    case 4:
      return DecodeStreams<4>(layout, runs);
    default:
      return DecodeStreams<3>(layout, runs);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_RUNS_INL_H_
