#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "pipeline/remote/rpc.h"

namespace infeed {

// The bytes of a message in pieces, one after the other. A view of them.
class JoinedPieces {
 public:
  explicit JoinedPieces(RpcPieces pieces) {
    for (const std::span<const std::byte> piece : pieces) {
      if (!piece.empty()) {
        begins_.push_back(size_);
        pieces_.push_back(piece);
        size_ += piece.size();
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  // Calls use(span) for the bytes of a range, piece by piece. Requires: the
  // message has them.
  template <typename Use>
  void ForEach(std::size_t begin, std::size_t count, const Use& use) const {
    Check(begin <= size_ && count <= size_ - begin,
          "the message has the bytes");
    if (count == 0) {
      return;
    }
    auto i = static_cast<std::size_t>(std::ranges::upper_bound(begins_, begin) -
                                      begins_.begin() - 1);
    for (std::size_t from = begin - begins_[i]; count > 0; ++i, from = 0) {
      const std::size_t bytes = std::min(pieces_[i].size() - from, count);
      use(pieces_[i].subspan(from, bytes));
      count -= bytes;
    }
  }

  // Copies a range of bytes. Requires: the message has them.
  void Copy(std::size_t begin, std::span<std::byte> to) const {
    ForEach(begin, to.size(), [&to](std::span<const std::byte> bytes) {
      std::memcpy(to.data(), bytes.data(), bytes.size());
      to = to.subspan(bytes.size());
    });
  }

 private:
  std::vector<std::span<const std::byte>> pieces_;
  std::vector<std::size_t> begins_;  // of each piece
  std::size_t size_ = 0;
};

}  // namespace infeed
