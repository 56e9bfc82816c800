#include "preprocess/jpeg/error.h"

#include <array>
#include <csetjmp>
#include <cstdio>

// jpeglib.h needs size_t and FILE declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"

namespace infeed {
namespace {

// Returns false when body ended by a jump to landing. A separate function
// without locals, whose values would be indeterminate after a jump.
bool Protect(std::jmp_buf& landing, void (*body)(void*), void* context) {
  if (setjmp(landing) != 0) {
    return false;
  }
  body(context);
  return true;
}

}  // namespace

struct JpegErrorTrap::State {
  // The first member, so that libjpeg's pointer to it also points to the whole.
  jpeg_error_mgr manager{};
  std::jmp_buf landing{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool tolerates_warnings = false;
  bool reads_header = false;
  std::array<char, JMSG_LENGTH_MAX> warning{};  // empty: none
};

JpegErrorTrap::JpegErrorTrap() : state_(std::make_unique<State>()) {
  jpeg_std_error(&state_->manager);
  state_->manager.error_exit = OnError;
  state_->manager.emit_message = OnMessage;
}

JpegErrorTrap::~JpegErrorTrap() = default;

jpeg_error_mgr* JpegErrorTrap::manager() { return &state_->manager; }

void JpegErrorTrap::TolerateWarnings(bool tolerate) {
  state_->tolerates_warnings = tolerate;
}

std::string JpegErrorTrap::TakeWarning() {
  std::string warning = state_->warning.data();
  state_->warning.front() = '\0';
  return warning;
}

void JpegErrorTrap::Fail(jpeg_common_struct* codec, const char* message) {
  State& state = *reinterpret_cast<State*>(codec->err);
  std::snprintf(state.message.data(), state.message.size(), "%s", message);
  std::longjmp(state.landing, 1);
}

void JpegErrorTrap::RunBody(void (*body)(void*), void* context,
                            bool reads_header) {
  state_->reads_header = reads_header;
  if (!Protect(state_->landing, body, context)) {
    throw DataError(state_->message.data());
  }
}

void JpegErrorTrap::OnError(jpeg_common_struct* codec) {
  if (codec->err->msg_code == JERR_NO_BACKING_STORE) {
    // libjpeg would use a temporary file; its own message does not name the
    // cause.
    Fail(codec, "the JPEG needs more memory than its limit");
  }
  std::array<char, JMSG_LENGTH_MAX> message{};
  (*codec->err->format_message)(codec, message.data());
  Fail(codec, message.data());
}

// Negative levels are warnings, the others are traces.
void JpegErrorTrap::OnMessage(jpeg_common_struct* codec, int level) {
  State& state = *reinterpret_cast<State*>(codec->err);
  const bool is_ignored =
      state.reads_header && codec->err->msg_code != JWRN_JPEG_EOF;
  if (level >= 0 || is_ignored) {
    return;
  }
  if (!state.tolerates_warnings) {
    OnError(codec);
  }
  if (state.warning.front() == '\0') {
    (*codec->err->format_message)(codec, state.warning.data());
  }
}

}  // namespace infeed
