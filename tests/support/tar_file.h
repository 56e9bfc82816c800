#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "records/archives/tar_member.h"
#include "records/archives/tar_writer.h"
#include "records/bytes/byte_sink.h"
#include "tests/support/bytes.h"

namespace infeed {

// Collects the written bytes in a string.
class TarSink final : public ByteSink {
 public:
  void Write(std::span<const std::byte> bytes) override {
    text_ += AsText(bytes);
  }
  void Commit() override {}
  [[nodiscard]] std::int64_t size() const override { return std::ssize(text_); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The bytes of a tar with any headers, also such that no tar program writes:
//   TarFile().Add("a.jpg", "x").Add("b.jpg", "", '2').End().text()
class TarFile {
 public:
  // Appends a header. size: the bytes of its field.
  TarFile& AddHeader(std::string_view name, std::string_view size,
                     char type = '0') {
    std::string header(kTarBlockBytes, '\0');
    header.replace(kTarName.begin, name.size(), name);
    header.replace(kTarSize.begin, size.size(), size);
    header[kTarType.begin] = type;
    header.replace(kTarMagic.begin, 8, std::string_view("ustar\00000", 8));
    text_ += WithChecksum(header);
    return *this;
  }
  // Appends bytes, padded.
  TarFile& AddData(std::string_view data) {
    text_ += data;
    text_.resize((text_.size() + kTarBlockBytes - 1) / kTarBlockBytes *
                 kTarBlockBytes);
    return *this;
  }
  // Appends a member.
  TarFile& Add(std::string_view name, std::string_view data, char type = '0') {
    return AddHeader(name, Octal(data.size()), type).AddData(data);
  }
  // Appends a hard ('1') or a symbolic link ('2').
  TarFile& AddLink(std::string_view name, std::string_view target, char type) {
    AddHeader(name, Octal(0), type);
    const std::size_t begin = text_.size() - kTarBlockBytes;
    std::string header = text_.substr(begin);
    header.replace(kTarLink.begin, target.size(), target);
    header.replace(kTarChecksum.begin, kTarChecksum.bytes, 8, ' ');
    text_.replace(begin, kTarBlockBytes, WithChecksum(header));
    return *this;
  }
  TarFile& End() {
    text_.append(2 * kTarBlockBytes, '\0');
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

  // A header with its checksum made right.
  static std::string WithChecksum(std::string header) {
    const std::string sum =
        Octal(static_cast<std::size_t>(TarChecksum(AsBytes(header))));
    header.replace(kTarChecksum.begin, 8, sum.substr(5) + std::string(2, 0));
    return header;
  }

 private:
  // Eleven digits.
  static std::string Octal(std::size_t number) {
    char digits[24];
    (void)std::snprintf(digits, sizeof digits, "%011zo", number);
    return digits;
  }

  std::string text_;
};

}  // namespace infeed
