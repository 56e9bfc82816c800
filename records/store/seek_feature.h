#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "records/example/record_payload.h"

// A JPEG's seek index as an Example or a file beside the shard holds it: sealed
// with the length and checksum of the JPEG that it belongs to, and one of its
// own. docs/formats.md has the layout. What is inside is no matter of this
// folder: the body is any bytes here.
namespace infeed {

// What a sealed index is found to be.
enum class SeekSeal {
  kGood,
  kDamaged,         // its own checksum, or too few bytes
  kUnknownVersion,  // of a later program
  kOtherJpeg,       // made for another JPEG, or this one before it changed
};

// "is damaged", "has a version ...": a predicate for messages.
[[nodiscard]] std::string_view SeekSealText(SeekSeal seal);

// Returns the sealed index of a JPEG. Requires: the JPEG is not longer than
// 2^32 - 1 bytes.
[[nodiscard]] std::string SealSeekIndex(std::string_view body,
                                        std::span<const std::byte> jpeg);

struct OpenedSeekIndex {
  SeekSeal seal = SeekSeal::kDamaged;
  std::span<const std::byte> body;  // in the sealed bytes; empty unless good
};

// Opens the index that is to be this JPEG's; any bytes are safe. The JPEG's
// checksum falls out of the record's where that is known and the JPEG lies in
// it, nearly for free; else its bytes are read.
[[nodiscard]] OpenedSeekIndex OpenSeekIndex(std::span<const std::byte> sealed,
                                            std::span<const std::byte> jpeg,
                                            const RecordPayload& record = {});

}  // namespace infeed
