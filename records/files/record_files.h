#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/shards.h"

// The names of files with records, and how users name several at once.
namespace infeed {

// Whether a base name is a shard's (shards.h), or ends, in any case, like a
// file of records: .tfrecord, .tfrecords, .tfrec (or these and .gz), .tar,
// .tar.gz, .tgz, .zip.
[[nodiscard]] bool IsRecordFileName(std::string_view base_name);

// Whether a base name ends like an archive, which may hold several splits:
// .tar, .tar.gz, .tgz, .zip, in any case.
[[nodiscard]] bool IsArchiveName(std::string_view base_name);

// The parts of the name of a file that is one of a set: of a shard's, or of one
// with the ending of another file of records behind it, as
// "train-00003-of-00008.tar".
[[nodiscard]] std::optional<ShardNameParts> ParseNameInSet(
    std::string_view base_name);

// The last folder by name, at most three below a folder, that has such files;
// "" if there is none, or the folder cannot be read or is a URL.
[[nodiscard]] std::string FindFolderOfRecords(const std::string& folder);

// The end of a message for data without records: "; FOLDER has Parquet files:
// ..." if one of these files is one by name, else "".
[[nodiscard]] std::string ParquetHint(const std::vector<std::string>& files);
// The same of the files in a folder, as FindFolderOfRecords() looks for them.
[[nodiscard]] std::string ParquetHintOfFolder(const std::string& folder);

// Divides a list at its commas, except for those in braces and those with a
// backslash before them ("a\,b.tar" is the one name "a,b.tar").
[[nodiscard]] std::vector<std::string> SplitAtCommas(std::string_view list);

// The paths, patterns and URLs of a list as users write it. As SplitAtCommas(),
// but a path with commas that is there, or a pattern in such a folder, is one:
// "a,b.tar,c.tar" are a,b.tar and c.tar where there is a file a,b.tar and none
// named a.
[[nodiscard]] std::vector<std::string> DataPaths(std::string_view list);

// Expands braces as a shell does: "a-{008..010}.tar" to a-008.tar, a-009.tar,
// a-010.tar; "{a,b}.tar" to a.tar, b.tar. A name without braces gives itself.
// Throws UsageError for a range that is not one, or more than a million names.
[[nodiscard]] std::vector<std::string> ExpandBraces(const std::string& name);

}  // namespace infeed
