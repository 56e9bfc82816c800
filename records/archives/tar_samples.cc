#include "records/archives/tar_samples.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/folder_listing.h"
#include "records/files/image_layout.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

// A decimal number and blanks around it are no longer.
constexpr std::int64_t kMaxClsBytes = 64;

struct SampleName {
  std::string_view key;
  std::string ending;
};

// Whether webdataset keeps a name to itself: "__NAME__", or in such a folder.
bool IsReserved(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

bool MayBePart(TarKind kind) {
  return kind == TarKind::kFile || kind == TarKind::kLink ||
         kind == TarKind::kSparse;
}

// nullopt: the member is of no sample.
std::optional<SampleName> SplitName(const TarMember& member) {
  const std::string_view name = member.name;
  const std::size_t dot = BaseName(name).find('.');
  if (!MayBePart(member.kind) || dot == std::string_view::npos || dot == 0 ||
      IsReserved(name)) {
    return std::nullopt;
  }
  const std::size_t key_bytes = name.size() - BaseName(name).size() + dot;
  return SampleName{.key = name.substr(0, key_bytes),
                    .ending = LowerCase(name.substr(key_bytes + 1))};
}

// How deep tars may lie in tars. ImageNet's training images are one deep.
constexpr int kMaxTarDepth = 2;

constexpr std::string_view kTarEnding = ".tar";

// Whether a folder of a path is named after a split.
bool HasSplitInFolders(std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/')) {
    if (!SplitNamed(path.substr(0, slash)).empty()) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
  return false;
}

// Collects the files of a tree of images from the members in order.
class TreeScan {
 public:
  TreeScan(const ReadTarBytes& read, const std::string& path)
      : read_(read), path_(path) {}

  void Add(const TarMember& member, const std::string& folder = "") {
    if (!may_be_tree_ || !MayBePart(member.kind)) {
      return;
    }
    const bool is_file = member.kind == TarKind::kFile;
    const bool is_bad_image = member.kind == TarKind::kSparse &&
                              HasImageExtension(BaseName(member.name));
    if (is_file && !folder.empty()) {
      RefuseLabel(member, folder);
    }
    files_.push_back({.name = folder + ArchiveName(member.name),
                      .offset = member.begin,
                      .extent = member.end - member.begin,
                      .bytes = member.bytes,
                      .is_readable = is_file || is_bad_image});
    if (!member.link.empty() && !member.link.starts_with('/')) {
      links_.emplace_back(files_.size() - 1, folder + member.link);
    }
    if (is_file && IsLabelFile(BaseName(files_.back().name)) &&
        member.bytes <= kMaxLabelFileBytes - label_bytes_) {
      label_bytes_ += member.bytes;
      label_files_.emplace(
          member.begin,
          AsChars(read_(member.data, static_cast<std::size_t>(member.bytes))));
    }
  }

  // Whether a member is a tar of its own, which is then walked.
  bool AddTar(const TarMember& member, const std::string& folder = "",
              int depth = 1) {
    if (!may_be_tree_ || depth > kMaxTarDepth ||
        member.kind != TarKind::kFile || !member.name.ends_with(kTarEnding) ||
        !IsTar(read_(member.data, kTarBlockBytes))) {
      return false;
    }
    const std::int64_t end = member.data + member.bytes;
    TarWalk walk(
        [this, end](std::int64_t offset, std::size_t bytes) {
          const std::int64_t left = std::max<std::int64_t>(end - offset, 0);
          if (left == 0) {  // What follows begins one byte before.
            return std::span<const std::byte>();
          }
          return read_(offset, BytesWithin(bytes, left));
        },
        path_, member.data);
    const std::string inside =
        folder +
        ArchiveName(std::string_view(member.name)
                        .substr(0, member.name.size() - kTarEnding.size())) +
        "/";
    while (const std::optional<TarMember> file = walk.Next()) {
      if (!AddTar(*file, inside, depth + 1)) {
        Add(*file, inside);
      }
    }
    return true;
  }

  // A part of a sample was found.
  void Refuse() {
    may_be_tree_ = false;
    files_ = {};
    links_ = {};
    label_files_ = {};
  }

  void Finish(TarScan& scan) && {
    FollowLinks();
    scan.files = std::move(files_);
    scan.label_files = std::move(label_files_);
  }

 private:
  // Gives links to files of the archive the places of these. Other links stay
  // unreadable, and so do label files that were not read.
  void FollowLinks() {
    std::map<std::string, std::size_t, std::less<>> places;
    for (std::size_t i = 0; !links_.empty() && i < files_.size(); ++i) {
      if (files_[i].is_readable) {
        places.emplace(files_[i].name, i);
      }
    }
    for (const auto& [link, target] : links_) {
      const auto found = places.find(
          std::filesystem::path(target).lexically_normal().generic_string());
      if (found == places.end()) {
        continue;
      }
      const ArchiveFile& file = files_[found->second];
      std::string name = files_[link].name;
      const bool is_readable =
          !IsLabelFile(BaseName(name)) || label_files_.contains(file.offset);
      files_[link] = {.name = name,
                      .offset = file.offset,
                      .extent = file.extent,
                      .bytes = file.bytes,
                      .is_readable = is_readable};
      places.emplace(std::move(name), link);
    }
  }

  // Rejects samples in a tar inside: its name would be their class.
  void RefuseLabel(const TarMember& member, const std::string& folder) const {
    const std::string_view name = member.name;
    const bool is_label =
        name.ends_with(".cls") ||
        (name.ends_with(".json") && member.bytes > 0 &&
         member.bytes <= kMaxLabelJsonBytes &&
         ParseTarLabel(
             "json", read_(member.data, static_cast<std::size_t>(member.bytes)))
             .is_given);
    if (is_label) {
      throw UsageError(PathForMessages(path_) + "#" + AsUtf8(folder) +
                       ": samples with labels of their own, in a tar inside a "
                       "tar: unpack the outer one");
    }
  }

  const ReadTarBytes& read_;
  const std::string& path_;
  bool may_be_tree_ = true;
  std::vector<ArchiveFile> files_;
  std::vector<std::pair<std::size_t, std::string>> links_;  // places, targets
  std::map<std::int64_t, std::string> label_files_;
  std::int64_t label_bytes_ = 0;  // of all of them
};

// The files of a sample.
struct SampleKinds {
  bool has_image = false;
  bool has_other = false;
  std::string last_ending = {};  // of the first file: "png" of "seg.png"
  bool are_alike = true;         // All have it.
};

std::string LastEnding(const std::string& ending) {
  return ending.substr(ending.rfind('.') + 1);  // npos + 1: all of it
}

// Collects samples from the members in order.
class SampleScan {
 public:
  SampleScan(const ReadTarBytes& read, const std::string& path,
             std::int64_t max_record_bytes)
      : read_(read),
        path_(path),
        max_record_bytes_(max_record_bytes),
        tree_(read, path) {}

  void Add(const TarMember& member) {
    if (tree_.AddTar(member)) {
      return;
    }
    tree_.Add(member);
    const std::optional<SampleName> name = SplitName(member);
    if (!name) {
      return;
    }
    if (index_.offsets.empty() || name->key != key_) {
      CloseSample(member.begin);
      key_ = name->key;
      index_.offsets.push_back(member.begin);
      kinds_ = {.last_ending = LastEnding(name->ending)};
    }
    (IsImageEnding(name->ending) ? kinds_.has_image : kinds_.has_other) = true;
    kinds_.are_alike &= LastEnding(name->ending) == kinds_.last_ending;
    if (kinds_.has_image && kinds_.has_other && !kinds_.are_alike) {
      tree_.Refuse();
    }
    if (member.kind == TarKind::kFile) {
      ReadLabel(name->ending, member);
    }
    index_.end = member.end;
  }

  TarScan Finish() && {
    CloseSample(index_.end);
    if (has_pair_ && !has_lone_image_) {
      tree_.Refuse();
    }
    TarScan scan = {.samples = std::move(index_)};
    std::move(tree_).Finish(scan);
    return scan;
  }

 private:
  void CloseSample(std::int64_t end) {
    if (index_.offsets.empty()) {
      return;
    }
    const std::int64_t bytes = end - index_.offsets.back();
    if (bytes > max_record_bytes_) {
      throw DataError(
          {path_, std::ssize(index_.offsets) - 1, index_.offsets.back()},
          "the sample " + TarNameForMessages(key_) + " takes " +
              std::to_string(bytes) + " bytes, more than the limit of " +
              std::to_string(max_record_bytes_));
    }
    const TarLabel& label = cls_.is_given ? cls_ : json_;
    if (label.is_given) {
      tree_.Refuse();
    }
    index_.labels.push_back(label.number.value_or(kNoLabel));
    if (kinds_.has_image) {
      (kinds_.has_other ? has_pair_ : has_lone_image_) = true;
    }
    cls_ = {};
    json_ = {};
  }

  void ReadLabel(std::string_view ending, const TarMember& member) {
    const bool is_cls = ending == "cls";
    const std::int64_t limit = is_cls ? kMaxClsBytes : kMaxLabelJsonBytes;
    TarLabel& label = is_cls ? cls_ : json_;
    if ((!is_cls && (ending != "json" || cls_.is_given)) || label.is_given) {
      return;
    }
    if (member.bytes == 0 || member.bytes > limit) {
      label.is_given = is_cls;
      return;
    }
    label = ParseTarLabel(
        ending, read_(member.data, static_cast<std::size_t>(member.bytes)));
  }

  const ReadTarBytes& read_;
  const std::string& path_;
  std::int64_t max_record_bytes_;
  TreeScan tree_;
  TarIndex index_;
  // The current sample's name and labels.
  std::string key_;
  TarLabel cls_;
  TarLabel json_;
  SampleKinds kinds_;
  // Of all samples: an image beside another file of its key, and one alone.
  bool has_pair_ = false;
  bool has_lone_image_ = false;
};

std::optional<std::int64_t> WholeNumber(const nlohmann::json& value) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() >
           std::uint64_t{std::numeric_limits<std::int64_t>::max()})) {
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

// The first of several labels that is a whole number counts; a text is a
// caption, not a label.
TarLabel LabelInJson(std::string_view text) {
  TarLabel label;
  const auto object = ParseJsonOrDiscard<nlohmann::json>(text);
  if (!object.is_object()) {
    return label;
  }
  for (const char* key : {"label", "cls", "class"}) {
    const auto found = object.find(key);
    if (found == object.end() || label.number) {
      continue;
    }
    label.number = WholeNumber(*found);
    label.is_given = label.number.has_value();
  }
  return label;
}

// Why a member cannot be read as a part of the sample; "": it can.
std::string_view FaultOf(const TarMember& member, const SampleName& name,
                         const TarSample& sample) {
  if (TarNameLeadsOut(member.name)) {
    return "its name leads out of the archive";
  }
  if (member.kind == TarKind::kLink) {
    return "is a link: pack the archive again with the files themselves (tar "
           "--dereference --hard-dereference)";
  }
  if (member.kind == TarKind::kSparse) {
    return kSparseFault;
  }
  // webdataset has two entries of its own in each sample.
  if (name.ending == "__key__" || name.ending == "__url__" ||
      std::ranges::find(sample.parts, name.ending, &SamplePart::ending) !=
          sample.parts.end()) {
    return "its sample has that ending already";
  }
  return "";
}

void AddPart(const TarMember& member, std::span<const std::byte> extent,
             TarSample& sample) {
  std::optional<SampleName> name = SplitName(member);
  if (!name) {
    return;
  }
  if (sample.parts.empty()) {
    sample.key = name->key;
  } else if (sample.key != name->key) {
    throw DataError("the file changed after it was indexed: tar member " +
                    TarNameForMessages(member.name) + " is of the next sample");
  }
  const std::string_view fault = FaultOf(member, *name, sample);
  if (!fault.empty()) {
    throw DataError("tar member " + TarNameForMessages(member.name) + ": " +
                    std::string(fault));
  }
  sample.parts.push_back(
      {.ending = std::move(name->ending),
       .name = member.name,
       .bytes = extent.subspan(static_cast<std::size_t>(member.data),
                               static_cast<std::size_t>(member.bytes))});
}

TarSample ParseMembers(std::span<const std::byte> extent) {
  TarWalk walk(BytesOf(extent), "");
  TarSample sample;
  std::int64_t end = 0;
  while (const std::optional<TarMember> member = walk.Next()) {
    end = member->end;
    if (end > std::ssize(extent)) {
      throw DataError("the sample is cut short in tar member " +
                      TarNameForMessages(member->name));
    }
    AddPart(*member, extent, sample);
  }
  if (sample.parts.empty() || end != std::ssize(extent)) {
    throw DataError(
        "the file changed after it was indexed: the tar ends inside the "
        "sample, or it has no members");
  }
  return sample;
}

}  // namespace

