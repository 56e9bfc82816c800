#include "preprocess/jpeg_pixels/window.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/jpeg_pixels/window.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/rounding.h"
#include "preprocess/jpeg_entropy/mcu_stream-inl.h"
#include "preprocess/jpeg_entropy/scan_ahead-inl.h"
#include "preprocess/jpeg_entropy/seek_maker.h"
#include "preprocess/jpeg_entropy/seek_rows-inl.h"
#include "preprocess/jpeg_pixels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Decodes a window: the rows that the index covers from its entries, the rest
// by reading every MCU from the index's last entry on, or from the scan's
// start.
class WindowDecode {
 public:
  // index and found: as DecodePlainWindow(). Requires: an index fits.
  WindowDecode(const PlainJpeg& jpeg, const JpegSeekIndex* index,
               PlainScratch& scratch, RowSink& sink, JpegSeekIndex* found)
      : jpeg_(jpeg),
        index_(index),
        scratch_(scratch),
        plan_(scratch.plan),
        rows_(jpeg.scan, scratch, sink),
        found_(found) {}

  PlainResult Run() {
    const int covered = index_ != nullptr ? index_->covered_rows() : 0;
    const PlainResult result =
        covered > plan_.first_row
            ? DecodeByIndex(std::min(covered, plan_.end_row))
            : PlainResult::kDone;
    if (result != PlainResult::kDone || covered >= plan_.end_row) {
      return result;
    }
    return DecodeInOrder(covered) ? PlainResult::kDone
                                  : PlainResult::kIrregular;
  }

 private:
  PlainResult DecodeByIndex(int end_row) {
    SeekRows source(jpeg_, *index_, scratch_);
    for (int row = plan_.first_row; row < end_row;) {
      // As evenly as possible: one row alone takes as long as a full turn.
      const int turns = CeilDiv(end_row - row, SeekRows::kAtOnce);
      const int count = CeilDiv(end_row - row, turns);
      if (!source.Decode(row, count)) {
        return PlainResult::kIndexRefused;
      }
      for (int i = 0; i < count; ++i) {
        if (!rows_.Take(source.coefficients(i), source.ends(i))) {
          return PlainResult::kIrregular;
        }
      }
      row += count;
    }
    return PlainResult::kDone;
  }

  // Reads the rows from `row` on. False: irregular.
  bool DecodeInOrder(int row) {
    const std::size_t blocks =
        static_cast<std::size_t>(plan_.mcus()) * plan_.blocks_per_mcu + 1;
    scratch_.coefficients.Grow(blocks * 64);
    scratch_.ends.Grow(blocks);
    McuStream stream = row > 0
                           ? McuStream(jpeg_, scratch_, index_->entries.back())
                           : McuStream(jpeg_, scratch_);
    BeginFound(stream);
    const bool is_decoded = IsReadAhead(stream, row) ? DecodeAhead(stream, row)
                                                     : DecodeRows(stream, row);
    if (!is_decoded || !EndsWell(stream)) {
      return false;
    }
    EndFound(stream);
    return true;
  }

  // Whether several places of the scan are decoded at a time: not across
  // restart markers, and not for a few bytes, which take longer that way.
  bool IsReadAhead(const McuStream& stream, int row) const {
    constexpr double kLeastBytes = 4 << 10;
    const double rows = plan_.end_row - row;
    const double all = jpeg_.scan.mcu_rows - row;
    return jpeg_.scan.restart_interval == 0 &&
           static_cast<double>(stream.bytes().size) * rows / all >= kLeastBytes;
  }

  // Reads the rows from `row` on, one after the other.
  bool DecodeRows(McuStream& stream, int row) {
    for (; row < plan_.end_row; ++row) {
      if (!(row < plan_.first_row ? stream.Pass(jpeg_.scan.mcus_per_row)
                                  : DecodeRow(stream))) {
        return false;
      }
      AddFound(stream.place());
    }
    return true;
  }

  // Decodes rows without restart markers, several places at a time.
  bool DecodeAhead(McuStream& stream, int row) {
    const int per_row = jpeg_.scan.mcus_per_row;
    const int all = jpeg_.scan.mcu_rows * per_row;
    const int end = plan_.end_row * per_row;
    const auto size = static_cast<double>(stream.bytes().size * 8);
    ScanAhead ahead(jpeg_.layout, stream.bytes(), scratch_.ahead);
    ScanPlace place = stream.place();
    // Bits of an MCU: of those decoded last, less at the top of a photograph.
    double last = 0;
    for (int mcu = row * per_row; mcu < end;) {
      const auto bit = static_cast<double>(place.bit);
      const int first = mcu;
      const double mean = (size - bit) / (all - mcu);
      if (!ahead.Decode(end - mcu, (last + mean) / 2, place)) {
        return false;
      }
      for (const ScanAhead::Piece& piece : ahead.pieces()) {
        if (!TakePiece(ahead, piece, mcu)) {
          return false;
        }
        mcu += piece.mcus;
      }
      last = (static_cast<double>(place.bit) - bit) / (mcu - first);
    }
    stream.MoveTo(place);
    return true;
  }

