#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/files/class_list.h"
#include "records/store/record_index.h"
#include "records/tfrecord/compression.h"

// The records of one file, whatever its format.
namespace infeed {

// "TFRecord", "tar", "zip" or "image".
[[nodiscard]] std::string_view RecordFormatName(RecordFormat format);

struct FileRecordsOptions {
  // Whether index files are read and written beside the file.
  bool use_cache = true;
  // Whether a kept index file is used; false: it is made anew.
  bool use_kept = true;
  // Whether an index file that cannot be written is an IoError.
  bool must_keep = false;
  // A longer record is a DataError.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
  ShardSplit split = {};
};

struct FileRecords {
  RecordFormat format = RecordFormat::kTfrecord;
  Compression compression = Compression::kNone;  // of the whole file
  std::int64_t bytes = 0;                        // of the file
  std::int64_t version = 0;                      // ByteSource::version()
  // Each record's offset; in the unpacked bytes if the file is compressed.
  std::vector<std::int64_t> offsets = {};
  std::vector<std::int64_t> lengths = {};
  std::int64_t longest_payload = 0;  // that is made of a record
  // Archives only: each record's label, kNoLabel where it has none.
  std::vector<std::int64_t> labels = {};
  // Trees in archives only: the classes; class i has the label i + 1.
  std::vector<std::string> classes = {};
  ClassTexts class_texts = {};
  // Trees in archives only: the splits, if it has folders of splits.
  std::set<std::string> splits = {};
  std::vector<std::string> notes = {};  // on what is left out, for the user
  std::string index_file = {};          // that was written; "": none
  // An index file that was not of this file, or damaged; "": none.
  std::string stale_index_file = {};
};

// The state of a file's index file. kStale: it was made for another size or
// modification time of the file, or is damaged.
enum class IndexState { kFresh, kStale, kNone };

// Throws IoError.
[[nodiscard]] IndexState FindIndexState(const ByteSource& file);

// The format of a file, detected by its first bytes, unpacked if it is
// compressed. What is neither a tar nor a zip counts as TFRecords. Throws
// IoError, DataError.
[[nodiscard]] RecordFormat DetectFormat(const ByteSource& file);

// Finds a file's records; its format and compression are detected by content.
// TFRecords and tars are walked once, the directory of a zip is read once, and
// the result is kept in an index file, tied to the file's size and modification
// time. Throws IoError, and DataError for a file that is damaged, cut short, or
// of none of the formats.
[[nodiscard]] FileRecords FindRecords(const ByteSource& file,
                                      const FileRecordsOptions& options);

// Whether a file is a zip or a tar with folders of splits, which count more
// than its name; false for a tree in none of the layouts. Lists a tar only if
// BeginsInSplitFolder(). Throws IoError, and DataError for a damaged archive.
[[nodiscard]] bool HasSplitFolders(const ByteSource& file, bool use_cache);

// Describes a file without records by its first bytes, for an error message:
// "a JPEG image, not a file of records: " and what to do instead. "" if the
// format is not recognized. Throws IoError.
[[nodiscard]] std::string DescribeOtherFile(const ByteSource& file);

}  // namespace infeed