TarScan ScanTar(const ReadTarBytes& read, const std::string& path,
                std::int64_t max_record_bytes) {
  TarWalk walk(std::cref(read), path);
  SampleScan scan(read, path, max_record_bytes);
  while (const std::optional<TarMember> member = walk.Next()) {
    scan.Add(*member);
  }
  return std::move(scan).Finish();
}

bool BeginsInSplitFolder(const ReadTarBytes& read, const std::string& path) {
  constexpr int kMostMembers = 64;  // A tar of texts has no image at all.
  TarWalk walk(std::cref(read), path);
  for (int i = 0; i < kMostMembers; ++i) {
    const std::optional<TarMember> member = walk.Next();
    if (!member) {
      break;
    }
    std::string name = ArchiveName(member->name);
    const bool is_tar = name.ends_with(kTarEnding);  // It counts as a folder.
    if (is_tar) {
      name.replace(name.size() - kTarEnding.size(), kTarEnding.size(), "/");
    }
    if (HasSplitInFolders(name)) {
      return true;
    }
    const std::string_view base = BaseName(name);
    if (is_tar || (HasImageExtension(base) && !IsHiddenName(base))) {
      break;
    }
  }
  return false;
}

TarSample ParseTarSample(std::span<const std::byte> extent) {
  if (!IsTar(extent)) {
    throw DataError(
        "the file changed after it was indexed: no tar header begins here");
  }
  try {
    return ParseMembers(extent);
  } catch (const DataError& error) {
    const std::int64_t offset = error.origin().offset;
    throw DataError(offset < 0
                        ? error.reason()
                        : error.reason() + " (at byte " +
                              std::to_string(offset) + " of the sample)");
  }
}

TarLabel ParseTarLabel(std::string_view ending,
                       std::span<const std::byte> bytes) {
  const std::string_view text = AsChars(bytes);
  if (ending == "cls") {
    return {.is_given = true,
            .number =
                std::ssize(bytes) <= kMaxClsBytes
                    ? ParsePlainNumber<std::int64_t>(Trimmed(WithoutMark(text)))
                    : std::nullopt};
  }
  if (ending == "json" && std::ssize(bytes) <= kMaxLabelJsonBytes) {
    return LabelInJson(text);
  }
  return {};
}

bool IsImageEnding(std::string_view ending) {
  return ending.find('.') == std::string_view::npos &&
         HasImageExtension("x." + std::string(ending));
}

}  // namespace infeed
