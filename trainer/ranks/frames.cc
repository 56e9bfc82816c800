#include "trainer/ranks/frames.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "records/bytes/little_endian.h"

namespace infeed {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeadBytes = 1 + kLengthBytes;
// The longest body from a rank, and from a peer that is not trusted yet.
constexpr std::uint64_t kMaxBody = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxUnverifiedBody = 4096;

void AppendNumber(std::string& text, std::uint64_t number) {
  AppendLittleEndian(text, number, kLengthBytes);
}

// Requires: bytes has kLengthBytes.
std::uint64_t NumberAt(std::string_view bytes) {
  return LittleEndianAt(std::as_bytes(std::span(bytes)), 0, kLengthBytes);
}

bool WouldBlock() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

void FrameStream::Put(FrameKind kind, std::string_view body) {
  out_.erase(0, std::exchange(sent_, 0));
  out_ += static_cast<char>(kind);
  AppendNumber(out_, body.size());
  out_ += body;
}

bool FrameStream::Flush() {
  while (has_unsent()) {
    const ssize_t wrote = ::send(socket_.get(), out_.data() + sent_,
                                 out_.size() - sent_, MSG_NOSIGNAL);
    if (wrote < 0) {
      return WouldBlock();
    }
    sent_ += static_cast<std::size_t>(wrote);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

bool FrameStream::Fill() {
  std::array<char, 65536> buffer{};
  for (;;) {
    const std::size_t room =
        is_trusted_ ? buffer.size()
                    : kHeadBytes + kMaxUnverifiedBody -
                          std::min(in_.size(), kHeadBytes + kMaxUnverifiedBody);
    if (room == 0) {  // A complete frame is buffered.
      return true;
    }
    const ssize_t got = ::recv(socket_.get(), buffer.data(), room, 0);
    if (got <= 0) {
      return got < 0 && WouldBlock();
    }
    MarkReceived();
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    if (in_.size() >= kHeadBytes &&
        NumberAt(std::string_view{in_}.substr(1)) >
            (is_trusted_ ? kMaxBody : kMaxUnverifiedBody)) {
      return false;
    }
  }
}

pollfd FrameStream::Polled() const {
  pollfd polled{.fd = descriptor(), .events = POLLIN, .revents = 0};
  if (has_unsent()) {
    polled.events |= POLLOUT;
  }
  return polled;
}

std::optional<Frame> FrameStream::Take() {
  if (in_.size() < kHeadBytes) {
    return std::nullopt;
  }
  const std::uint64_t length = NumberAt(std::string_view{in_}.substr(1));
  if (in_.size() - kHeadBytes < length) {
    return std::nullopt;
  }
  Frame frame{.kind = static_cast<FrameKind>(in_.front()),
              .body = in_.substr(kHeadBytes, length)};
  in_.erase(0, kHeadBytes + length);
  return frame;
}

std::optional<Frame> FrameStream::Await(Clock::time_point deadline) {
  for (;;) {
    if (std::optional<Frame> frame = Take()) {
      return frame;
    }
    const int left = PollTimeTo(deadline);
    pollfd wait = Polled();
    if (left == 0) {
      return std::nullopt;
    }
    (void)::poll(&wait, 1, left);
    if (!Flush()) {
      return std::nullopt;
    }
    if (!Fill()) {
      return Take();
    }
  }
}

std::string PackTexts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    AppendNumber(packed, text.size());
    packed += text;
  }
  return packed;
}

std::vector<std::string> UnpackTexts(std::string_view packed) {
  std::vector<std::string> texts;
  while (!packed.empty()) {
    if (packed.size() < kLengthBytes ||
        packed.size() - kLengthBytes < NumberAt(packed)) {
      throw IoError(
          "a message between ranks is cut off: do all ranks run the same "
          "version?");
    }
    const std::uint64_t size = NumberAt(packed);
    texts.emplace_back(packed.substr(kLengthBytes, size));
    packed.remove_prefix(kLengthBytes + size);
  }
  return texts;
}

}  // namespace infeed
