#pragma once

#include <string>

namespace infeed {

// This machine's own address, in digits, on the way to a host: what the ranks
// there can reach it by. Nothing is sent. Throws IoError when the name is not
// known or there is no way.
[[nodiscard]] std::string AddressTowards(const std::string& host);

// "127.0.0.1", "127.0.1.1", "::1": reached from this machine alone.
[[nodiscard]] bool IsLoopback(const std::string& address);

}  // namespace infeed
