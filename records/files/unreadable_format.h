#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Image formats that this program cannot decode: GIF, AVIF, HEIC, ...
namespace infeed {

// The unreadable format that a file's extension names, upper or lower case;
// empty: none.
[[nodiscard]] std::string_view FindUnreadableFormatByName(
    std::string_view name);

// The unreadable format of a file's bytes; empty: none.
[[nodiscard]] std::string_view FindUnreadableFormat(
    std::span<const std::byte> bytes);

// "GIF images cannot be read: convert them to PNG or JPEG first".
[[nodiscard]] std::string UnreadableReason(std::string_view format);

// The format in a text of UnreadableReason(); empty for other texts.
[[nodiscard]] std::string_view FindFormatInReason(std::string_view reason);

}  // namespace infeed
