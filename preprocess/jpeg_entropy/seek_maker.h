#pragma once

#include <optional>

#include "preprocess/jpeg_entropy/entropy.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/seek_index.h"

namespace infeed {

// MakeSeekIndex() of a JPEG whose markers are read. Requires: no restart
// markers, run >= 0.
[[nodiscard]] std::optional<JpegSeekIndex> MakePlainSeekIndex(
    const PlainJpeg& jpeg, int run, PlainScratch& scratch);

// Extends a partial index to the whole JPEG, by decoding the rest of the scan.
// Returns false, and leaves index unspecified, if the JPEG cannot have a
// complete index, or the partial one is not its own. Requires: no restart
// markers; the index covers at least one row.
[[nodiscard]] bool CompletePlainSeekIndex(const PlainJpeg& jpeg,
                                          PlainScratch& scratch,
                                          JpegSeekIndex& index);

// Whether the index's sizes match this JPEG, so that decoding from its entries
// reads nothing outside of the bytes.
[[nodiscard]] bool SeekIndexFits(const PlainJpeg& jpeg,
                                 const JpegSeekIndex& index);

// An entry at a place of a stream, with its offset in un-stuffed bytes.
[[nodiscard]] SeekEntry SeekEntryAt(const ScanPlace& place);

// Converts the entries from `first` on from offsets in the un-stuffed bytes of
// a stream that starts at byte `begin` of the JPEG, to offsets in the JPEG,
// which also has a zero behind each FF.
void ToFileOffsets(const PlainJpeg& jpeg, std::size_t begin, std::size_t first,
                   JpegSeekIndex& index);

}  // namespace infeed
