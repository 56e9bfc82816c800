#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "records/http/object_xml.h"

// Any bytes as what an object store answers: the parsers deliver what a
// document can hold or throw DataError, and a name that is put into a document
// comes out of it as it was.
namespace infeed {
namespace {

// The result of a parser, nullopt for DataError. All else is a crash.
template <typename Parser>
auto Try(Parser parser) -> std::optional<decltype(parser())> {
  try {
    return parser();
  } catch (const DataError& error) {
    Check(*error.what() != '\0', "an error says what is wrong");
    return std::nullopt;
  }
}

bool HasRoot(std::string_view bytes, std::string_view name) {
  return bytes.find(name) != std::string_view::npos ||
         // UTF-16 and UTF-32 are understood too.
         bytes.find('\0') != std::string_view::npos;
}

void CheckParsers(std::string_view bytes) {
  if (const auto page = Try([&] { return ParseObjectPage(bytes); })) {
    Check(HasRoot(bytes, "ListBucketResult"), "a page is one");
    for (const ListedObject& object : page->objects) {
      Check(!object.key.empty() && object.size >= 0, "an object is whole");
    }
    for (const std::string& prefix : page->common_prefixes) {
      Check(!prefix.empty(), "a folder has a name");
    }
  }
  if (const auto upload = Try([&] { return ParseUploadId(bytes); })) {
    Check(!upload->empty(), "an upload has a name");
  }
  const bool completed = Try([&] {
                           CheckUploadCompleted(bytes);
                           return true;
                         }).has_value();
  Check(!(completed && ParseStoreError(bytes)),
        "an error is no completed upload");
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    if (value <= ' ' || c == '&' || c == '<' || c == '>') {
      escaped += "&#" + std::to_string(value) + ";";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void CheckKey(std::string key) {
  key.erase(std::remove(key.begin(), key.end(), '\0'), key.end());
  if (key.empty()) {
    return;
  }
  const std::string xml =
      R"(<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Contents>)"
      "<Key>" +
      Escaped(key) +
      "</Key><Size>7</Size></Contents><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>" +
      Escaped(key) + "</NextContinuationToken></ListBucketResult>";
  const ObjectPage page = ParseObjectPage(xml);
  Check(page.objects.size() == 1 && page.objects[0].key == key &&
            page.objects[0].size == 7 && page.next_token == key,
        "a key comes out as it went in");
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  infeed::CheckParsers(bytes);
  infeed::CheckKey(bytes);
  return 0;
}
