#include "base/shown_text.h"

#include <algorithm>
#include <cstdint>

namespace infeed {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kUrlEnds = " \t\r\n\"'";

unsigned ByteOf(char c) { return static_cast<unsigned char>(c); }

std::string Hex(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 0xF]};
}

bool IsControlByte(char c) { return ByteOf(c) < 0x20 || ByteOf(c) == 0x7F; }

// C1, in UTF-8: U+0080 to U+009F.
bool IsControlPair(std::string_view character) {
  return character.size() == 2 && ByteOf(character[0]) == 0xC2 &&
         ByteOf(character[1]) < 0xA0;
}

void AppendShown(std::string_view character, std::string& shown) {
  if (!IsControlByte(character[0]) && !IsControlPair(character)) {
    shown += character;
    return;
  }
  for (const char c : character) {
    shown += "\\x" + Hex(ByteOf(c));
  }
}

std::string WithoutControl(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = Utf8CharacterBytes(text);
    if (bytes == 0) {
      shown += "\\x" + Hex(ByteOf(text[0]));
    } else {
      AppendShown(text.substr(0, bytes), shown);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

bool IsSchemeChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

bool IsSame(std::string_view lower, std::string_view text) {
  return std::equal(lower.begin(), lower.end(), text.begin(), text.end(),
                    [](char a, char b) {
                      return a == b || (IsSchemeChar(b) && a == (b | 0x20));
                    });
}

// Whether the URL is of a bucket, in which a "?" is part of the key.
bool IsBucketUrl(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':'));
  return IsSame("s3", scheme) || IsSame("gs", scheme);
}

bool IsKnown(std::string_view scheme) {
  return IsSame("s3", scheme) || IsSame("gs", scheme) ||
         IsSame("http", scheme) || IsSame("https", scheme);
}

// Whether the URL has a query that UrlForMessages() omits.
bool HasQuery(std::string_view url) {
  return !IsBucketUrl(url) && url.find_first_of("?#") != std::string_view::npos;
}

// Where the URL begins whose ':' stands at a place.
std::size_t StartOfUrl(std::string_view text, std::size_t separator) {
  std::size_t start = separator;
  while (start > 0 && IsSchemeChar(text[start - 1])) {
    --start;
  }
  return start;
}

// The ':' of the next URL. A path may have taken slashes off, or a user may
// have forgotten them: "s3:/BUCKET".
std::size_t FindSeparator(std::string_view text, std::size_t from) {
  std::size_t at = text.find(':', from);
  for (; at != kNone; at = text.find(':', at + 1)) {
    const std::size_t start = std::max(from, StartOfUrl(text, at));
    const std::string_view scheme = text.substr(start, at - start);
    if (text.substr(at).starts_with(kSchemeEnd) || IsKnown(scheme)) {
      break;
    }
  }
  return at;
}

// The first byte behind "://".
std::size_t EndOfScheme(std::string_view url, std::size_t separator) {
  return std::min(url.find_first_not_of('/', separator + 1), url.size());
}

// Whether a ':' that begins no port is in front of the path.
bool HasPassword(std::string_view rest) {
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t colon = host.starts_with('[') ? kNone : host.find(':');
  return colon != kNone &&
         host.find_first_not_of("0123456789", colon + 1) != kNone;
}

// Where a URL in text ends: at a blank or a quote that is no part of its
// password, or where the next URL begins, unless that is part of its query.
std::size_t EndOfUrl(std::string_view text, std::size_t separator) {
  const std::size_t path = EndOfScheme(text, separator);
  const std::size_t next = FindSeparator(text, path);
  const std::size_t next_start =
      next == kNone ? text.size() : std::max(path, StartOfUrl(text, next));
  std::size_t end = std::min(text.find_first_of(kUrlEnds, path), text.size());
  if (HasPassword(text.substr(path, end - path))) {
    const std::size_t most =
        std::min(text.find_first_of(kBlanks, path), next_start);
    const std::size_t at = text.substr(0, most).rfind('@');
    if (at != kNone && at > end) {
      end = std::min(text.find_first_of(kUrlEnds, at), text.size());
    }
  }
  if (next_start >= end) {
    return end;
  }
  const std::size_t start = StartOfUrl(text, separator);
  return HasQuery(text.substr(start, next_start - start)) ? end : next_start;
}

// The bytes of "USER:PASSWORD@" in front of the host or bucket. A password may
// have a '/', a '?' and an '@'.
std::size_t UserInfoBytes(std::string_view rest, bool is_bucket) {
  const bool has_password = HasPassword(rest);
  const std::string_view host = rest.substr(
      0, rest.find_first_of(is_bucket || has_password ? "/" : "/?#"));
  std::size_t at = host.rfind('@');
  if (has_password && (at == kNone || is_bucket)) {
    at = rest.rfind('@');
  }
  return at == kNone ? 0 : at + 1;
}

}  // namespace

std::size_t Utf8CharacterBytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return ByteOf(text[i]); };
  if (at(0) < 0x80) {
    return 1;
  }
  const std::size_t length = at(0) >= 0xF0   ? 4
                             : at(0) >= 0xE0 ? 3
                             : at(0) >= 0xC2 ? 2
                                             : 0;
  if (length == 0 || at(0) > 0xF4 || text.size() < length) {
    return 0;
  }
  std::uint32_t code = at(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at(i) >> 6 != 0b10) {
      return 0;
    }
    code = code << 6 | (at(i) & 0x3FU);
  }
  const bool is_shortest = code >= (length == 4   ? 0x10000U
                                    : length == 3 ? 0x800U
                                                  : 0x80U);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_shortest && !is_surrogate && code <= 0x10FFFF ? length : 0;
}

std::string ShownText(std::string_view text) {
  return WithoutControl(WithoutUrlSecrets(text));
}

std::string ShownLines(std::string_view text) {
  std::string shown;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n')) {
    shown += ShownText(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  return shown + ShownText(text);
}

std::string ShownJson(std::string_view json) {
  std::string shown;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == 0x7F) {
      shown += "\\u007f";
    } else if (IsControlPair(json.substr(i, 2))) {
      shown += "\\u00" + Hex(ByteOf(json[++i]));
    } else {
      shown += json[i];
    }
  }
  return shown;
}

std::string WithoutUrlSecrets(std::string_view text) {
  std::string shown;
  std::size_t done = 0;
  for (std::size_t at = FindSeparator(text, 0); at != kNone;
       at = FindSeparator(text, done)) {
    const std::size_t start = std::max(done, StartOfUrl(text, at));
    const std::string_view url = text.substr(start, EndOfUrl(text, at) - start);
    shown.append(text.substr(done, start - done)).append(UrlForMessages(url));
    shown.append(HasQuery(url) ? "?..." : "");
    done = start + url.size();
  }
  return shown.append(text.substr(done));
}

bool BeginsAsUrl(std::string_view path) {
  const std::size_t colon = path.find(':');
  return colon != kNone && path.substr(colon).starts_with(":/") &&
         IsKnown(path.substr(0, colon));
}

std::string UrlForMessages(std::string_view url) {
  const bool is_bucket = IsBucketUrl(url);
  const std::size_t separator = FindSeparator(url, 0);
  const std::size_t host = separator == kNone ? 0 : EndOfScheme(url, separator);
  std::string shown(url);
  shown.erase(host, UserInfoBytes(url.substr(host), is_bucket));
  return is_bucket ? shown : shown.substr(0, shown.find_first_of("?#"));
}

}  // namespace infeed
