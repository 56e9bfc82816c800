#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"
#include "pipeline/options/objects.h"
#include "pipeline/options/options.h"
#include "pipeline/reading/record_cache.h"
#include "pipeline/slots/sample.h"
#include "pipeline/slots/seek_index_use.h"
#include "pipeline/stats/stage_counters.h"
#include "preprocess/recipe/geometry.h"
#include "records/store/record_store.h"

namespace infeed {

// Gives a sample its record: from the cache or the shards, verified, parsed,
// and with its seek index.
//
// Everything passed to the constructor must outlive it. Thread-safe for
// different samples.
class SampleLoader {
 public:
  // cache: may be null. Requires: options are checked.
  SampleLoader(const RecordStore& store, const SeekIndexUse& seek_indexes,
               const InputOptions& options, StageCounters& counters,
               RecordCache* cache);

  // Loads sample.record. Does not throw: an error is stored in sample.failure.
  // Packed pixels may be left unverified, for Verify().
  void Load(Sample& sample) const;

  // Verifies the sample's payload if that is still to be done; throws DataError
  // if its checksum is wrong. computed: its checksum, if known.
  void Verify(Sample& sample, std::optional<std::uint32_t> computed = {}) const;

  // Returns why the sample's record cannot be used, where its use threw an
  // error: a wrong checksum that was still to be found, else that error.
  [[nodiscard]] DataError CauseOf(const DataError& error, Sample& sample) const;

 private:
  // Returns the payload, in the sample or of the cache in `kept`, where the
  // seek index is, too.
  const RecordPayload& Read(Sample& sample, CachedRecord& kept) const;
  void Parse(std::span<const std::byte> payload, Sample& sample) const;
  // Throws DataError if the record has no image, or lacks a required label.
  void RequireContent(std::span<const std::byte> payload, Sample& sample) const;

  const RecordStore& store_;
  const SeekIndexUse& seek_indexes_;
  const InputOptions& options_;
  StageCounters& counters_;
  RecordCache* const cache_;  // null: none
  const bool has_images_;
  const bool reads_labels_;
};

// Reads a sample's boxes from the columns behind those of InputOptions::fields
// into sample.boxes, in pixels of an image of that size, and returns them.
// Throws DataError for lists that are not as specified. Requires:
// objects.is_on(), and the sample's fields were read.
std::span<const float> ReadSampleBoxes(const ObjectsSpec& objects,
                                       const ImageSize& source, Sample& sample);

// Reads the boxes, puts those in the sample's image into the first of these
// columns, and filters the lists of the objects with them. Throws and requires
// as ReadSampleBoxes().
void FollowObjects(const ObjectsSpec& objects, const Geometry& geometry,
                   const ImageSize& output, Sample& sample);

}  // namespace infeed
