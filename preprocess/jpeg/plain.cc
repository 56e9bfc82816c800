#include "preprocess/jpeg/plain.h"

#include <array>
#include <optional>

#include "base/error.h"
#include "preprocess/jpeg_entropy/huffman.h"
#include "preprocess/jpeg_entropy/seek_maker.h"

namespace infeed {
namespace {

// The fewest skipped bytes for which tables of groups of symbols pay off.
constexpr std::size_t kGroupedBytes = 8 << 10;

// About how many of a JPEG's bytes are skipped, not decoded, for a window. Only
// scans with restart markers, and short ones, are read MCU by MCU.
std::size_t SkippedBytes(const PlainJpeg& jpeg, const WindowPlan& plan) {
  const JpegScan& scan = jpeg.scan;
  if (scan.restart_interval == 0) {
    return 0;
  }
  const double above = plan.first_row;
  const double beside = plan.end_row - plan.first_row;
  const double rows = above + beside * (1.0 - static_cast<double>(plan.mcus()) /
                                                  scan.mcus_per_row);
  return static_cast<std::size_t>(static_cast<double>(jpeg.bytes.size()) *
                                  rows / scan.mcu_rows);
}

// Tables in the places that the scan names. A table equal to the one that the
// previous image had in that place is kept.
template <typename Table>
class TableSet {
 public:
  // Returns null for an invalid table.
  template <typename Build>
  Table* Get(int place, const HuffmanSpec& spec, Build build) {
    Slot& slot = slots_[place];
    if (!slot.is_built || slot.spec != spec) {
      slot.spec = spec;
      slot.is_built = build(spec, slot.table);
    }
    return slot.is_built ? &slot.table : nullptr;
  }

 private:
  struct Slot {
    HuffmanSpec spec;
    bool is_built = false;
    Table table{};
  };
  std::array<Slot, 4> slots_;
};

}  // namespace

struct PlainJpegDecoder::State {
  // Builds the tables and lists the blocks of an MCU. False: not plain.
  // skipped_bytes: about how much of the scan is to be skipped.
  [[nodiscard]] bool PrepareLayout(std::size_t skipped_bytes);
  // As PrepareLayout(), to make an index. False also for a JPEG that cannot
  // have one.
  [[nodiscard]] bool PrepareIndexing();

  PlainJpeg jpeg;
  TableSet<DcTable> dc_tables;
  TableSet<AcTable> ac_tables;
  PlainScratch scratch;
};

bool PlainJpegDecoder::State::PrepareLayout(std::size_t skipped_bytes) {
  const JpegScan& scan = jpeg.scan;
  jpeg.layout.blocks = 0;
  for (int i = 0; i < scan.component_count; ++i) {
    const JpegComponent& component = scan.components[i];
    const DcTable* const dc = dc_tables.Get(
        component.dc_table, scan.dc_tables[component.dc_table], BuildDcTable);
    AcTable* const ac = ac_tables.Get(
        component.ac_table, scan.ac_tables[component.ac_table], BuildAcTable);
    if (dc == nullptr || ac == nullptr) {
      return false;
    }
    if (skipped_bytes >= kGroupedBytes && !ac->is_grouped) {
      GroupSymbols(*ac);
    }
    for (int n = component.horizontal * component.vertical; n > 0; --n) {
      jpeg.layout.block[jpeg.layout.blocks++] = {dc, ac, i};
    }
  }
  return true;
}

bool PlainJpegDecoder::State::PrepareIndexing() {
  return jpeg.scan.restart_interval == 0 && PrepareLayout(jpeg.bytes.size());
}

PlainJpegDecoder::PlainJpegDecoder() : state_(std::make_unique<State>()) {}
PlainJpegDecoder::~PlainJpegDecoder() = default;
PlainJpegDecoder::PlainJpegDecoder(PlainJpegDecoder&&) noexcept = default;
PlainJpegDecoder& PlainJpegDecoder::operator=(PlainJpegDecoder&&) noexcept =
    default;

bool PlainJpegDecoder::ReadHeader(std::span<const std::byte> bytes) {
  std::optional<JpegScan> scan = ReadPlainJpeg(bytes);
  if (!scan) {
    return false;
  }
  state_->jpeg.scan = *scan;
  state_->jpeg.bytes = bytes;
  return true;
}

const JpegScan& PlainJpegDecoder::scan() const { return state_->jpeg.scan; }

PlainResult PlainJpegDecoder::DecodeWindow(int denominator,
                                           const Window& window,
                                           const JpegSeekIndex* index,
                                           RowSink& sink,
                                           JpegSeekIndex* found) {
  State& state = *state_;
  WindowPlan& plan = state.scratch.plan;
  PlanWindow(state.jpeg.scan, window, denominator, plan);
  if (!state.PrepareLayout(SkippedBytes(state.jpeg, plan))) {
    return PlainResult::kIrregular;
  }
  return DecodePlainWindow(state.jpeg, index, state.scratch, sink, found);
}

std::optional<JpegSeekIndex> PlainJpegDecoder::MakeIndex(int run) {
  Check(run >= 0, "a run has MCUs");
  State& state = *state_;
  if (!state.PrepareIndexing()) {
    return std::nullopt;
  }
  return MakePlainSeekIndex(state.jpeg, run, state.scratch);
}

bool PlainJpegDecoder::CompleteIndex(JpegSeekIndex& index) {
  State& state = *state_;
  return state.PrepareIndexing() &&
         CompletePlainSeekIndex(state.jpeg, state.scratch, index);
}

std::optional<JpegSeekIndex> MakeSeekIndex(std::span<const std::byte> jpeg,
                                           int run) {
  PlainJpegDecoder decoder;
  if (!decoder.ReadHeader(jpeg)) {
    return std::nullopt;
  }
  return decoder.MakeIndex(run);
}

}  // namespace infeed
