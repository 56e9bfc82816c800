#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace infeed {

// Writes the bytes of one file or object in order. The file appears under its
// name, complete, at Commit(), or not at all. OpenSink() in open_sink.h makes
// one.
//
// One thread at a time. Throws IoError; after that only destruction is allowed.
class ByteSink {
 public:
  ByteSink() = default;
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  virtual void Write(std::span<const std::byte> bytes) = 0;
  void Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }
  // Makes the file or object appear under its name. Requires: called once,
  // last.
  virtual void Commit() = 0;
  // Bytes written so far, including those still being sent.
  [[nodiscard]] virtual std::int64_t size() const = 0;
};

}  // namespace infeed
