#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "records/bytes/plain_text.h"

// Parses JSON from untrusted sources: side files, states, answers of servers.
// Not installed.
namespace infeed {

inline constexpr int kMaxJsonDepth = 32;
// Limit for ordered_json, which searches an object's keys one by one.
inline constexpr int kMaxOrderedKeys = 10'000;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{256} << 20;

// Parses JSON. Throws Json::exception, also for text nested deeper than
// kMaxJsonDepth (a value is copied by recursion, which could overflow the
// stack), larger than kMaxJsonBytes, or, for ordered_json, with more than
// kMaxOrderedKeys keys.
template <typename Json>
[[nodiscard]] Json ParseJson(std::string_view text) {
  constexpr int kLimitError = 601;  // nlohmann's own ids are below it
  if (text.size() > kMaxJsonBytes) {
    throw Json::other_error::create(kLimitError, "more than 256 MiB", nullptr);
  }
  int keys = 0;
  const auto check = [&keys](int depth, typename Json::parse_event_t event,
                             const Json& /*value*/) {
    if (std::is_same_v<Json, nlohmann::ordered_json> &&
        event == Json::parse_event_t::key && ++keys > kMaxOrderedKeys) {
      throw Json::other_error::create(kLimitError, "more than 10000 keys",
                                      nullptr);
    }
    const bool opens = event == Json::parse_event_t::object_start ||
                       event == Json::parse_event_t::array_start;
    if (opens && depth >= kMaxJsonDepth) {
      throw Json::other_error::create(
          kLimitError, "nested more than 32 levels deep", nullptr);
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), check);
}

// Describes a fault of a JSON text for a message, in place of the library's
// words.
[[nodiscard]] inline std::string JsonFault(
    const nlohmann::json::exception& error) {
  if (const auto* const parse =
          dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
    return "not JSON at byte " + std::to_string(parse->byte);
  }
  if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr) {
    return "a value is missing";
  }
  if (dynamic_cast<const nlohmann::json::type_error*>(&error) != nullptr) {
    return "a value is of another type";
  }
  const std::string_view text = error.what();  // "[NAME] TEXT"
  return std::string(text.substr(text.find("] ") + 2));
}

// As ParseJson(), but returns a discarded value instead of throwing.
template <typename Json>
[[nodiscard]] Json ParseJsonOrDiscard(std::string_view text) {
  try {
    return ParseJson<Json>(text);
  } catch (const typename Json::exception&) {
    return Json::value_t::discarded;
  }
}

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
requires requires { typename Json::value_t; }
[[nodiscard]] std::string JsonText(Json json, int indent = -1) {
  MakeUtf8(json);
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace infeed
