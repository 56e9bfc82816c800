#pragma once

#include <string>
#include <string_view>
#include <vector>

// The names of files with records, and how users name several at once.
namespace infeed {

// Whether a base name is a shard's (shards.h), or ends, in any case, like a
// file of records: .tfrecord, .tfrecords, .tfrec (or these and .gz), .tar,
// .tar.gz, .tgz, .zip.
[[nodiscard]] bool IsRecordFileName(std::string_view base_name);

// The split that a base name says, as a word of its own: "train" (train,
// training), "validation" (validation, valid, val), "test"; "" if none.
// "imagenet2012-train.tfrecord-00000-of-01024" -> "train".
[[nodiscard]] std::string_view SplitInName(std::string_view base_name);

// Divides a list at its commas, except for those in braces.
[[nodiscard]] std::vector<std::string> SplitAtCommas(std::string_view list);

// Expands braces as a shell does: "a-{008..010}.tar" to a-008.tar, a-009.tar,
// a-010.tar; "{a,b}.tar" to a.tar, b.tar. A name without braces gives itself.
// Throws UsageError for a range that is not one, or more than a million names.
[[nodiscard]] std::vector<std::string> ExpandBraces(const std::string& name);

}  // namespace infeed
