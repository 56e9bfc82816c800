#pragma once

#include <string>

namespace infeed {

// A finding of --mode doctor.
struct Finding {
  std::string name;    // "open files"
  std::string value;   // "1024"
  std::string advice;  // what to do; empty: no problem
};

}  // namespace infeed
