#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/support/entropy_targets.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "base/error.h"
#include "preprocess/jpeg_entropy/entropy-inl.h"
#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_entropy/runs-inl.h"
#include "preprocess/jpeg_entropy/scan_ahead-inl.h"
#include "preprocess/jpeg_entropy/unstuff-inl.h"
#include "tests/support/entropy_targets.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

bool Ahead(const McuLayout& layout, const ScanBytes& bytes, int mcus,
           double bits, ScanPlace& place, std::int16_t* coefficients,
           std::uint8_t* ends) {
  AheadScratch scratch;
  ScanAhead ahead(layout, bytes, scratch);
  ScanPlace behind = place;
  while (mcus > 0) {
    if (!ahead.Decode(mcus, bits, place)) {
      return false;
    }
    for (const ScanAhead::Piece& piece : ahead.pieces()) {
      const int blocks = piece.mcus * layout.blocks;
      coefficients = std::copy_n(piece.coefficients, 64 * blocks, coefficients);
      ends = std::copy_n(piece.ends, blocks, ends);
      mcus -= piece.mcus;
      behind = ahead.PlaceBehind(piece, piece.mcus);
    }
    Check(behind == place, "a piece ends where the next one begins");
  }
  return true;
}

std::vector<std::uint8_t> Unstuffed(std::span<const std::uint8_t> bytes,
                                    std::size_t& read) {
  std::vector<std::uint8_t> copy(bytes.size() + 64);
  std::uint8_t* out = copy.data();
  const std::uint8_t* const end =
      Unstuff(bytes.data(), bytes.data() + bytes.size(), out);
  read = static_cast<std::size_t>(end - bytes.data());
  copy.resize(static_cast<std::size_t>(out - copy.data()));
  return copy;
}

EntropyTarget TargetCode() {
  EntropyTarget code = {.stored_place = {},
                        .decode_mcus = DecodeMcus,
                        .pass_mcus = PassMcus,
                        .decode_runs = DecodeRuns,
                        .decode_ahead = Ahead,
                        .unstuff = Unstuffed};
  std::copy_n(kStoredPlace.data(), code.stored_place.size(),
              code.stored_place.begin());
  return code;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(TargetCode);

EntropyTarget CurrentEntropyTarget() {
  return HWY_DYNAMIC_DISPATCH(TargetCode)();
}

}  // namespace infeed
#endif
