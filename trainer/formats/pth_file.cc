#include "trainer/formats/pth_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "trainer/formats/pickle.h"
#include "trainer/formats/strided_copy.h"
#include "trainer/formats/wrapper_names.h"
#include "trainer/formats/zip_archive.h"

namespace infeed {
namespace {

using Kind = PickleNode::Kind;

constexpr std::string_view kZipMagic = "PK\3\4";
constexpr std::string_view kPickleName = "/data.pkl";
constexpr std::size_t kMaxPickleBytes = std::size_t{64} << 20;
constexpr std::int64_t kMostMemory = 4;  // times the file

// The storages of an archive, each read on first use.
class Storages {
 public:
  Storages(ZipArchive& archive, std::string folder)
      : archive_(archive), folder_(std::move(folder)) {}

  const std::vector<std::byte>& Get(const PickleNode& storage) {
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
  ZipArchive& archive_;
  std::string folder_;
  std::map<std::string, std::vector<std::byte>> read_;
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
std::string FolderOf(const ZipArchive& archive) {
  for (const std::string& name : archive.names()) {
    if (name.ends_with(kPickleName)) {
      return name.substr(0, name.size() - kPickleName.size());
    }
  }
  throw DataError("has no data.pkl: not written by torch.save()");
}

void RequireLittleEndian(ZipArchive& archive, const std::string& folder) {
  const std::string name = folder + "/byteorder";
  if (std::ranges::find(archive.names(), name) == archive.names().end()) {
    return;  // Files of older versions do not have it.
  }
  const std::vector<std::byte> order = archive.Read(name);
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
  ZipArchive archive(file);
  const std::string folder = FolderOf(archive);
  RequireLittleEndian(archive, folder);
  const std::vector<std::byte> text =
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
  try {
    return ParsePth(std::as_bytes(std::span(file)));
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

}  // namespace infeed
