#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/archives/archive_images.h"
#include "records/archives/tar_member.h"
#include "records/example/imagenet_example.h"

// The samples of a tar archive, as the Python package webdataset groups them.
//
// A sample is consecutive files with one key: the name up to the first dot of
// the base name, folders included. The rest is the ending, in lower case:
// "a/01.jpg" and "a/01.seg.PNG" are of the sample "a/01", with the endings
// "jpg" and "seg.png". Folders, devices, files without a dot, hidden files
// (".DS_Store") and "__NAME__" or what is in such a folder are of no sample and
// do not end one. webdataset ignores hidden files in no folder only.
//
// Links and sparse files belong to samples, which then cannot be read:
// otherwise their samples would silently lack a part.
namespace infeed {

// Sample i takes the bytes from offsets[i] to offsets[i + 1], the last one to
// `end`. Members between two samples are in the first one's bytes.
struct TarIndex {
  std::vector<std::int64_t> offsets = {};
  std::int64_t end = 0;
  std::vector<std::int64_t> labels = {};  // kNoLabel: none, or no number

  friend bool operator==(const TarIndex&, const TarIndex&) = default;
};

struct TarScan {
  TarIndex samples = {};
  // The files of a tar that may hold a tree of images: none has a label, and no
  // image has another file with its key, but for images of its ending ("a.png"
  // and "a.b.png") if some image is alone: with each one's it is a part, such
  // as a mask. Else empty. A tar in the tar counts as a folder. A link to one
  // of them is at its place.
  std::vector<ArchiveFile> files = {};
  // The content of the label files among them (image_layout.h), by offset: of
  // the first ones, up to kMaxLabelFileBytes of all.
  std::map<std::int64_t, std::string> label_files = {};
};

// Finds the samples of an archive by its headers; of the data only those with
// labels are read, and the headers of tars inside. Offsets requested from
// `read` never decrease. Throws DataError, with path and offset, what TarWalk
// throws, and for a sample that takes more than max_record_bytes.
[[nodiscard]] TarScan ScanTar(const ReadTarBytes& read, const std::string& path,
                              std::int64_t max_record_bytes);

// Whether a tar may have folders of splits (split_names.h): its first image, or
// a member before that, lies in such a folder. Reads the headers of a few
// members only, as ScanTar() does. Throws DataError as TarWalk.
[[nodiscard]] bool BeginsInSplitFolder(const ReadTarBytes& read,
                                       const std::string& path);

struct SamplePart {
  std::string ending;  // "jpg"
  std::string name;    // of the member, with folders
  std::span<const std::byte> bytes;
};

struct TarSample {
  std::string key;
  std::vector<SamplePart> parts;  // each ending once
};

// Parses the bytes of one sample. The parts are views into them. Throws
// DataError, without an origin, when a header is damaged, the bytes are cut
// short or are not of one sample, a member is a link or a sparse file, an
// ending is given twice, or a name is absolute or has "..".
[[nodiscard]] TarSample ParseTarSample(std::span<const std::byte> extent);

// The label that a member holds for its sample.
struct TarLabel {
  bool is_given = false;
  std::optional<std::int64_t> number = {};  // if it is a whole number
};

// Reads the label from a member: from one with the ending "cls" a decimal
// number; from "json" the member "label", "cls" or "class" of its object that
// is a whole number, if it is at most kMaxLabelJsonBytes long. Members with
// other endings give none.
[[nodiscard]] TarLabel ParseTarLabel(std::string_view ending,
                                     std::span<const std::byte> bytes);

inline constexpr std::int64_t kMaxLabelJsonBytes = std::int64_t{1} << 20;

// Whether an ending is that of an image: "jpg", but not "seg.jpg".
[[nodiscard]] bool IsImageEnding(std::string_view ending);

}  // namespace infeed
