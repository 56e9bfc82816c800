#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/formats/host_tensor.h"

namespace infeed {

// A value in a pickle of weights. Nodes refer to other nodes of the same
// pickle, which owns them all, so that a node may contain itself.
struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kTuple,
    kList,
    kDict,  // OrderedDict too
    kGlobal,
    kStorage,
    kTensor,
  };
  using Items = std::vector<const PickleNode*>;

  Kind kind = Kind::kNone;
  std::int64_t number = 0;  // kBool, kInt; of kStorage its number of elements;
                            // of kTensor the index of its first element in the
                            // storage
  std::string text = {};    // kString, kGlobal ("torch FloatStorage"); of
                            // kStorage its key
  Items items = {};         // kTuple, kList
  std::vector<std::pair<const PickleNode*, const PickleNode*>> entries = {};
  StoredType type = StoredType::kFloat32;  // kStorage
  const PickleNode* storage = nullptr;     // kTensor
  std::vector<std::int64_t> shape = {};    // kTensor
  std::vector<std::int64_t> strides = {};  // kTensor: as many as dimensions
};

// Reads a pickle as torch.save() writes it: containers, plain values, and
// tensors as views of storages that are stored elsewhere. Nothing in it is ever
// executed. Only these names may be referred to:
//
//   collections OrderedDict
//   torch._utils _rebuild_tensor_v2, _rebuild_parameter
//   torch {Float,Half,BFloat16,Double,Long}Storage
//
// Any other is rejected. The nodes live as long as the object. One thread at a
// time. The constructor throws DataError, with the offset in the pickle, for
// bytes that are not such a pickle, and for more than a million nodes.
class Pickle {
 public:
  explicit Pickle(std::span<const std::byte> bytes);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  [[nodiscard]] const PickleNode& root() const { return *root_; }

 private:
  std::deque<PickleNode> nodes_;
  const PickleNode* root_ = nullptr;
};

// The value of a dictionary's string key; nullptr when there is no such key, or
// when node is not a dictionary.
[[nodiscard]] const PickleNode* FindEntry(const PickleNode& node,
                                          std::string_view key);

}  // namespace infeed
