#pragma once

#include <string>

#include "records/example/imagenet_example.h"

namespace infeed {

// The content of a flower's record.
struct Flower {
  std::string image;
  int label = 1;
  std::string filename = {};
  std::string text = {};
  std::string synset = {};
  int width = 0;
  int height = 0;
};

// The payload of its record.
inline std::string PayloadOf(const Flower& flower) {
  return BuildImagenetExample({.height = flower.height,
                               .width = flower.width,
                               .label = flower.label,
                               .synset = flower.synset,
                               .text = flower.text,
                               .filename = flower.filename,
                               .encoded = flower.image});
}

}  // namespace infeed
