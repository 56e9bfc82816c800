#include "tools/inspect/dataset_stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/random.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/jpeg/details.h"
#include "records/bytes/plain_text.h"
#include "records/example/example_walk.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "tools/cli/image_format.h"

namespace infeed {
namespace {

// A file that holds no image records may have any number of keys.
constexpr std::size_t kMaxKeys = 1000;

void CountOne(DatasetStats::Counts& counts, std::string_view key) {
  const auto found = counts.find(key);
  if (found != counts.end()) {
    ++found->second;
  } else if (counts.size() < kMaxKeys) {
    counts.emplace(key, 1);
  }
}

void MergeCounts(DatasetStats::Counts& counts,
                 const DatasetStats::Counts& other) {
  for (const auto& [key, count] : other) {
    counts[key] += count;
  }
}

// Adds a value that occurred `times` times, first at `first`.
void AddOccurrence(Occurrences& occurrences, std::uint64_t hash,
                   const Occurrence& more) {
  const auto [found, is_new] = occurrences.try_emplace(hash, more);
  if (!is_new) {
    found->second.times += more.times;
    found->second.first = std::min(found->second.first, more.first);
  }
}

void MergeOccurrences(Occurrences& occurrences, const Occurrences& other) {
  for (const auto& [hash, occurrence] : other) {
    AddOccurrence(occurrences, hash, occurrence);
  }
}

void MergeClass(ClassStats& stats, const ClassStats& other) {
  if (stats.records == 0 || other.first < stats.first) {
    stats.first = other.first;
    stats.synset = other.synset;
    stats.text = other.text;
  }
  stats.records += other.records;
}

int SizeBin(std::int64_t pixels) {
  return static_cast<int>(
      std::floor(4 * std::log2(static_cast<double>(pixels))));
}

void AddSize(std::int64_t width, std::int64_t height, DatasetStats& stats) {
  ++stats.images;
  stats.width.Add(width);
  stats.height.Add(height);
  stats.aspect_percent.Add((width * 100 + height / 2) / height);
  ++stats.sizes[{SizeBin(width), SizeBin(height)}];
}

std::string_view ColorName(int components) {
  return components == 1 ? "gray" : components == 4 ? "CMYK" : "color";
}

StoredSize AddJpeg(std::span<const std::byte> bytes, DatasetStats& stats) {
  const JpegDetails details = ReadJpegDetails(bytes);
  CountOne(stats.sampling, SamplingName(details));
  CountOne(stats.coding, details.arithmetic    ? "arithmetic"
                         : details.progressive ? "progressive"
                                               : "baseline");
  CountOne(stats.colors, ColorName(details.components));
  stats.restart_markers += details.restart_interval > 0 ? 1 : 0;
  stats.exif += details.has_exif ? 1 : 0;
  stats.adobe += details.adobe_transform >= 0 ? 1 : 0;
  stats.standard_tables += details.standard_table ? 1 : 0;
  if (details.quality > 0) {
    stats.quality.Add(details.quality);
  }
  return {.width = details.width, .height = details.height};
}

// Throws DataError for an image whose header cannot be read.
void AddImage(const ImagenetExampleView& example, DatasetStats& stats) {
  const ImageFormat format = DetectImageFormat(example.encoded);
  CountOne(stats.formats, FormatName(format));
  const auto bytes = std::ssize(example.encoded);
  stats.image_bytes += bytes;
  stats.seek_indexes += example.seek_index.empty() ? 0 : 1;
  stats.bytes.Add(RoundedForTally(bytes));
  const std::optional<StoredSize> size = format == ImageFormat::kJpeg
                                             ? AddJpeg(example.encoded, stats)
                                             : ReadStoredSize(example.encoded);
  if (!size) {
    throw DataError(
        "not an image of a known format (JPEG, PNG, BMP, WebP, "
        "TIFF)");
  }
  AddSize(size->width, size->height, stats);
  const bool differs = (example.height > 0 && example.height != size->height) ||
                       (example.width > 0 && example.width != size->width);
  stats.wrong_sizes += differs ? 1 : 0;
}

// The rank of a record: a hash of its place, the same in every run.
std::uint64_t SampleRank(const RecordPlace& place) {
  const auto shard = static_cast<std::uint32_t>(place.shard);
  const auto record = static_cast<std::uint64_t>(place.record);
  const std::array<std::uint32_t, 4> words =
      Philox4x32({0, 0}, {shard, static_cast<std::uint32_t>(record),
                          static_cast<std::uint32_t>(record >> 32), 0});
  return std::uint64_t{words[0]} << 32 | words[1];
}

// Keeps the record when its rank is among the `count` lowest.
void OfferSample(const ImagenetExampleView& example, const RecordPlace& place,
                 std::size_t count, std::vector<SampleImage>& samples) {
  const auto by_rank = [](const SampleImage& a, const SampleImage& b) {
    return a.rank < b.rank;
  };
  const std::uint64_t rank = SampleRank(place);
  if (count == 0 || (samples.size() == count && rank >= samples[0].rank)) {
    return;
  }
  if (samples.size() == count) {
    std::pop_heap(samples.begin(), samples.end(), by_rank);
    samples.pop_back();
  }
  samples.push_back({.rank = rank,
                     .place = place,
                     .label = example.label,
                     .text = std::string(example.text),
                     .encoded = std::string(AsChars(example.encoded))});
  std::push_heap(samples.begin(), samples.end(), by_rank);
}

}  // namespace

bool DatasetStats::LacksImages() const {
  const auto none = formats.find("none");
  return none != formats.end() && none->second == records;
}

void DatasetStats::Merge(DatasetStats other) {
  using S = DatasetStats;
  for (std::int64_t S::*const number :
       {&S::records, &S::images, &S::image_bytes, &S::restart_markers,
        &S::seek_indexes, &S::exif, &S::adobe, &S::standard_tables,
        &S::unreadable_features, &S::wrong_sizes}) {
    this->*number += other.*number;
  }
  for (Counts S::*const counts :
       {&S::keys, &S::formats, &S::sampling, &S::coding, &S::colors}) {
    MergeCounts(this->*counts, other.*counts);
  }
  for (Tally S::*const tally :
       {&S::width, &S::height, &S::aspect_percent, &S::bytes, &S::quality}) {
    (this->*tally).Merge(other.*tally);
  }
  for (const auto& [label, stats] : other.classes) {
    MergeClass(classes[label], stats);
  }
  features.Merge(other.features);
  for (const auto& [bin, count] : other.sizes) {
    sizes[bin] += count;
  }
  MergeOccurrences(names, other.names);
  MergeOccurrences(contents, other.contents);
  std::move(other.samples.begin(), other.samples.end(),
            std::back_inserter(samples));
}

void AddRecord(std::size_t shard, const Record& record, std::size_t samples,
               const ExampleKeys& keys, DatasetStats& stats) {
  const ImagenetExampleView example = ParseImagenetExample(
      record.payload,
      keys.label == kLabelKey ? LabelList::kOne : LabelList::kAny, keys);
  int unreadable = 0;
  stats.features.Add(ListFeatures(record.payload, &unreadable));
  stats.unreadable_features += unreadable > 0 ? 1 : 0;
  const RecordPlace place = {.shard = shard, .record = record.number};
  bool packed = false;
  ForEachEntry(record.payload,
               [&](std::string_view key, std::span<const std::byte>) {
                 CountOne(stats.keys, key);
                 packed = packed || key == "image/packed";
               });
  ++stats.records;
  MergeClass(stats.classes[example.label],
             {.records = 1,
              .first = place,
              .synset = std::string(example.synset),
              .text = std::string(example.text)});
  const std::hash<std::string_view> hash;
  if (!example.filename.empty()) {
    AddOccurrence(stats.names, hash(example.filename), {1, place});
  }
  if (packed || example.encoded.empty()) {
    CountOne(stats.formats, packed ? "packed" : "none");
    if (packed && example.width > 0 && example.height > 0) {
      AddSize(example.width, example.height, stats);
    }
    return;
  }
  AddOccurrence(stats.contents, hash(AsChars(example.encoded)), {1, place});
  AddImage(example, stats);
  OfferSample(example, place, samples, stats.samples);
}

void KeepSamples(std::vector<SampleImage>& samples, std::size_t count) {
  std::ranges::sort(samples, {}, &SampleImage::rank);
  samples.resize(std::min(samples.size(), count));
  std::ranges::sort(samples, {}, &SampleImage::place);
}

}  // namespace infeed
