#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Numbers and texts in the payloads of side files
// (records/files/side_file.h).
namespace infeed {

using Numbers = std::vector<std::int64_t>;

// Appends numbers of eight bytes.
void AppendNumbers(std::string& out, std::span<const std::int64_t> numbers);

// Returns a payload of such numbers; nullopt when it has a part of one.
[[nodiscard]] std::optional<Numbers> ParseNumbers(std::string_view payload);

// Appends a text behind its length, a varint.
void AppendSizedText(std::string& out, std::string_view text);

// Reads varints and texts from the front of a payload. After a first fault
// is_good() is false, and only zeros and empty texts are returned.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) : left_(payload) {}

  // A varint.
  [[nodiscard]] std::uint64_t Number();
  // A varint of at most `max`; a larger one is a fault.
  [[nodiscard]] std::int64_t NumberUpTo(std::int64_t max);
  // The number of items that follow, each of at least min_bytes; more than can
  // follow are a fault.
  [[nodiscard]] std::size_t Count(std::size_t min_bytes);
  // A text, which is valid as long as the payload.
  [[nodiscard]] std::string_view Text();

  void Fail();
  [[nodiscard]] bool is_good() const { return is_good_; }
  // Whether all of it was read, without a fault.
  [[nodiscard]] bool IsAtEnd() const { return is_good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace infeed
