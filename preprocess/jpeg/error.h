#pragma once

#include <memory>
#include <string>
#include <type_traits>

// libjpeg's own structures, named here so that headers need not include it.
struct jpeg_common_struct;
struct jpeg_error_mgr;

namespace infeed {

// Turns libjpeg's errors into DataError. libjpeg is C: an exception must not
// pass through its frames, so an error jumps out of it (longjmp) to Run(),
// which throws. Warnings of a scan mean damaged pixels and are errors, unless
// they are tolerated: then the first one is kept and libjpeg continues.
//
// Must outlive the libjpeg object whose err is manager(). One thread at a time.
class JpegErrorTrap {
 public:
  JpegErrorTrap();
  ~JpegErrorTrap();
  JpegErrorTrap(const JpegErrorTrap&) = delete;
  JpegErrorTrap& operator=(const JpegErrorTrap&) = delete;

  [[nodiscard]] jpeg_error_mgr* manager();

  // Calls body(), which calls libjpeg. Throws DataError with libjpeg's message
  // when libjpeg reports an error. Requires: nothing in body, nor in what it
  // calls, has a destructor to run or is read after the error, unless it lives
  // outside body: the jump passes over them.
  template <typename Body>
  void Run(Body body) {
    RunBody(&Call<Body>, &body, false);
  }

  // Runs a body that reads a header, whose warnings concern no pixel and are
  // ignored, except that the JPEG ends there.
  template <typename Body>
  void RunHeader(Body body) {
    RunBody(&Call<Body>, &body, true);
  }

  void TolerateWarnings(bool tolerate);
  // libjpeg's first warning since the last call; empty: none.
  [[nodiscard]] std::string TakeWarning();

  // Called from a callback: leaves the running body with our own message.
  [[noreturn]] static void Fail(jpeg_common_struct* codec, const char* message);

 private:
  struct State;

  template <typename Body>
  static void Call(void* body) {
    static_assert(std::is_trivially_destructible_v<Body>);
    (*static_cast<Body*>(body))();
  }
  void RunBody(void (*body)(void*), void* context, bool reads_header);
  [[noreturn]] static void OnError(jpeg_common_struct* codec);
  static void OnMessage(jpeg_common_struct* codec, int level);

  std::unique_ptr<State> state_;
};

}  // namespace infeed
