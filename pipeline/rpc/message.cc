#include "pipeline/rpc/message.h"

#include <memory>
#include <utility>

namespace infeed {
namespace {

using PieceOwner = std::shared_ptr<const void>;

void ReleaseOwner(void* owner) { delete static_cast<PieceOwner*>(owner); }

grpc::Slice ToSlice(RpcPiece piece) {
  auto owner = std::make_unique<PieceOwner>(std::move(piece.owner));
  // gRPC's type is not const, but nothing writes to what is sent.
  auto* const bytes = const_cast<std::byte*>(piece.bytes.data());
  return {bytes, piece.bytes.size(), &ReleaseOwner, owner.release()};
}

}  // namespace

grpc::ByteBuffer ToMessage(std::vector<RpcPiece> pieces) {
  std::vector<grpc::Slice> slices;
  slices.reserve(pieces.size() + 1);
  for (RpcPiece& piece : pieces) {
    if (!piece.bytes.empty()) {
      slices.push_back(ToSlice(std::move(piece)));
    }
  }
  if (slices.empty()) {
    slices.emplace_back();
  }
  return {slices.data(), slices.size()};
}

grpc::ByteBuffer ToMessage(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

MessagePieces::MessagePieces(const grpc::ByteBuffer& message) {
  // Without a message there are no slices.
  if (!message.Valid() || !message.Dump(&slices_).ok()) {
    slices_.clear();
  }
  pieces_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    pieces_.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
  }
}

std::string MessagePieces::Text() const {
  std::string text;
  for (const std::span<const std::byte> piece : pieces_) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

}  // namespace infeed
