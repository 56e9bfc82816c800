#include "records/http/object_xml.h"

#include <cstring>

#include <pugixml.hpp>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr const char* kPage = "ListBucketResult";
constexpr const char* kStarted = "InitiateMultipartUploadResult";
constexpr const char* kCompleted = "CompleteMultipartUploadResult";

// Limit of names shown in error messages.
constexpr std::size_t kMaxShown = 60;

void Load(pugi::xml_document& document, std::string_view xml) {
  if (xml.size() > kMaxObjectXmlBytes) {
    throw DataError("the store's XML has " + std::to_string(xml.size()) +
                    " bytes, more than the limit of " +
                    std::to_string(kMaxObjectXmlBytes));
  }
  // Entities beyond XML's five are not expanded; a DOCTYPE is skipped.
  const pugi::xml_parse_result result =
      document.load_buffer(xml.data(), xml.size());
  if (!result) {
    throw DataError("the store's XML is damaged at byte " +
                    std::to_string(result.offset) + ": " +
                    result.description());
  }
}

// The root element, which must have this name.
pugi::xml_node Root(const pugi::xml_document& document, const char* name) {
  const pugi::xml_node root = document.document_element();
  if (std::strcmp(root.name(), name) != 0) {
    throw DataError("expected the XML element " + std::string(name) +
                    ", found '" +
                    std::string(root.name()).substr(0, kMaxShown) + "'");
  }
  return root;
}

// The text of a required child, which must not be empty.
std::string Required(const pugi::xml_node& node, const char* name) {
  std::string text = node.child_value(name);
  if (text.empty()) {
    throw DataError("the store's XML element " + std::string(node.name()) +
                    " has no " + name);
  }
  return text;
}

std::int64_t SizeIn(const pugi::xml_node& node) {
  const std::string text = Required(node, "Size");
  const auto size = ParsePlainNumber<std::int64_t>(text);
  if (!size || *size < 0) {
    throw DataError("the store's XML has an invalid Size: '" +
                    text.substr(0, kMaxShown) + "'");
  }
  return *size;
}

// "true", "false", or absent.
bool IsTruncated(const pugi::xml_node& root) {
  const std::string text = root.child_value("IsTruncated");
  if (!text.empty() && text != "true" && text != "false") {
    throw DataError("the store's XML has an invalid IsTruncated: '" +
                    text.substr(0, kMaxShown) + "'");
  }
  return text == "true";
}

struct StringWriter final : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
};

}  // namespace

ObjectPage ParseObjectPage(std::string_view xml) {
  pugi::xml_document document;
  Load(document, xml);
  const pugi::xml_node root = Root(document, kPage);
  ObjectPage page;
  for (const pugi::xml_node& object : root.children("Contents")) {
    page.objects.push_back({.key = Required(object, "Key"),
                            .size = SizeIn(object),
                            .etag = object.child_value("ETag")});
  }
  for (const pugi::xml_node& folder : root.children("CommonPrefixes")) {
    page.common_prefixes.push_back(Required(folder, "Prefix"));
  }
  if (IsTruncated(root)) {
    page.next_token = Required(root, "NextContinuationToken");
  }
  return page;
}

std::optional<StoreError> ParseStoreError(std::string_view xml) {
  pugi::xml_document document;
  if (xml.size() > kMaxObjectXmlBytes ||
      !document.load_buffer(xml.data(), xml.size())) {
    return std::nullopt;
  }
  const pugi::xml_node root = document.document_element();
  if (std::strcmp(root.name(), "Error") != 0) {
    return std::nullopt;
  }
  return StoreError{.code = root.child_value("Code"),
                    .message = root.child_value("Message")};
}

std::string ParseUploadId(std::string_view xml) {
  pugi::xml_document document;
  Load(document, xml);
  return Required(Root(document, kStarted), "UploadId");
}

std::string CompleteUploadXml(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  int number = 0;
  for (const std::string& etag : etags) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text().set(++number);
    part.append_child("ETag").text().set(etag.c_str());
  }
  StringWriter writer;
  document.save(writer, "", pugi::format_raw | pugi::format_no_declaration);
  return std::move(writer.text);
}

void CheckUploadCompleted(std::string_view xml) {
  pugi::xml_document document;
  Load(document, xml);
  (void)Root(document, kCompleted);
}

}  // namespace infeed
