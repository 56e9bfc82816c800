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

StateField ParseSetting(const WireCursor& message) {
  StateField setting;
  ForEachField(message, [&](WireField field) {
    return field.TakeText(1, setting.name) || field.TakeText(2, setting.value);
  });
  return setting;
}

SlotRequest ParseSlot(const WireCursor& message) {
  SlotRequest slot = {};
  ForEachField(message, [&](WireField field) {
    const auto take = [&](std::uint32_t number, std::int64_t& value,
                          const char* what) {
      return field.Take(number, WireType::kVarint, [&](WireCursor& from) {
        value = NumberFrom<std::int64_t>(from.TakeVarint(), what);
      });
    };
    return field.TakeUint32(1, slot.epoch) ||
           take(2, slot.position, "position") || take(3, slot.record, "record");
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
  ForEachField(CursorOfText(bytes, kNoRequest), [&](WireField field) {
    return field.TakeText(1, request.build) ||
           field.TakeUint32(2, request.pixels_version) ||
           field.TakeText(3, request.data) ||
           field.Take(4, WireType::kBytes, [&](WireCursor& from) {
             request.settings.push_back(ParseSetting(from.TakeMessage()));
           });
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
  std::uint32_t credit = 0;
  ForEachField(CursorOfText(bytes, kNoReply), [&](WireField field) {
    return field.TakeFixed64(1, reply.key) || field.TakeUint32(2, credit) ||
           field.TakeText(3, reply.worker) ||
           field.Take(4, WireType::kBytes, [&](WireCursor& from) {
             reply.differences.emplace_back(AsChars(from.TakeBytes()));
           });
  });
  reply.credit = NumberFrom<int>(credit, "credit");
  return reply;
}

FillRequest ParseFillRequest(std::string_view bytes) {
  FillRequest request;
  ForEachField(CursorOfText(bytes, kNoRequest), [&](WireField field) {
    return field.TakeFixed64(1, request.key) ||
           field.Take(2, WireType::kBytes, [&](WireCursor& from) {
             request.slots.push_back(ParseSlot(from.TakeMessage()));
           });
  });
  if (request.slots.empty() || request.slots.size() > kMostSlots) {
    throw DataError("request: " + std::to_string(request.slots.size()) +
                    " slots: 1 to 64 are possible");
  }
  return request;
}

}  // namespace infeed
