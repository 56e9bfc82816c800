#include "tools/input/web_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace infeed {
namespace {

bool IsForLater(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace

WebConnection::WebConnection(int socket, Clock::duration patience)
    : socket_(socket),
      patience_(patience),
      deadline_(Clock::now() + patience) {}

WebConnection::~WebConnection() { ::close(socket_); }

short WebConnection::events() const {
  return answer_.empty() ? POLLIN : POLLOUT;
}

bool WebConnection::Proceed(bool is_ready, const Answer& answer) {
  const bool is_over = Clock::now() >= deadline_;
  if (answer_.empty()) {
    const bool comes = !is_over && (!is_ready || ReadHead());
    if (comes && head_.size() < kMaxHead &&
        head_.find(kHeadEnd) == std::string::npos) {
      return true;
    }
    if (head_.empty()) {
      return false;
    }
    answer_ = answer(head_);
    deadline_ = Clock::now() + patience_;
    return WriteAnswer();
  }
  return !is_over && (!is_ready || WriteAnswer());
}

bool WebConnection::ReadHead() {
  std::array<char, 1024> bytes;
  const ssize_t count =
      ::recv(socket_, bytes.data(),
             std::min(bytes.size(), kMaxHead - head_.size()), MSG_DONTWAIT);
  if (count > 0) {
    head_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || IsForLater(count);
}

bool WebConnection::WriteAnswer() {
  const std::string_view rest = std::string_view(answer_).substr(written_);
  const ssize_t count =
      ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) {
    written_ += static_cast<std::size_t>(count);
  }
  return (count > 0 || IsForLater(count)) && written_ < answer_.size();
}

}  // namespace infeed
