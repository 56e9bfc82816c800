#include "pipeline/slots/slot_fingerprint.h"

#include <bit>

#include "preprocess/pixels/pixel_hash.h"

namespace infeed {
namespace {

std::uint64_t HashOf(const SlotMaking& making) {
  return HashChain(making.made).Add(making.epoch).Add(making.position).hash();
}

}  // namespace

std::uint64_t HashRecord(const SlotRecord& record) {
  constexpr int kHalf = 32;
  const std::uint64_t bytes = std::rotl(record.payload_bytes, kHalf);
  return HashChain()
      .Add(record.record)
      .Add(bytes ^ record.stored_crc.value_or(0))
      .Add(record.label)
      .hash();
}

std::uint64_t SlotFingerprint(std::uint64_t record_hash,
                              const SlotMaking& making) {
  return MixBits(record_hash + HashOf(making));
}

std::uint64_t RecordHashIn(std::uint64_t fingerprint,
                           const SlotMaking& making) {
  return UnmixBits(fingerprint) - HashOf(making);
}

}  // namespace infeed
