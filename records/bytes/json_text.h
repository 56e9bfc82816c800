#pragma once

#include <string>

#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"

// JSON for others to read, with texts of any bytes. Not installed.
namespace infeed {

// Makes all texts in JSON UTF-8 (AsUtf8()): names of files have any bytes.
template <typename Json>
void MakeUtf8(Json& json) {
  if (json.is_string()) {
    json = AsUtf8(json.template get_ref<const std::string&>());
  } else if (json.is_structured()) {
    for (Json& value : json) {
      MakeUtf8(value);
    }
  }
}

// JSON as text; indent -1: one line.
template <typename Json>
[[nodiscard]] std::string JsonText(Json json, int indent = -1) {
  MakeUtf8(json);
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace infeed
