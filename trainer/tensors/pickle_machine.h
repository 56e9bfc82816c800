#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trainer/tensors/pickle.h"

namespace infeed {

// The stack machine whose program a pickle is; pickle.h says what it knows.
// Puts every node into `nodes`, which must outlive it. Throws DataError, with
// the place, on an instruction that is unknown or does not fit what is there.
class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, std::deque<PickleNode>& nodes)
      : bytes_(bytes), nodes_(nodes) {}

  // Runs to the end. Requires: called once.
  [[nodiscard]] const PickleNode* Run();

 private:
  using Kind = PickleNode::Kind;
  using Items = PickleNode::Items;

  // Runs one instruction; false after the last.
  bool Step(std::uint8_t code);
  bool PushValue(std::uint8_t code);
  bool BuildContainer(std::uint8_t code);
  bool UseMemo(std::uint8_t code);

  // The program's bytes.
  std::span<const std::byte> Take(std::size_t count);
  std::uint64_t TakeUnsigned(std::size_t bytes);
  std::string TakeText(std::size_t count);
  std::string TakeLine();
  std::int64_t TakeLong();

  // The stack.
  PickleNode& New(Kind kind);
  void Push(PickleNode& node) { stack_.push_back(&node); }
  void PushInt(std::int64_t value);
  void PushText(Kind kind, std::string text);
  PickleNode* Pop();
  PickleNode& Top();
  Items PopToMark();
  Items PopItems(std::size_t count);
  void PushTuple(Items items);
  void AddItems(const Items& items);
  void AddEntries(const Items& items);
  void Remember(std::uint64_t key);
  void Recall(std::uint64_t key);

  // What stands for a call.
  void PushGlobal(const std::string& module, const std::string& name);
  void Reduce();
  PickleNode& Rebuild(const Items& arguments);
  void PushStorage();
  void IgnoreState();

  [[noreturn]] void Fail(const std::string& why) const;
  void Require(bool condition, const char* why) const {
    if (!condition) {
      Fail(why);
    }
  }

  std::span<const std::byte> bytes_;
  std::size_t place_ = 0;  // of the next byte
  std::size_t at_ = 0;     // of the instruction
  std::deque<PickleNode>& nodes_;
  std::vector<PickleNode*> stack_;  // nullptr: a mark
  std::map<std::uint64_t, PickleNode*> memo_;
};

}  // namespace infeed
