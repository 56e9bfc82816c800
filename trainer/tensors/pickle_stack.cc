#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/tensors/pickle_machine.h"

// The machine's program and stack.
namespace infeed {
namespace {

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kMaxLine = 256;

}  // namespace

void PickleMachine::Fail(const std::string& why) const {
  throw DataError(fmt::format("pickle at byte {}: {}", at_, why));
}

std::span<const std::byte> PickleMachine::Take(std::size_t count) {
  Require(count <= bytes_.size() - place_, "it ends too early");
  const std::span<const std::byte> taken = bytes_.subspan(place_, count);
  place_ += count;
  return taken;
}

std::uint64_t PickleMachine::TakeUnsigned(std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, Take(bytes).data(), bytes);
  return value;
}

std::string PickleMachine::TakeText(std::size_t count) {
  const std::span<const std::byte> text = Take(count);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::string PickleMachine::TakeLine() {
  std::string line;
  while (true) {
    const char c = static_cast<char>(TakeUnsigned(1));
    if (c == '\n') {
      return line;
    }
    Require(line.size() < kMaxLine, "a name is too long");
    line += c;
  }
}

// So many bytes of two's complement.
std::int64_t PickleMachine::TakeLong() {
  const std::size_t count = TakeUnsigned(1);
  Require(count <= sizeof(std::int64_t), "a number is too large");
  if (count == 0) {
    return 0;
  }
  const std::size_t unused = 8 * (sizeof(std::int64_t) - count);
  return static_cast<std::int64_t>(TakeUnsigned(count) << unused) >> unused;
}

PickleNode& PickleMachine::New(Kind kind) {
  Require(nodes_.size() < kMaxNodes, "it holds too much for weights");
  return nodes_.emplace_back(PickleNode{.kind = kind});
}

void PickleMachine::PushInt(std::int64_t value) {
  PickleNode& node = New(Kind::kInt);
  node.number = value;
  Push(node);
}

void PickleMachine::PushText(Kind kind, std::string text) {
  PickleNode& node = New(kind);
  node.text = std::move(text);
  Push(node);
}

PickleNode& PickleMachine::Top() {
  Require(!stack_.empty() && stack_.back() != nullptr, "a value is missing");
  return *stack_.back();
}

PickleNode* PickleMachine::Pop() {
  PickleNode* const top = &Top();
  stack_.pop_back();
  return top;
}

PickleNode::Items PickleMachine::PopItems(std::size_t count) {
  Items items(count);
  for (std::size_t i = count; i-- > 0;) {
    items[i] = Pop();
  }
  return items;
}

PickleNode::Items PickleMachine::PopToMark() {
  const auto mark = std::find(stack_.rbegin(), stack_.rend(), nullptr).base();
  Require(mark != stack_.begin(), "a mark is missing");
  Items items(mark, stack_.end());
  stack_.erase(std::prev(mark), stack_.end());
  return items;
}

void PickleMachine::PushTuple(Items items) {
  PickleNode& tuple = New(Kind::kTuple);
  tuple.items = std::move(items);
  Push(tuple);
}

void PickleMachine::AddItems(const Items& items) {
  PickleNode& list = Top();
  Require(list.kind == Kind::kList, "a value is put into no list");
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void PickleMachine::AddEntries(const Items& items) {
  PickleNode& dict = Top();
  Require(dict.kind == Kind::kDict && items.size() % 2 == 0,
          "an entry is put into no dictionary");
  for (std::size_t i = 0; i < items.size(); i += 2) {
    dict.entries.emplace_back(items[i], items[i + 1]);
  }
}

void PickleMachine::Remember(std::uint64_t key) { memo_[key] = &Top(); }

void PickleMachine::Recall(std::uint64_t key) {
  const auto found = memo_.find(key);
  Require(found != memo_.end(), "a value is recalled that was not kept");
  stack_.push_back(found->second);
}

}  // namespace infeed
