#include "trainer/log/messages.h"

#include <atomic>
#include <utility>

#include "base/print_lines.h"

namespace infeed {
namespace {

std::atomic<bool> messages_suppressed = false;
std::atomic<const UrlsInMessages::Rename*> renames_messages = nullptr;

std::string WithUrls(const std::string& text) {
  const UrlsInMessages::Rename* const rename = renames_messages;
  return rename == nullptr ? text : (*rename)(text);
}

}  // namespace

void Say(const std::string& line) {
  if (!messages_suppressed) {
    PrintLine(WithUrls(line));
  }
}

void SayNote(const std::string& line) {
  if (!messages_suppressed) {
    PrintNote(WithUrls(line));
  }
}

void SayLines(const std::string& text) {
  if (!messages_suppressed) {
    PrintLines(WithUrls(text));
  }
}

UrlsInMessages::UrlsInMessages(Rename rename) : rename_(std::move(rename)) {
  renames_messages = rename_ ? &rename_ : nullptr;
}
UrlsInMessages::~UrlsInMessages() { renames_messages = nullptr; }

void SuppressMessages() { messages_suppressed = true; }

}  // namespace infeed
