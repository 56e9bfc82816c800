#pragma once

#include <string>

namespace infeed {

// This machine's own numeric address on the route to a host: the ranks there
// can reach it at this address. Nothing is sent. Throws IoError when the name
// is not known or there is no route.
[[nodiscard]] std::string AddressTowards(const std::string& host);

// Whether only this machine can reach the address: "127.0.0.1", "127.0.1.1",
// "::1".
[[nodiscard]] bool IsLoopback(const std::string& address);

}  // namespace infeed