  // Takes consecutive MCUs. mcu: the first one's number in the image.
  bool TakePiece(const ScanAhead& ahead, const ScanAhead::Piece& piece,
                 int mcu) {
    const int per_row = jpeg_.scan.mcus_per_row;
    for (int done = 0; done < piece.mcus;) {
      const int row = (mcu + done) / per_row;
      const int column = (mcu + done) % per_row;
      const int count = std::min(piece.mcus - done, per_row - column);
      if (row >= plan_.first_row && !TakeColumns(piece, done, column, count)) {
        return false;
      }
      done += count;
      if (column + count == per_row && found_ != nullptr) {
        AddFound(ahead.PlaceBehind(piece, done));
      }
    }
    return true;
  }

  // Takes those of a piece's MCUs that are the row's from a column on. A row
  // that lies in two pieces is put together in the scratch.
  bool TakeColumns(const ScanAhead::Piece& piece, int first, int column,
                   int count) {
    const int begin = std::max(column, plan_.first_mcu);
    const int end = std::min(column + count, plan_.end_mcu);
    if (begin >= end) {
      return true;
    }
    const std::ptrdiff_t blocks = plan_.blocks_per_mcu;
    const std::ptrdiff_t from = (first + begin - column) * blocks;
    const std::int16_t* coefficients = piece.coefficients + 64 * from;
    const std::uint8_t* ends = piece.ends + from;
    if (end - begin < plan_.mcus()) {
      const std::ptrdiff_t to = (begin - plan_.first_mcu) * blocks;
      const std::ptrdiff_t copied = (end - begin) * blocks;
      std::copy_n(coefficients, 64 * copied,
                  scratch_.coefficients.data() + 64 * to);
      std::copy_n(ends, copied, scratch_.ends.data() + to);
      coefficients = scratch_.coefficients.data();
      ends = scratch_.ends.data();
    }
    return end < plan_.end_mcu || rows_.Take(coefficients, ends);
  }

  // Reads a row of the window.
  bool DecodeRow(McuStream& stream) {
    return stream.Pass(plan_.first_mcu) &&
           stream.Decode(plan_.mcus(), scratch_.coefficients.data(),
                         scratch_.ends.data()) &&
           rows_.Take(scratch_.coefficients.data(), scratch_.ends.data()) &&
           stream.Pass(jpeg_.scan.mcus_per_row - plan_.end_mcu);
  }

  // The last row was read completely, as by libjpeg; if it is the image's last
  // row, libjpeg reads the data behind it, too.
  [[nodiscard]] bool EndsWell(const McuStream& stream) const {
    const bool is_last =
        plan_.window.y + plan_.window.height == plan_.components[0].height;
    return is_last ? stream.AtEnd() : !stream.NearsFileEnd();
  }

  void AddFound(const ScanPlace& place) {
    if (found_ != nullptr) {
      found_->entries.push_back(SeekEntryAt(place));
    }
  }

  void BeginFound(const McuStream& stream) {
    const JpegScan& scan = jpeg_.scan;
    if (found_ != nullptr &&
        (scan.restart_interval > 0 ||
         jpeg_.bytes.size() > std::numeric_limits<std::uint32_t>::max())) {
      found_ = nullptr;  // It cannot have an index.
    }
    if (found_ == nullptr) {
      return;
    }
    if (index_ != nullptr) {
      *found_ = *index_;
    } else {
      found_->mcus_per_row = scan.mcus_per_row;
      found_->mcu_rows = scan.mcu_rows;
      found_->run = scan.mcus_per_row;
      found_->entries.assign(1, SeekEntryAt(stream.place()));
    }
  }

  void EndFound(const McuStream& stream) {
    if (found_ == nullptr) {
      return;
    }
    // A complete index promises a regular end of the image.
    if (found_->is_complete() && !stream.AtEnd()) {
      found_->entries.pop_back();
    }
    const bool extends = index_ != nullptr;
    const std::size_t known = extends ? index_->entries.size() : 0;
    ToFileOffsets(
        jpeg_, extends ? index_->entries.back().byte : jpeg_.scan.entropy_begin,
        known, *found_);
    if (found_->entries.size() <= std::max<std::size_t>(known, 1)) {
      found_->entries.clear();
    }
  }

  const PlainJpeg& jpeg_;
  const JpegSeekIndex* index_;
  PlainScratch& scratch_;
  const WindowPlan& plan_;
  RowMaker rows_;
  JpegSeekIndex* found_;
};

PlainResult DecodeWindow(const PlainJpeg& jpeg, const JpegSeekIndex* index,
                         PlainScratch& scratch, RowSink& sink,
                         JpegSeekIndex* found) {
  return WindowDecode(jpeg, index, scratch, sink, found).Run();
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(DecodeWindow);

PlainResult DecodePlainWindow(const PlainJpeg& jpeg, const JpegSeekIndex* index,
                              PlainScratch& scratch, RowSink& sink,
                              JpegSeekIndex* found) {
  if (found != nullptr) {
    found->entries.clear();
  }
  if (index != nullptr && !SeekIndexFits(jpeg, *index)) {
    return PlainResult::kIndexRefused;
  }
  return HWY_DYNAMIC_DISPATCH(DecodeWindow)(jpeg, index, scratch, sink, found);
}

}  // namespace infeed
#endif  // HWY_ONCE
