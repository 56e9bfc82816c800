#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/tfrecord/reader.h"
#include "tools/inspect/feature_stats.h"

namespace infeed {

// A record in a list of shards.
struct RecordPlace {
  std::size_t shard = 0;
  std::int64_t record = 0;

  friend auto operator<=>(const RecordPlace&, const RecordPlace&) = default;
};

struct ClassStats {
  std::int64_t records = 0;
  RecordPlace first;  // source of synset and text
  std::string synset;
  std::string text;
};

// How often a value occurred; values are identified by their hash.
struct Occurrence {
  std::int64_t times = 0;
  RecordPlace first;
};
using Occurrences = std::unordered_map<std::uint64_t, Occurrence>;

// An image to show. The images with the lowest ranks, which are hashes, are
// shown: a random sample that does not depend on threads.
struct SampleImage {
  std::uint64_t rank = 0;
  RecordPlace place;
  std::int64_t label = -1;
  std::string text;
  std::string encoded;
};

// Statistics of a set of records; the statistics of parts can be merged.
struct DatasetStats {
  using Counts = std::map<std::string, std::int64_t, std::less<>>;

  std::int64_t records = 0;  // whose Example can be parsed
  std::int64_t images = 0;   // whose header can be read
  std::int64_t image_bytes = 0;
  std::map<std::int64_t, ClassStats> classes;  // by label
  Counts keys;                                 // records that have the key
  FeatureTable features;
  Counts formats;   // JPEG, PNG, ..., packed, none
  Counts sampling;  // of JPEGs: 4:2:0, ..., gray
  Counts coding;    // of JPEGs: baseline, progressive, arithmetic
  Counts colors;    // of JPEGs: gray, color, CMYK
  std::int64_t restart_markers = 0;  // JPEGs that have some
  std::int64_t seek_indexes = 0;     // JPEGs with one in their Example
  std::int64_t exif = 0;
  std::int64_t adobe = 0;            // with Adobe's marker
  std::int64_t standard_tables = 0;  // with libjpeg's tables for some quality
  // Records with a feature that cannot be parsed, and that nobody may need; it
  // is not in `features`.
  std::int64_t unreadable_features = 0;
  std::int64_t wrong_sizes = 0;  // image/height or width is wrong
  Tally width;
  Tally height;
  Tally aspect_percent;  // width / height * 100, rounded
  Tally bytes;           // of images, rounded to three digits
  Tally quality;         // of JPEGs
  // Images by size: quarters of a power of two of (width, height).
  std::map<std::pair<int, int>, std::int64_t> sizes;
  Occurrences names;     // image/filename, if present
  Occurrences contents;  // the images' bytes
  std::vector<SampleImage> samples;

  // Whether no record has an image, readable or not.
  [[nodiscard]] bool LacksImages() const;

  void Merge(DatasetStats other);
};

// Adds a record. samples: how many images to keep for showing. Throws DataError
// for a payload that is not an Example, and for an image with an unreadable
// header; the rest of such a record still counts.
void AddRecord(std::size_t shard, const Record& record, std::size_t samples,
               const ExampleKeys& keys, DatasetStats& stats);

// Keeps only the `count` samples of the lowest ranks, in record order.
void KeepSamples(std::vector<SampleImage>& samples, std::size_t count);

}  // namespace infeed
