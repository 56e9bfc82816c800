#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "pipeline/remote/rpc.h"

namespace infeed {

// A message of pieces that are not copied: each owner is released when gRPC has
// sent its bytes, or has dropped them.
[[nodiscard]] grpc::ByteBuffer ToMessage(std::vector<RpcPiece> pieces);

// A message with a copy of the bytes.
[[nodiscard]] grpc::ByteBuffer ToMessage(const std::string& bytes);

// The bytes of a message as they arrived.
class MessagePieces {
 public:
  explicit MessagePieces(const grpc::ByteBuffer& message);
  MessagePieces(const MessagePieces&) = delete;
  MessagePieces& operator=(const MessagePieces&) = delete;

  [[nodiscard]] RpcPieces pieces() const { return pieces_; }
  [[nodiscard]] std::string Text() const;

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<std::span<const std::byte>> pieces_;  // of slices_
};

}  // namespace infeed
