#include "trainer/ranks/meeting.h"

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/seconds.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Most connections without a greeting, beyond the number of missing ranks.
// Above it, the oldest one is dropped.
constexpr std::size_t kMostPending = 64;
// Lines printed about dropped connections; there may be many.
constexpr int kMostLines = 8;

// The greeting that a rank sends first.
std::string GreetingOf(const RankPlace& place) {
  return fmt::format("{} {} {}", place.rank, place.attempt, place.token);
}

// Removes a number and the space after it; -1 where there is none.
int TakeNumber(std::string_view& text) {
  const auto number = TakePlainNumber<int>(text);
  if (!number || !text.starts_with(' ')) {
    return -1;
  }
  text.remove_prefix(1);
  return *number;
}

struct PendingConnection {
  FrameStream stream;
  Clock::time_point deadline;  // for its greeting
};

// The connected ranks, and the connections that have not sent a greeting.
class Meeting {
 public:
  Meeting(const RankPlace& place, const MeetingOptions& options)
      : place_(place),
        options_(options),
        deadline_(Clock::now() + options.timeout) {
    for (int rank = 0; rank < place.world_size; ++rank) {
      ranks_.emplace_back(Descriptor());
    }
  }

  void Accept(const RankListener& listener) {
    while (std::optional<Descriptor> socket = listener.Accept()) {
      pending_.push_back({.stream = FrameStream(*std::move(socket)),
                          .deadline = Clock::now() + options_.patience});
      ReadGreeting(pending_.back());
      if (!pending_.back().stream.is_open()) {
        pending_.pop_back();
      } else if (pending_.size() > kMostPending + missing().size()) {
        Drop(
            pending_.front(),
            "it has sent no greeting, and there are too many such connections");
        pending_.erase(pending_.begin());
      }
    }
  }

  // Reads the available data of all connections.
  void Read() {
    for (PendingConnection& connection : pending_) {
      ReadGreeting(connection);
    }
    std::erase_if(pending_, [](const PendingConnection& connection) {
      return !connection.stream.is_open();
    });
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      FrameStream& stream = ranks_[rank];
      // They send nothing until all ranks have connected.
      if (stream.is_open() && (!stream.Fill() || stream.Take())) {
        stream.Close();
        Refuse(fmt::format(
            "rank {} disconnected before all ranks had connected", rank));
      }
    }
  }

  // Waits until there is something to read, or a deadline has passed.
  void Wait(const RankListener& listener) const {
    std::vector<pollfd> polled = {
        {.fd = listener.descriptor(), .events = POLLIN, .revents = 0}};
    Clock::time_point next = deadline_;
    for (const PendingConnection& connection : pending_) {
      polled.push_back(connection.stream.Polled());
      next = std::min(next, connection.deadline);
    }
    for (const FrameStream& stream : ranks_) {
      polled.push_back(stream.Polled());  // poll() ignores a descriptor of -1.
    }
    (void)::poll(polled.data(), polled.size(), PollTimeTo(next));
  }

  [[nodiscard]] bool timed_out() const { return Clock::now() >= deadline_; }

  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].is_open()) {
        ranks.push_back(static_cast<int>(rank));
      }
    }
    return ranks;
  }

  // Sends the message to all connected ranks, and throws it.
  [[noreturn]] void Refuse(const std::string& message) {
    SendToAll(FrameKind::kRunFailed, message);
    throw IoError(message);
  }

  void SendToAll(FrameKind kind, const std::string& body) {
    for (FrameStream& stream : ranks_) {
      if (stream.is_open()) {
        stream.Put(kind, body);
        (void)stream.Flush();  // The empty socket takes it, or the peer is
                               // gone.
      }
    }
  }

  [[nodiscard]] std::vector<FrameStream> Take() { return std::move(ranks_); }

 private:
  // Accepts a connection whose greeting is that of a rank; drops any other.
  void ReadGreeting(PendingConnection& connection) {
    FrameStream& stream = connection.stream;
    const bool is_there = stream.Fill();
    if (const std::optional<Frame> hello = stream.Take()) {
      AssignRank(connection, *hello);
    } else if (!is_there) {
      Drop(connection, "it is not a rank of this run");
    } else if (Clock::now() >= connection.deadline) {
      Drop(connection, "it has not sent its rank in time");
    }
  }

  void AssignRank(PendingConnection& connection, const Frame& hello) {
    std::string_view words = hello.body;
    const int rank = TakeNumber(words);
    const int attempt = TakeNumber(words);
    if (hello.kind != FrameKind::kHello || rank < 0 || attempt < 0) {
      return Drop(connection, "it is not a rank of this run");
    }
    if (!IsSameToken(words, place_.token)) {
      return Reject(
          connection,
          fmt::format("its token is not rank 0's: all ranks need the same {}",
                      kRankTokenVariable));
    }
    if (attempt != place_.attempt) {
      return Reject(connection,
                    "it belongs to an earlier attempt of the launcher");
    }
    if (rank == 0 || rank >= place_.world_size) {
      return Reject(connection,
                    fmt::format("its rank is {}, but the world size is {}",
                                rank, place_.world_size));
    }
    FrameStream& link = ranks_[static_cast<std::size_t>(rank)];
    if (link.is_open()) {
      return Reject(connection,
                    fmt::format("another process has rank {} already: give "
                                "each process its own rank",
                                rank));
    }
    link = std::move(connection.stream);
  }

  // Drops a connection, and sends it the reason.
  void Reject(PendingConnection& connection, const std::string& why) {
    connection.stream.Put(FrameKind::kRunFailed,
                          "rank 0 refuses this process: " + why);
    (void)connection.stream.Flush();
    Drop(connection, why);
  }

  void Drop(PendingConnection& connection, const std::string& why) {
    if (options_.say && lines_ < kMostLines) {
      ++lines_;
      options_.say(fmt::format(
          "dropped a connection from {} while waiting for the ranks: {}{}",
          PeerAddress(connection.stream.descriptor()), why,
          lines_ == kMostLines ? "; later ones are not reported" : ""));
    }
    connection.stream.Close();
  }

  const RankPlace& place_;
  const MeetingOptions& options_;
  Clock::time_point deadline_;
  std::vector<FrameStream> ranks_;  // by rank; closed while not connected
  std::vector<PendingConnection> pending_;  // the oldest first
  int lines_ = 0;
};

