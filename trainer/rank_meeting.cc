#include "trainer/rank_meeting.h"

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Those who are on their way.
class Meeting {
 public:
  Meeting(int world_size, std::string token) : token_(std::move(token)) {
    for (int rank = 0; rank < world_size; ++rank) {
      ranks_.emplace_back(RankSocket());
    }
  }

  void Accept(const RankListener& listener) {
    while (std::optional<RankSocket> socket = listener.Accept()) {
      strangers_.emplace_back(*std::move(socket));
    }
  }

  // Reads what has come from anyone.
  void Read() {
    for (FrameStream& stranger : strangers_) {
      Greet(stranger);
    }
    std::erase_if(strangers_,
                  [](const FrameStream& stream) { return !stream.is_open(); });
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].is_open() && !ranks_[rank].Fill()) {
        ranks_[rank].Close();
        Refuse(fmt::format("rank {} came and is gone again", rank));
      }
    }
  }

  // Waits until there is something to read.
  void Wait(const RankListener& listener, Clock::time_point deadline) const {
    std::vector<pollfd> polled = {
        {.fd = listener.descriptor(), .events = POLLIN, .revents = 0}};
    for (const auto* streams : {&strangers_, &ranks_}) {
      for (const FrameStream& stream : *streams) {  // Poll leaves out a -1.
        polled.push_back(
            {.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
      }
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    (void)::poll(polled.data(), polled.size(),
                 static_cast<int>(std::max<std::int64_t>(0, left.count())));
  }

  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].is_open()) {
        ranks.push_back(static_cast<int>(rank));
      }
    }
    return ranks;
  }

  // Tells all who are there, and throws.
  [[noreturn]] void Refuse(const std::string& message) {
    TellAll(FrameKind::kVerdict, message);
    throw IoError(message);
  }

  void TellAll(FrameKind kind, const std::string& body) {
    for (FrameStream& stream : ranks_) {
      if (stream.is_open()) {
        stream.Put(kind, body);
        (void)stream.Flush();  // An empty socket takes it; or it is gone.
      }
    }
  }

  [[nodiscard]] std::vector<FrameStream> Take() { return std::move(ranks_); }

 private:
  // Seats a stranger who has said who it is; closes what is none of ours.
  void Greet(FrameStream& stranger) {
    const bool is_there = stranger.Fill();
    const std::optional<Frame> hello = stranger.Take();
    if (!hello) {
      if (!is_there) {
        stranger.Close();
      }
      return;
    }
    const std::size_t rank = RankOf(*hello);
    if (rank == 0) {
      stranger.Close();
      return;
    }
    if (ranks_[rank].is_open()) {
      stranger.Put(FrameKind::kVerdict, TwiceText(rank));
      (void)stranger.Flush();
      Refuse(TwiceText(rank));
    }
    ranks_[rank] = std::move(stranger);
  }

  // 0: this is not one of our ranks.
  [[nodiscard]] std::size_t RankOf(const Frame& hello) const {
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      if (hello.kind == FrameKind::kHello &&
          hello.body == fmt::format("{} {}", token_, rank)) {
        return rank;
      }
    }
    return 0;
  }

  static std::string TwiceText(std::size_t rank) {
    return fmt::format(
        "two processes say that they are rank {}: give each a rank of its own",
        rank);
  }

  std::string token_;
  std::vector<FrameStream> ranks_;      // by rank; not come: closed
  std::vector<FrameStream> strangers_;  // who have not said who they are
};

std::string MissingText(const std::vector<int>& missing, int world_size,
                        std::chrono::milliseconds timeout) {
  constexpr std::size_t kShown = 8;
  const std::vector<int> shown(
      missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(
                                             std::min(kShown, missing.size())));
  return fmt::format(
      "{} of {} ranks have not come within {:g} s: rank {}{}; were they "
      "started, with the same world size?",
      missing.size(), world_size,
      std::chrono::duration<double>(timeout).count(), fmt::join(shown, ", "),
      missing.size() > kShown ? ", ..." : "");
}

}  // namespace

std::vector<FrameStream> AwaitRanks(const RankListener& listener,
                                    int world_size, const std::string& token,
                                    std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  Meeting meeting(world_size, token);
  while (!meeting.missing().empty()) {
    meeting.Wait(listener, deadline);
    meeting.Accept(listener);
    meeting.Read();
    if (Clock::now() >= deadline && !meeting.missing().empty()) {
      meeting.Refuse(MissingText(meeting.missing(), world_size, timeout));
    }
  }
  meeting.TellAll(FrameKind::kHello, "");
  return meeting.Take();
}

FrameStream MeetRankZero(const RankPlace& place, int port,
                         const std::string& token,
                         std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  FrameStream stream(ConnectTo(place.master_addr, port, timeout));
  stream.Put(FrameKind::kHello, fmt::format("{} {}", token, place.rank));
  const std::optional<Frame> answer = stream.Await(deadline);
  if (!answer) {
    throw IoError(fmt::format(
        "rank 0 at {}: {}", place.master_addr,
        Clock::now() < deadline
            ? "it ended while the ranks came together"
            : "it has not heard from all ranks in time; were all started?"));
  }
  if (answer->kind != FrameKind::kHello) {
    throw IoError(answer->body);
  }
  return stream;
}

}  // namespace infeed
