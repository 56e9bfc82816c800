#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "records/example/record_payload.h"

// A JPEG's seek index as stored in an Example or in a file beside the shard:
// sealed with the length and checksum of its JPEG, and with its own checksum.
// docs/formats.md has the layout. This folder does not interpret the body,
// which may be any bytes.
namespace infeed {

// The result of opening a sealed index.
enum class SeekSeal {
  kGood,
  kDamaged,         // its own checksum fails, or too few bytes
  kUnknownVersion,  // written by a later program
  kOtherJpeg,       // made for another JPEG, or this one before it changed
};

// "is damaged", "has an unsupported version": a predicate for messages.
[[nodiscard]] std::string_view SeekSealText(SeekSeal seal);

// Returns the sealed index of a JPEG. Requires: the JPEG is not longer than
// 2^32 - 1 bytes.
[[nodiscard]] std::string SealSeekIndex(std::string_view body,
                                        std::span<const std::byte> jpeg);

struct OpenedSeekIndex {
  SeekSeal seal = SeekSeal::kDamaged;
  // Within the sealed bytes; empty unless good.
  std::span<const std::byte> body;
};

// Opens a sealed index and checks that it belongs to this JPEG; safe for any
// bytes. If the record's checksum is known and the JPEG lies in the record, the
// JPEG's checksum is checked through it, nearly for free; else the JPEG's bytes
// are read.
[[nodiscard]] OpenedSeekIndex OpenSeekIndex(std::span<const std::byte> sealed,
                                            std::span<const std::byte> jpeg,
                                            const RecordPayload& record = {});

}  // namespace infeed