std::string MissingText(const std::vector<int>& missing, int world_size,
                        std::chrono::milliseconds timeout) {
  constexpr std::size_t kShown = 8;
  const std::vector<int> shown(
      missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(
                                             std::min(kShown, missing.size())));
  return fmt::format(
      "{} of {} ranks have not connected within {:g} s: rank {}{}; were they "
      "started, and with the same world size?",
      missing.size(), world_size, ToSeconds(timeout), fmt::join(shown, ", "),
      missing.size() > kShown ? ", ..." : "");
}

}  // namespace

std::vector<FrameStream> AwaitRanks(const RankListener& listener,
                                    const RankPlace& place,
                                    const MeetingOptions& options) {
  Meeting meeting(place, options);
  while (!meeting.missing().empty()) {
    meeting.Wait(listener);
    meeting.Accept(listener);
    meeting.Read();
    if (meeting.timed_out() && !meeting.missing().empty()) {
      meeting.Refuse(
          MissingText(meeting.missing(), place.world_size, options.timeout));
    }
  }
  meeting.SendToAll(FrameKind::kHello, "");
  return meeting.Take();
}

std::vector<FrameStream> MeetRankZero(const RankPlace& place, int port,
                                      std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  std::vector<FrameStream> streams;
  FrameStream& stream =
      streams.emplace_back(ConnectTo(place.master_addr, port, timeout));
  stream.Put(FrameKind::kHello, GreetingOf(place));
  const std::optional<Frame> answer = stream.Await(deadline);
  if (!answer) {
    throw IoError(fmt::format(
        "rank 0 at {}: {}", place.master_addr,
        Clock::now() < deadline
            ? "it ended while the ranks were connecting, or all its ranks are "
              "connected already"
            : "not all ranks have connected in time; were all started?"));
  }
  if (answer->kind != FrameKind::kHello) {
    throw IoError(answer->body);
  }
  return streams;
}

}  // namespace infeed
