#pragma once

namespace infeed {

// One callable of several lambdas, for std::visit().
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // for clang 14

}  // namespace infeed
