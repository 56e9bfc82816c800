#pragma once

#include "base/choices.h"

namespace infeed {

// The order of an epoch's records. Every order is a function of (seed, epoch,
// position) alone.
enum class Shuffle {
  kByMode,  // kGlobal in training, else kNone
  kNone,    // the records' own order
  kGlobal,  // a keyed permutation of all records, different in each epoch
  // Shards are permuted, window_shards of them interleaved at a time, and
  // records shuffled within blocks of that order: reads within a shard go
  // forward.
  kWindow,
  // PyTorch's: torch.randperm, as its DistributedSampler seeds it.
  kTorch,
};

// How a rank's samples are chosen from a global batch.
enum class RankShare {
  kContiguous,  // the rank-th of world_size equal parts
  // PyTorch's DistributedSampler: every world_size-th sample, beginning with
  // the rank-th; an epoch that the ranks cannot share evenly is filled up from
  // its beginning, or (drop_last=True) cut.
  kStrided,
  kStridedDrop,
};

// The treatment of an epoch's last global batch if records do not fill it.
enum class LastBatch {
  kByMode,  // kDrop in training, else kPad
  kDrop,    // not delivered
  kPad,     // filled up with slots of weight 0
  kRepeat,  // filled up with samples from the epoch's beginning
  kCarry,   // filled up with the next epoch's first samples, which are not used
            // again
};

// How the pipeline works.
enum class GraphKind {
  kFlow,   // a flow graph: read ahead, all threads at work on many samples
  kBasic,  // one record at a time in the consumer's thread, no overlap
};

// The seek indexes that the decoder uses.
enum class SeekIndexes {
  kAuto,  // those of the data, and those that decoding finds, which are kept
          // for later epochs and runs
  kRead,  // those of the data
  kOff,   // none
};

// What the fingerprint of the input covers.
enum class InputHash {
  kRecords,  // records, labels, windows and draws
  kPixels,   // and the pixels
};

inline constexpr Choices<InputHash, 2> kInputHashes = {
    {{"records", InputHash::kRecords}, {"pixels", InputHash::kPixels}}};
inline constexpr Choices<Shuffle, 5> kShuffles = {{{"auto", Shuffle::kByMode},
                                                   {"none", Shuffle::kNone},
                                                   {"global", Shuffle::kGlobal},
                                                   {"window", Shuffle::kWindow},
                                                   {"torch", Shuffle::kTorch}}};
inline constexpr Choices<RankShare, 3> kRankShares = {
    {{"contiguous", RankShare::kContiguous},
     {"strided", RankShare::kStrided},
     {"strided_drop", RankShare::kStridedDrop}}};
inline constexpr Choices<LastBatch, 5> kLastBatches = {
    {{"auto", LastBatch::kByMode},
     {"drop", LastBatch::kDrop},
     {"pad", LastBatch::kPad},
     {"repeat", LastBatch::kRepeat},
     {"carry", LastBatch::kCarry}}};
inline constexpr Choices<GraphKind, 2> kGraphKinds = {
    {{"flow", GraphKind::kFlow}, {"basic", GraphKind::kBasic}}};
inline constexpr Choices<SeekIndexes, 3> kSeekIndexes = {
    {{"auto", SeekIndexes::kAuto},
     {"read", SeekIndexes::kRead},
     {"off", SeekIndexes::kOff}}};

}  // namespace infeed
