#include "preprocess/jpeg/plain.h"

#include <array>
#include <cstddef>
#include <optional>

#include "base/error.h"
#include "preprocess/jpeg_entropy/huffman.h"
#include "preprocess/jpeg_entropy/seek_maker.h"

namespace infeed {
namespace {

// The smallest JPEG, in bytes, for which the table of pairs pays off.
constexpr std::size_t kPairedBytes = 64 << 10;

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
  // in_order: for one stream of symbols, not several at once.
  [[nodiscard]] bool PrepareLayout(bool in_order);

  PlainJpeg jpeg;
  TableSet<DcTable> dc_tables;
  TableSet<AcTable> ac_tables;
  PlainScratch scratch;
};

bool PlainJpegDecoder::State::PrepareLayout(bool in_order) {
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
    if (in_order && !ac->is_paired && jpeg.bytes.size() >= kPairedBytes) {
      PairSymbols(*ac);
    }
    for (int n = component.horizontal * component.vertical; n > 0; --n) {
      jpeg.layout.block[jpeg.layout.blocks++] = {dc, ac, i};
    }
  }
  return true;
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
  const bool in_order =
      index == nullptr || index->covered_rows() < plan.end_row;
  if (!state.PrepareLayout(in_order)) {
    return PlainResult::kIrregular;
  }
  return DecodePlainWindow(state.jpeg, index, state.scratch, sink, found);
}

std::optional<JpegSeekIndex> PlainJpegDecoder::MakeIndex(int run) {
  Check(run >= 0, "a run has MCUs");
  State& state = *state_;
  if (state.jpeg.scan.restart_interval > 0 || !state.PrepareLayout(true)) {
    return std::nullopt;
  }
  return MakePlainSeekIndex(state.jpeg, run, state.scratch);
}

bool PlainJpegDecoder::CompleteIndex(JpegSeekIndex& index) {
  State& state = *state_;
  return state.jpeg.scan.restart_interval == 0 && state.PrepareLayout(true) &&
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
