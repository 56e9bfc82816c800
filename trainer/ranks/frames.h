#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "trainer/ranks/socket.h"

namespace infeed {

// Kinds of messages between rank 0 and the other ranks.
enum class FrameKind : std::uint8_t {
  kHello = 1,   // "RANK ATTEMPT TOKEN"; reply: all ranks have connected
  kBeat,        // this rank is alive
  kMessage,     // a rank's part of a Reduce()
  kAnswer,      // rank 0's result of a Reduce()
  kRankFailed,  // the error that ends this rank
  kRunFailed,   // the error that ends all ranks
  kBye,         // this rank has finished; reply: received
  kNote,        // "KEY\0NOTE" for all ranks; reply: the note of a key
  kRead,        // the key of a note that this rank waits for
};

struct Frame {
  FrameKind kind = FrameKind::kBeat;
  std::string body;
};

// Frames over a socket: a byte of the kind, eight of the body's length, the
// body; numbers little-endian. Until Trust() is called, a body has at most 4
// KiB, and no more than one is read ahead: the peer is not trusted. One thread
// at a time.
class FrameStream {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FrameStream(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  void Close() { (void)socket_.Close(); }
  // The peer is one of our ranks: from now on a body may have 4 GiB.
  void Trust() { is_trusted_ = true; }

  // Queues a frame; Flush() writes it.
  void Put(FrameKind kind, std::string_view body = {});
  // Writes as much as the socket takes now. False: the peer is gone.
  [[nodiscard]] bool Flush();
  // Polls for data to read, and for room to write if frames are unsent.
  [[nodiscard]] pollfd Polled() const;
  [[nodiscard]] bool has_unsent() const { return sent_ < out_.size(); }

  // Reads the available bytes. False: the peer is gone, or what it sends is not
  // a frame; frames read before can still be taken.
  [[nodiscard]] bool Fill();
  // Removes and returns the next complete frame.
  [[nodiscard]] std::optional<Frame> Take();

  // When the last bytes were read.
  [[nodiscard]] Clock::time_point last_received() const {
    return last_received_;
  }
  void MarkReceived() { last_received_ = Clock::now(); }

  // Waits for a frame and takes it. nullopt: the peer is gone, or the deadline
  // has passed.
  [[nodiscard]] std::optional<Frame> Await(Clock::time_point deadline);

 private:
  Descriptor socket_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  std::string in_;
  bool is_trusted_ = false;
  Clock::time_point last_received_ = Clock::now();
};

// Several texts as one, and back. UnpackTexts() throws IoError for text that
// PackTexts() did not write.
[[nodiscard]] std::string PackTexts(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> UnpackTexts(std::string_view packed);

}  // namespace infeed
