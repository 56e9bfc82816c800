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
  ImagenetExample example;
  example.width = flower.width;
  example.height = flower.height;
  example.label = flower.label;
  example.synset = flower.synset;
  example.text = flower.text;
  example.filename = flower.filename;
  example.encoded = flower.image;
  return BuildImagenetExample(example);
}

}  // namespace infeed
