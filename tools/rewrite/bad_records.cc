#include "tools/rewrite/bad_records.h"

#include <iostream>
#include <string>

namespace infeed {
namespace {

constexpr std::int64_t kNamed = 10;

}  // namespace

void BadRecords::Take(const DataError& error) {
  if (policy_ == Policy::kFail) {
    throw DataError(error.origin(),
                    error.reason() +
                        " (`records repair` saves the good records first; "
                        "--on_bad_record skip leaves bad ones out)");
  }
  const std::int64_t number = count_++;
  if (policy_ == Policy::kSkip && number < kNamed) {
    // Printed as one string, so that lines of several threads do not mix.
    std::cerr << "left out: " + std::string(error.what()) + "\n";
  }
}

}  // namespace infeed
