#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The XML documents of object stores. Parsers accept at most kMaxObjectXmlBytes
// and throw DataError for anything but the expected document.
namespace infeed {

inline constexpr std::size_t kMaxObjectXmlBytes = std::size_t{16} << 20;

struct ListedObject {
  std::string key{};
  std::int64_t size = 0;
  std::string etag{};
};

// One answer to ListObjectsV2.
struct ObjectPage {
  std::vector<ListedObject> objects{};
  std::vector<std::string> common_prefixes{};
  std::string next_token{};  // "" on the last page
};
[[nodiscard]] ObjectPage ParseObjectPage(std::string_view xml);

struct StoreError {
  std::string code{};
  std::string message{};
};
// Returns nullopt for anything but an Error document.
[[nodiscard]] std::optional<StoreError> ParseStoreError(std::string_view xml);

// The UploadId of an InitiateMultipartUploadResult.
[[nodiscard]] std::string ParseUploadId(std::string_view xml);

// The body that completes an upload of parts 1, 2, ... with these ETags.
[[nodiscard]] std::string CompleteUploadXml(
    const std::vector<std::string>& etags);

// Throws unless it is a CompleteMultipartUploadResult.
void CheckUploadCompleted(std::string_view xml);

}  // namespace infeed
