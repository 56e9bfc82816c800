#include "trainer/tensors/pickle.h"

#include "trainer/tensors/pickle_machine.h"

namespace infeed {

Pickle::Pickle(std::span<const std::byte> bytes)
    : root_(PickleMachine(bytes, nodes_).Run()) {}

const PickleNode* FindEntry(const PickleNode& node, std::string_view key) {
  for (const auto& [name, value] : node.entries) {
    if (name->kind == PickleNode::Kind::kString && name->text == key) {
      return value;
    }
  }
  return nullptr;
}

}  // namespace infeed
