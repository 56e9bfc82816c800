#pragma once

#include <cstdint>

#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"

namespace infeed {

// The samples of an epoch before its last batch is padded or dropped: its
// places, or, if rank_share is strided, rounded so that ranks share them
// evenly.
[[nodiscard]] std::int64_t EpochSamples(std::int64_t places,
                                        const InputOptions& options);

// How an endless series of epochs is cut into batches: from a number of batches
// to epochs, and back. Pure arithmetic.
struct EpochBatches {
  std::int64_t batch_size = 1;
  std::int64_t samples = 1;  // of an epoch in its batches, without padding
  // A batch that reaches an epoch's end continues in the next epoch, so that
  // epochs have different numbers of batches. Else each epoch begins with a
  // batch. Requires, if true: samples >= batch_size.
  bool carries = false;

  // Batches that end within the first `epochs` epochs.
  [[nodiscard]] std::int64_t Within(std::int64_t epochs) const;
  // As Within(), for a part of an epoch, and at least 1.
  [[nodiscard]] std::int64_t WithinPart(double epochs) const;
  // The most epochs that have ended with so many batches, as Within() counts
  // them: a batch in two epochs belongs to the later one.
  [[nodiscard]] std::int64_t EpochsEnded(std::int64_t batches) const;
  // The least number above `batches` with which an epoch ends.
  [[nodiscard]] std::int64_t NextEnd(std::int64_t batches) const {
    return Within(EpochsEnded(batches) + 1);
  }
  // The most batches that end in one epoch.
  [[nodiscard]] std::int64_t most() const;

  // Batches from a position on that begin before `epoch`.
  [[nodiscard]] std::int64_t Before(std::int64_t epoch,
                                    const StreamPosition& from) const;
  // The position at which the first batch of `epoch` begins, in a series of
  // batches one of which begins at `from`.
  [[nodiscard]] std::int64_t FirstOf(std::int64_t epoch,
                                     const StreamPosition& from) const;
  // The position after so many more samples; an epoch's end is the beginning of
  // the next one.
  [[nodiscard]] StreamPosition After(const StreamPosition& from,
                                     std::int64_t more) const;
};

// places: the size of an epoch's order; an epoch may be without a batch.
// Requires: options are checked.
[[nodiscard]] EpochBatches EpochBatchesOf(std::int64_t places,
                                          const InputOptions& options);

}  // namespace infeed
