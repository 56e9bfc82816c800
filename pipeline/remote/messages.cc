#include "pipeline/remote/messages.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "pipeline/remote/joined_pieces.h"
#include "pipeline/remote/stream_settings.h"
#include "pipeline/remote/wire_fields.h"
#include "records/bytes/plain_text.h"
#include "records/example/wire_cursor.h"

// The numbers of fields are worker.proto's.
namespace infeed {
namespace {

constexpr std::size_t kMostSlots = 64;
constexpr auto kNoRequest = "request: not such a message";
constexpr auto kNoReply = "a worker's reply: not such a message";

WireCursor CursorOfText(std::string_view bytes, const char* error) {
  return {std::as_bytes(std::span(bytes)), error};
}

// As in protobuf, bits beyond the lowest 32 do not count.
std::uint32_t TakeUint32(WireCursor& cursor) {
  return static_cast<std::uint32_t>(cursor.TakeVarint());
}

std::string TakeText(WireCursor& cursor) {
  return std::string(AsChars(cursor.TakeBytes()));
}

StateField ParseSetting(WireCursor message) {
  StateField setting;
  ForEachWireField(message, [&](std::uint32_t tag, WireCursor& cursor) {
    switch (tag) {
      case WireTag(1, WireType::kBytes):
        setting.name = TakeText(cursor);
        return true;
      case WireTag(2, WireType::kBytes):
        setting.value = TakeText(cursor);
        return true;
      default:
        return false;
    }
  });
  return setting;
}

SlotRequest ParseSlot(WireCursor message) {
  SlotRequest slot = {};
  ForEachWireField(message, [&](std::uint32_t tag, WireCursor& cursor) {
    switch (tag) {
      case WireTag(1, WireType::kVarint):
        slot.epoch = TakeUint32(cursor);
        return true;
      case WireTag(2, WireType::kVarint):
        slot.position =
            NumberFrom<std::int64_t>(cursor.TakeVarint(), "position");
        return true;
      case WireTag(3, WireType::kVarint):
        slot.record = NumberFrom<std::int64_t>(cursor.TakeVarint(), "record");
        return true;
      default:
        return false;
    }
  });
  return slot;
}

}  // namespace

OpenRequest OpenRequestOf(const RecordIndex& data,
                          const InputOptions& options) {
  return {.build = "infeed " INFEED_VERSION,
          .pixels_version = kPixelsVersion,
          .data = data.identity_with_labels(),
          .settings = SlotSettings(options)};
}

std::string Serialize(const OpenRequest& request) {
  WireWriter message;
  message.AddBytes(1, request.build);
  message.AddVarint(2, request.pixels_version);
  message.AddBytes(3, request.data);
  for (const StateField& setting : request.settings) {
    WireWriter added;
    added.AddBytes(1, setting.name);
    added.AddBytes(2, setting.value);
    message.AddElement(4, added.Take());
  }
  return message.Take();
}

std::string Serialize(const OpenReply& reply) {
  WireWriter message;
  message.AddFixed64(1, reply.key);
  message.AddVarint(2, static_cast<std::uint32_t>(reply.credit));
  message.AddBytes(3, reply.worker);
  for (const std::string& difference : reply.differences) {
    message.AddElement(4, difference);
  }
  return message.Take();
}

std::string Serialize(const FillRequest& request) {
  WireWriter message;
  message.AddFixed64(1, request.key);
  for (const SlotRequest& slot : request.slots) {
    WireWriter added;
    added.AddVarint(1, slot.epoch);
    added.AddVarint(2, static_cast<std::uint64_t>(slot.position));
    added.AddVarint(3, static_cast<std::uint64_t>(slot.record));
    message.AddElement(2, added.Take());
  }
  return message.Take();
}

OpenRequest ParseOpenRequest(std::string_view bytes) {
  OpenRequest request;
  ForEachWireField(CursorOfText(bytes, kNoRequest), [&](std::uint32_t tag,
                                                        WireCursor& cursor) {
    switch (tag) {
      case WireTag(1, WireType::kBytes):
        request.build = TakeText(cursor);
        return true;
      case WireTag(2, WireType::kVarint):
        request.pixels_version = TakeUint32(cursor);
        return true;
      case WireTag(3, WireType::kBytes):
        request.data = TakeText(cursor);
        return true;
      case WireTag(4, WireType::kBytes):
        request.settings.push_back(ParseSetting(cursor.TakeMessage()));
        return true;
      default:
        return false;
    }
  });
  return request;
}

OpenReply ParseOpenReply(RpcPieces pieces) {
  const JoinedPieces joined(pieces);
  if (joined.size() > static_cast<std::size_t>(kMaxRequestBytes)) {
    throw DataError("a worker's reply is too large");
  }
  std::string bytes(joined.size(), '\0');
  joined.Copy(0, std::as_writable_bytes(std::span(bytes)));
  OpenReply reply;
  ForEachWireField(CursorOfText(bytes, kNoReply), [&](std::uint32_t tag,
                                                      WireCursor& cursor) {
    switch (tag) {
      case WireTag(1, WireType::kFixed64):
        reply.key = cursor.TakeFixed<std::uint64_t>();
        return true;
      case WireTag(2, WireType::kVarint):
        reply.credit = NumberFrom<int>(TakeUint32(cursor), "credit");
        return true;
      case WireTag(3, WireType::kBytes):
        reply.worker = TakeText(cursor);
        return true;
      case WireTag(4, WireType::kBytes):
        reply.differences.push_back(TakeText(cursor));
        return true;
      default:
        return false;
    }
  });
  return reply;
}

FillRequest ParseFillRequest(std::string_view bytes) {
  FillRequest request;
  ForEachWireField(CursorOfText(bytes, kNoRequest), [&](std::uint32_t tag,
                                                        WireCursor& cursor) {
    switch (tag) {
      case WireTag(1, WireType::kFixed64):
        request.key = cursor.TakeFixed<std::uint64_t>();
        return true;
      case WireTag(2, WireType::kBytes):
        request.slots.push_back(ParseSlot(cursor.TakeMessage()));
        return true;
      default:
        return false;
    }
  });
  if (request.slots.empty() || request.slots.size() > kMostSlots) {
    throw DataError("request: " + std::to_string(request.slots.size()) +
                    " slots: 1 to 64 are possible");
  }
  return request;
}

}  // namespace infeed
