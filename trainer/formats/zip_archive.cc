#include "trainer/formats/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxMembers = 100'000;

// libzip's message for an error code.
std::string TextOf(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct ZipArchive::Handle {
  explicit Handle(std::span<const std::byte> bytes) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source =
        zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source != nullptr) {
      zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    }
    if (zip == nullptr) {
      zip_source_free(source);
      throw DataError("not a zip archive that is whole: " + TextOf(error));
    }
  }
  ~Handle() { zip_discard(zip); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  zip_t* zip = nullptr;
};

ZipArchive::ZipArchive(std::span<const std::byte> bytes)
    : handle_(std::make_unique<Handle>(bytes)), archive_bytes_(bytes.size()) {
  const std::int64_t count = zip_get_num_entries(handle_->zip, 0);
  if (count > kMaxMembers) {
    throw DataError(fmt::format("the archive has {} members, more than {}",
                                count, kMaxMembers));
  }
  std::uint64_t members_bytes = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    members_bytes += PackedBytes(i);
    if (members_bytes > archive_bytes_) {
      throw DataError(
          fmt::format("the archive's members overlap: {} bytes and more in {}",
                      members_bytes, archive_bytes_));
    }
    const char* const name = zip_get_name(
        handle_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name == nullptr) {
      throw DataError(fmt::format("member {} has no name", i));
    }
    names_.emplace_back(name);
  }
}

ZipArchive::~ZipArchive() = default;

std::uint64_t ZipArchive::PackedBytes(std::int64_t member) const {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat_index(handle_->zip, static_cast<zip_uint64_t>(member), 0,
                     &status) != 0 ||
      (status.valid & ZIP_STAT_COMP_SIZE) == 0) {
    throw DataError(fmt::format("member {} has no size", member));
  }
  // Capped, so that a sum of even 2^17 sizes does not overflow.
  return std::min<std::uint64_t>(status.comp_size, archive_bytes_ + 1);
}

std::vector<std::byte> ZipArchive::Read(const std::string& name) {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat(handle_->zip, name.c_str(), ZIP_FL_ENC_RAW, &status) != 0) {
    throw DataError("the archive has no " + name);
  }
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD |
                                   ZIP_STAT_ENCRYPTION_METHOD;
  if ((status.valid & kNeeded) != kNeeded ||
      status.comp_method != ZIP_CM_STORE ||
      status.encryption_method != ZIP_EM_NONE ||
      status.size != status.comp_size) {
    throw DataError(name + " is packed: only stored members are read");
  }
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen(handle_->zip, name.c_str(), ZIP_FL_ENC_RAW), zip_fclose);
  std::vector<std::byte> bytes(status.size);
  // Reading one byte past the end makes libzip verify the checksum.
  std::byte beyond{};
  if (!file ||
      zip_fread(file.get(), bytes.data(), bytes.size()) !=
          static_cast<zip_int64_t>(bytes.size()) ||
      zip_fread(file.get(), &beyond, 1) != 0) {
    throw DataError(fmt::format(
        "{} is damaged: {}", name,
        file ? zip_file_strerror(file.get()) : zip_strerror(handle_->zip)));
  }
  return bytes;
}

}  // namespace infeed
