#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Image formats that nothing here decodes: GIF, AVIF, HEIC, ...
namespace infeed {

// The format that a file's name ends in, in any case; empty for others.
[[nodiscard]] std::string_view UnreadableFormatOfName(std::string_view name);

// The format of a file's bytes; empty for others.
[[nodiscard]] std::string_view UnreadableFormatOf(
    std::span<const std::byte> bytes);

// "GIF images cannot be read: convert them to PNG or JPEG first".
[[nodiscard]] std::string UnreadableReason(std::string_view format);

// The format that a reason of UnreadableReason() is about; empty for others.
[[nodiscard]] std::string_view FormatOfReason(std::string_view reason);

}  // namespace infeed
