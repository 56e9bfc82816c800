#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "records/bytes/crc32c.h"

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

// Forwards to another sink and computes the checksum of the bytes.
class SummedSink final : public ByteSink {
 public:
  // `crc` must outlive it.
  SummedSink(std::unique_ptr<ByteSink> sink, std::uint32_t& crc)
      : sink_(std::move(sink)), crc_(crc) {}

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override {
    crc_ = ExtendCrc32c(crc_, bytes);
    sink_->Write(bytes);
  }
  void Commit() override { sink_->Commit(); }
  [[nodiscard]] std::int64_t size() const override { return sink_->size(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  std::uint32_t& crc_;
};

}  // namespace infeed
