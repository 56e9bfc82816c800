#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "records/example/fields.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"

namespace infeed {

// The keys under which records hold the image and its label.
struct RecordKeys {
  std::string image{kImageKey};
  std::string label{kLabelKey};

  friend bool operator==(const RecordKeys&, const RecordKeys&) = default;
};

// Returns the keys of TFRecords and tars that others made. A key other than the
// standard one was given by the user, and stays. A standard key that the first
// readable records lack is replaced by one of their own:
//
//   image and label   if records have both, as in TensorFlow Datasets
//   the image         else the only feature whose values are images by their
//                     headers
//   the label         else the only one of "label", "image/label", "class",
//                     "image/object/class/label", "target", one with an integer
//                     first, and none with floats
//
// If none fits, the standard key stays, and reading reports what is missing. It
// also stays for the label if several fit and the records have no image. An
// empty key is not wanted, and stays. not_labels: keys of features that are
// not the label. The image of a tar's sample is its only member with the ending
// of an image.
// Reads a few records. Throws UsageError, with both names and the option to
// give, where two features fit, and for a label key of tars, whose labels have
// fixed places; IoError.
[[nodiscard]] RecordKeys FindKeys(const RecordIndex& index,
                                  const RecordKeys& given = {},
                                  std::span<const std::string> not_labels = {});

// Whether the first readable TFRecords have image and label as in TensorFlow
// Datasets.
[[nodiscard]] bool HasTfdsKeys(const RecordIndex& index);

// Throws UsageError, with the keys that records have, for a wanted key that is
// in no record of the data, or, of large data, in none of a thousand records
// spread over it; and, with the kind that they have, if it is in each of
// another kind; kNone wants any kind. Passes if no record can be read.
// image_key: RecordStoreOptions.
void RequireFeatures(const RecordIndex& index, const std::string& image_key,
                     std::span<const FieldSpec> wanted);

// Throws UsageError, with the keys that records have, if no record of the data
// has an image, as far as RequireFeatures() searches. image_key: the user's.
// Passes for archives, and if no record can be read.
void RequireImages(const RecordIndex& index, const std::string& image_key);

// Whether a record of the data may have a label: false if none of the index's
// records that are not Examples has one, no Example has a key that FindKeys()
// would take, as far as RequireFeatures() searches, and the first samples of
// tars have no .cls. True if none of them can be read.
[[nodiscard]] bool MayHaveLabels(const RecordIndex& index,
                                 std::span<const std::string> not_labels = {});

// The key of the label alone: does not fail where two features fit the image.
[[nodiscard]] std::string FindLabelKey(const RecordIndex& index,
                                       const std::string& given);

// The key of the label of one Example by itself; the shard is named in errors.
[[nodiscard]] std::string LabelKeyOf(std::span<const std::byte> payload,
                                     const std::string& shard);

}  // namespace infeed
