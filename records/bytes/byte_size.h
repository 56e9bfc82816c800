#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace infeed {

// Parses "1048576", "64MB" or "64 MiB": a whole number of B, kB, MB, GB, TB
// (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024); of bytes without a
// unit. nullopt: not a size, not above 0, or 2^63 or more.
[[nodiscard]] std::optional<std::int64_t> TryParseByteSize(
    std::string_view text);

// Parses a size, but throws UsageError naming the flag.
[[nodiscard]] std::int64_t ParseByteSize(std::string_view text,
                                         std::string_view flag);

// Text of a file's or a transfer's size: "512 B", "1.2 MB", "3.4 GB".
[[nodiscard]] std::string FileSizeText(std::int64_t bytes);

// Text of a memory size: "512 B", "1.2 MiB", "3.4 GiB".
[[nodiscard]] std::string MemorySizeText(std::int64_t bytes);

}  // namespace infeed
