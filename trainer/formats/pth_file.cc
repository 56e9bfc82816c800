#include "trainer/formats/pth_file.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/archives/zip_directory.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/byte_source.h"
#include "trainer/formats/pickle.h"
#include "trainer/formats/wrapper_names.h"

namespace infeed {
namespace {

using Kind = PickleNode::Kind;

constexpr std::string_view kZipMagic = "PK\3\4";
constexpr std::string_view kPickleName = "/data.pkl";
constexpr std::size_t kMaxPickleBytes = std::size_t{64} << 20;
constexpr std::int64_t kMostMemory = 4;  // times the file

// Bytes in memory that it does not own.
class BorrowedBytes final : public ByteSource {
 public:
  explicit BorrowedBytes(std::span<const std::byte> bytes)
      : ByteSource(""), bytes_(bytes) {
    set_size(std::ssize(bytes));
  }

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override {
    const auto rest = bytes_.subspan(
        std::min(static_cast<std::size_t>(offset), bytes_.size()));
    const std::size_t count = std::min(rest.size(), destination.size());
    std::copy_n(rest.begin(), count, destination.begin());
    return count;
  }

 private:
  std::span<const std::byte> bytes_;
};

// A file's members, which torch.save() stores without packing them.
class Archive {
 public:
  explicit Archive(std::span<const std::byte> file)
      : file_(file), entries_(ReadZipDirectory(BorrowedBytes(file))) {
    for (const ArchiveFile& entry : entries_) {
      by_name_.emplace(entry.name, &entry);
    }
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  // By their places in the file.
  [[nodiscard]] const std::vector<ArchiveFile>& entries() const {
    return entries_;
  }
  [[nodiscard]] bool Has(const std::string& name) const {
    return by_name_.contains(name);
  }
  // A view of a member. Verifies its CRC-32.
  [[nodiscard]] std::span<const std::byte> Read(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      throw DataError("the archive has no " + name);
    }
    const ArchiveFile& entry = *found->second;
    std::vector<std::byte> unpacked;
    const ZipFile member =
        ReadZipEntry(file_.subspan(static_cast<std::size_t>(entry.offset),
                                   static_cast<std::size_t>(entry.extent)),
                     entry.extent, unpacked);
    if (!unpacked.empty()) {
      throw DataError(name + " is packed: only stored members are read");
    }
    return member.bytes;
  }

 private:
  std::span<const std::byte> file_;
  std::vector<ArchiveFile> entries_;
  std::map<std::string_view, const ArchiveFile*> by_name_;
};

// The storages of an archive, each verified on first use.
class Storages {
 public:
  Storages(const Archive& archive, std::string folder)
      : archive_(archive), folder_(std::move(folder)) {}

  std::span<const std::byte> Get(const PickleNode& storage) {
    const std::string name = folder_ + "/data/" + storage.text;
    auto found = read_.find(storage.text);
    if (found == read_.end()) {
      found = read_.emplace(storage.text, archive_.Read(name)).first;
    }
    // References to the same storage may give different sizes.
    const auto size = static_cast<std::int64_t>(found->second.size());
    const std::int64_t width = ElementBytes(storage.type);
    if (size % width != 0 || size / width != storage.number) {
      throw DataError(fmt::format("{} has {} bytes instead of {} elements",
                                  name, size, storage.number));
    }
    return found->second;
  }

 private:
  const Archive& archive_;
  std::string folder_;
  std::map<std::string, std::span<const std::byte>> read_;
};

StridedView ViewOf(const PickleNode& tensor) {
  return {.offset = tensor.number,
          .shape = tensor.shape,
          .strides = tensor.strides};
}

// The dictionary of tensors in the saved object.
const PickleNode& StateDict(const PickleNode& root) {
  for (const char* const wrapper : {"state_dict", "model"}) {
    const PickleNode* const inner = FindEntry(root, wrapper);
    if (inner != nullptr && inner->kind == Kind::kDict) {
      return *inner;
    }
  }
  if (root.kind != Kind::kDict) {
    throw DataError("holds no dictionary: save a state_dict()");
  }
  return root;
}

TensorMap TensorsOf(const PickleNode& dict, Storages& storages,
                    std::int64_t max_bytes) {
  TensorMap tensors;
  std::int64_t total = 0;
  for (const auto& [name, value] : dict.entries) {
    if (value->kind != Kind::kTensor || name->kind != Kind::kString) {
      continue;
    }
    const PickleNode& storage = *value->storage;
    const StridedView view = ViewOf(*value);
    if (!Fits(view, storage.number)) {
      throw DataError(
          fmt::format("tensor '{}' is larger than its storage", name->text));
    }
    HostTensor tensor = ToHostTensor(
        storage.type, view.shape,
        CopyStrided(view, ElementBytes(storage.type), storages.Get(storage)));
    total += static_cast<std::int64_t>(tensor.bytes.size());
    if (total > max_bytes) {
      throw DataError("its tensors need far more memory than the file has");
    }
    tensors.insert_or_assign(name->text, std::move(tensor));
  }
  return WithoutWrappers(std::move(tensors));
}

// The folder in the archive that has all its members.
std::string FolderOf(const Archive& archive) {
  for (const ArchiveFile& entry : archive.entries()) {
    if (entry.name.ends_with(kPickleName)) {
      return entry.name.substr(0, entry.name.size() - kPickleName.size());
    }
  }
  throw DataError("has no data.pkl: not written by torch.save()");
}

void RequireLittleEndian(const Archive& archive, const std::string& folder) {
  const std::string name = folder + "/byteorder";
  if (!archive.Has(name)) {
    return;  // Files of older versions do not have it.
  }
  const std::span<const std::byte> order = archive.Read(name);
  constexpr std::string_view kLittle = "little";
  if (!std::ranges::equal(order, std::as_bytes(std::span(kLittle)))) {
    throw DataError("was written on a big-endian machine");
  }
}

}  // namespace

TensorMap ParsePth(std::span<const std::byte> file) {
  if (file.size() < kZipMagic.size() ||
      std::memcmp(file.data(), kZipMagic.data(), kZipMagic.size()) != 0) {
    throw DataError(
        "not a zip archive: torch before 1.6 wrote another format; load the "
        "file with torch and save its state_dict() anew");
  }
  const Archive archive(file);
  const std::string folder = FolderOf(archive);
  RequireLittleEndian(archive, folder);
  const std::span<const std::byte> text =
      archive.Read(folder + std::string(kPickleName));
  if (text.size() > kMaxPickleBytes) {
    throw DataError("data.pkl is too large for weights");
  }
  const Pickle pickle(text);
  Storages storages(archive, folder);
  return TensorsOf(StateDict(pickle.root()), storages,
                   kMostMemory * static_cast<std::int64_t>(file.size()));
}

TensorMap ReadPth(const std::string& path, std::int64_t max_bytes) {
  const std::string file = ReadWholeFile(path, max_bytes);
  return InFile(path, [&] { return ParsePth(std::as_bytes(std::span(file))); });
}

}  // namespace infeed
