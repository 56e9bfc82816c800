#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/ranks/socket.h"

namespace infeed {

// What ranks say to rank 0, and rank 0 to them.
enum class FrameKind : std::uint8_t {
  kHello = 1,  // "RANK ATTEMPT TOKEN"; back: all have come
  kBeat,       // still here
  kMessage,    // a rank's part of a Reduce()
  kAnswer,     // what rank 0 made of all of them
  kFailed,     // why this rank ends
  kVerdict,    // why all end
  kBye,        // this rank has finished; back: heard
  kNote,       // "KEY\0NOTE" for all ranks; back: the note of a key
  kRead,       // the key of a note that this rank waits for
};

struct Frame {
  FrameKind kind = FrameKind::kBeat;
  std::string body;
};

// Frames over a socket: a byte of the kind, eight of the body's length, the
// body; numbers little-endian. Until Trust() a body has at most 4 KiB, and no
// more than one is read ahead: the other end may be anybody. One thread at a
// time.
class FrameStream {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FrameStream(RankSocket socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  void Close() { socket_.Close(); }
  // The other end is one of our ranks: up to 4 GiB a body from now on.
  void Trust() { is_trusted_ = true; }

  // Writes it as soon as Flush() can.
  void Put(FrameKind kind, std::string_view body = {});
  // Writes what the socket takes now. False: the other end is gone.
  [[nodiscard]] bool Flush();
  // What to poll for: more to take, and room for what is unsent.
  [[nodiscard]] pollfd Polled() const;
  [[nodiscard]] bool has_unsent() const { return sent_ < out_.size(); }

  // Reads what has come. False: the other end is gone, or speaks something
  // else; what came before can still be taken.
  [[nodiscard]] bool Fill();
  // The next whole frame.
  [[nodiscard]] std::optional<Frame> Take();

  // Of the last bytes.
  [[nodiscard]] Clock::time_point last_heard() const { return last_heard_; }
  void HeardNow() { last_heard_ = Clock::now(); }

  // Waits for a frame and takes it. nullopt: the other end is gone, or the time
  // is over.
  [[nodiscard]] std::optional<Frame> Await(Clock::time_point deadline);

 private:
  RankSocket socket_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  std::string in_;
  bool is_trusted_ = false;
  Clock::time_point last_heard_ = Clock::now();
};

// Several texts as one, and back. Unpack throws IoError for what Pack did not
// write.
[[nodiscard]] std::string PackTexts(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> UnpackTexts(std::string_view packed);

}  // namespace infeed
