#pragma once

#include <string>

namespace infeed {

// The message of the Error that a call throws; "" when it throws none. Any
// other exception goes on to the test.
template <typename Error, typename Call>
std::string MessageOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace infeed
