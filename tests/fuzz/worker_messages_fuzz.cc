#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/stream_settings.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/little_endian.h"

// Any bytes as each message between a trainer and a worker: what is taken comes
// back the same from bytes of our own, and settings make options that have
// them.
namespace infeed {
namespace {

template <typename Parse>
void CheckComesBack(std::string_view bytes, const Parse& parse) {
  try {
    const auto message = parse(bytes);
    Check(parse(Serialize(message)) == message, "a message comes back");
  } catch (const DataError&) {
    return;
  }
}

void CheckSettings(std::string_view bytes) {
  try {
    const OpenRequest request = ParseOpenRequest(bytes);
    Check(SlotSettings(OptionsOfSettings(request.settings)) == request.settings,
          "options have their settings");
  } catch (const DataError&) {
    return;
  }
}

// Of a stream without images, but with lists and a number.
InputOptions Options() {
  InputOptions options = {.layout = BatchContent::kNone};
  options.fields = {{.key = "list"},
                    {.key = "texts", .kind = FeatureKind::kBytes},
                    {.key = "floats", .kind = FeatureKind::kFloat},
                    {.key = "number", .shape = std::vector<std::int64_t>()}};
  return CheckedInputOptions(options);
}

void CheckReply(std::span<const std::byte> bytes) {
  static const InputOptions options = Options();
  const std::span<const std::byte> half = bytes.first(bytes.size() / 2);
  const std::vector<std::span<const std::byte>> pieces = {
      half, bytes.subspan(half.size())};
  try {
    const FilledSlots filled(options, 2, pieces, true);
    Check(filled.declined() < 4, "there are two slots");
  } catch (const DataError&) {
    return;
  }
}

// The bytes as the header of a reply, with the sum and the body that it needs.
void CheckHeader(std::string_view bytes) {
  constexpr std::string_view kBody("\x1A\x20", 2);
  if (bytes.size() >= 0x80) {
    return;  // Of a length in one byte.
  }
  std::string reply = {0x0A, static_cast<char>(bytes.size())};
  reply.append(bytes).append(1, 0x15);
  AppendLittleEndian(reply, Crc32c(std::as_bytes(std::span(bytes))), 4);
  // A number and its length for each slot.
  reply.append(kBody).append(0x20, '\0');
  CheckReply(std::as_bytes(std::span(reply)));
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  infeed::CheckComesBack(bytes, infeed::ParseOpenRequest);
  infeed::CheckComesBack(bytes, infeed::ParseFillRequest);
  infeed::CheckSettings(bytes);
  infeed::CheckReply(std::as_bytes(std::span(data, size)));
  infeed::CheckHeader(bytes);
  return 0;
}
