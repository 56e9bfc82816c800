#include "trainer/formats/pickle.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/choices.h"
#include "base/error.h"

namespace infeed {
namespace {

constexpr std::uint8_t kNewestProtocol = 5;

// Opcodes, with the names of Python's pickletools.
enum Code : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyList = ']',
  kEmptyDict = '}',
  kEmptyTuple = ')',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kShortBinUnicode = 0x8C,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kMaxLine = 256;
constexpr std::string_view kOrderedDict = "collections OrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter =
    "torch._utils _rebuild_parameter";

constexpr Choices<StoredType, 5> kStorages = {
    {{"torch FloatStorage", StoredType::kFloat32},
     {"torch HalfStorage", StoredType::kFloat16},
     {"torch BFloat16Storage", StoredType::kBfloat16},
     {"torch DoubleStorage", StoredType::kFloat64},
     {"torch LongStorage", StoredType::kInt64}}};

bool IsAllowed(std::string_view name) {
  return name == kOrderedDict || name == kRebuildTensor ||
         name == kRebuildParameter || FindChoice(name, kStorages) != nullptr;
}

// A pickle is a program for this stack machine; pickle.h lists what is
// supported. Adds every node to `nodes`, which must outlive it. Throws
// DataError, with the offset, for an instruction that is unknown or does not
// fit the stack.
class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, std::deque<PickleNode>& nodes)
      : bytes_(bytes), nodes_(nodes) {}

  // Runs to the end. Requires: called once.
  [[nodiscard]] const PickleNode* Run() {
    while (true) {
      at_ = place_;
      if (!Step(static_cast<std::uint8_t>(TakeUnsigned(1)))) {
        break;
      }
    }
    Require(stack_.size() == 1 && stack_[0] != nullptr,
            "the end is not after one value");
    return stack_[0];
  }

 private:
  using Kind = PickleNode::Kind;
  using Items = PickleNode::Items;

  // Runs one instruction; false after the last.
  bool Step(std::uint8_t code) {
    if (code == kStop) {
      return false;
    }
    if (code == kProto) {
      Require(TakeUnsigned(1) <= kNewestProtocol, "the protocol is unknown");
    } else if (code == kFrame) {
      (void)TakeUnsigned(8);  // The frame's length, a hint for buffering.
    } else if (code == kReduce) {
      Reduce();
    } else if (code == kBuild) {
      IgnoreState();
    } else if (code == kBinPersId) {
      PushStorage();
    } else if (!PushValue(code) && !BuildContainer(code) && !UseMemo(code)) {
      Fail(fmt::format("the instruction 0x{:02x} is not one of plain weights",
                       code));
    }
    return true;
  }

  // These three return whether the instruction is one of theirs; what they
  // call for one returns true.
  bool PushValue(std::uint8_t code) {
    switch (code) {
      case kNone:
        return Push(New(Kind::kNone));
      case kNewTrue:
      case kNewFalse:
        New(Kind::kBool).number = code == kNewTrue ? 1 : 0;
        return Push(nodes_.back());
      case kBinInt:
        return PushInt(static_cast<std::int32_t>(TakeUnsigned(4)));
      case kBinInt1:
        return PushInt(static_cast<std::int64_t>(TakeUnsigned(1)));
      case kBinInt2:
        return PushInt(static_cast<std::int64_t>(TakeUnsigned(2)));
      case kLong1:
        return PushInt(TakeLong());
      case kBinFloat:  // Not used for weights.
        (void)TakeUnsigned(8);
        return Push(New(Kind::kFloat));
      case kBinUnicode:
        return PushText(Kind::kString, TakeText(TakeUnsigned(4)));
      case kShortBinUnicode:
        return PushText(Kind::kString, TakeText(TakeUnsigned(1)));
      case kGlobal: {
        const std::string module = TakeLine();
        return PushGlobal(module, TakeLine());
      }
      case kStackGlobal: {
        const Items names = PopItems(2);
        Require(
            names[0]->kind == Kind::kString && names[1]->kind == Kind::kString,
            "a name is not text");
        return PushGlobal(names[0]->text, names[1]->text);
      }
      default:
        return false;
    }
  }

  bool BuildContainer(std::uint8_t code) {
    switch (code) {
      case kMark:
        stack_.push_back(nullptr);
        return true;
      case kEmptyTuple:
        return Push(New(Kind::kTuple));
      case kEmptyList:
        return Push(New(Kind::kList));
      case kEmptyDict:
        return Push(New(Kind::kDict));
      case kTuple:
        return PushTuple(PopToMark());
      case kAppend:
        return AddItems(PopItems(1));
      case kAppends:
        return AddItems(PopToMark());
      case kSetItem:
        return AddEntries(PopItems(2));
      case kSetItems:
        return AddEntries(PopToMark());
      default:
        if (code < kTuple1 || code > kTuple3) {
          return false;
        }
        return PushTuple(PopItems(code - kTuple1 + std::size_t{1}));
    }
  }

  bool UseMemo(std::uint8_t code) {
    switch (code) {
      case kBinPut:
        return Remember(TakeUnsigned(1));
      case kLongBinPut:
        return Remember(TakeUnsigned(4));
      case kMemoize:
        return Remember(memo_.size());
      case kBinGet:
        return Recall(TakeUnsigned(1));
      case kLongBinGet:
        return Recall(TakeUnsigned(4));
      default:
        return false;
    }
  }

  // Reading the program's bytes.
  std::span<const std::byte> Take(std::size_t count) {
    Require(count <= bytes_.size() - place_, "it ends too early");
    const std::span<const std::byte> taken = bytes_.subspan(place_, count);
    place_ += count;
    return taken;
  }

  std::uint64_t TakeUnsigned(std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, Take(bytes).data(), bytes);
    return value;
  }

  std::string TakeText(std::size_t count) {
    const std::span<const std::byte> text = Take(count);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  std::string TakeLine() {
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

  // An integer of so many bytes, in two's complement.
  std::int64_t TakeLong() {
    const std::size_t count = TakeUnsigned(1);
    Require(count <= sizeof(std::int64_t), "a number is too large");
    if (count == 0) {
      return 0;
    }
    const std::size_t unused = 8 * (sizeof(std::int64_t) - count);
    return static_cast<std::int64_t>(TakeUnsigned(count) << unused) >> unused;
  }

  // The stack.
  PickleNode& New(Kind kind) {
    Require(nodes_.size() < kMaxNodes, "it holds too much for weights");
    return nodes_.emplace_back(PickleNode{.kind = kind});
  }

  bool Push(PickleNode& node) {
    stack_.push_back(&node);
    return true;
  }

  bool PushInt(std::int64_t value) {
    PickleNode& node = New(Kind::kInt);
    node.number = value;
    return Push(node);
  }

  bool PushText(Kind kind, std::string text) {
    PickleNode& node = New(kind);
    node.text = std::move(text);
    return Push(node);
  }

  PickleNode& Top() {
    Require(!stack_.empty() && stack_.back() != nullptr, "a value is missing");
    return *stack_.back();
  }

  PickleNode* Pop() {
    PickleNode* const top = &Top();
    stack_.pop_back();
    return top;
  }

  Items PopItems(std::size_t count) {
    Items items(count);
    for (std::size_t i = count; i-- > 0;) {
      items[i] = Pop();
    }
    return items;
  }

  Items PopToMark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), nullptr).base();
    Require(mark != stack_.begin(), "a mark is missing");
    Items items(mark, stack_.end());
    stack_.erase(std::prev(mark), stack_.end());
    return items;
  }

  bool PushTuple(Items items) {
    PickleNode& tuple = New(Kind::kTuple);
    tuple.items = std::move(items);
    return Push(tuple);
  }

  bool AddItems(const Items& items) {
    PickleNode& list = Top();
    Require(list.kind == Kind::kList, "a value is put into no list");
    list.items.insert(list.items.end(), items.begin(), items.end());
    return true;
  }

  bool AddEntries(const Items& items) {
    PickleNode& dict = Top();
    Require(dict.kind == Kind::kDict && items.size() % 2 == 0,
            "an entry is put into no dictionary");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict.entries.emplace_back(items[i], items[i + 1]);
    }
    return true;
  }

  bool Remember(std::uint64_t key) {
    memo_[key] = &Top();
    return true;
  }

  bool Recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    Require(found != memo_.end(), "a value is recalled that was not kept");
    return Push(*found->second);
  }

  // Global names and calls, which are never executed.
  bool PushGlobal(const std::string& module, const std::string& name) {
    std::string global = module + " " + name;
    if (!IsAllowed(global)) {
      Fail(fmt::format(
          "holds a '{}.{}', which is not plain weights: save a state_dict() "
          "alone",
          module, name));
    }
    return PushText(Kind::kGlobal, std::move(global));
  }

  // A call. The results of known functions are built here, without calling
  // them.
  void Reduce() {
    const Items call = PopItems(2);
    Require(call[0]->kind == Kind::kGlobal && call[1]->kind == Kind::kTuple,
            "a call is not of a name with a tuple");
    const std::string& name = call[0]->text;
    const Items& arguments = call[1]->items;
    if (name == kOrderedDict) {
      Require(arguments.empty(), "an OrderedDict does not begin empty");
      Push(New(Kind::kDict));
    } else if (name == kRebuildTensor) {
      Push(Rebuild(arguments));
    } else if (name == kRebuildParameter) {
      Require(!arguments.empty() && arguments[0]->kind == Kind::kTensor,
              "a parameter is not a tensor");
      stack_.push_back(const_cast<PickleNode*>(arguments[0]));
    } else {
      Fail("a storage is called");
    }
  }

  // The arguments: storage, first element, shape, strides; the rest concerns
  // gradients.
  PickleNode& Rebuild(const Items& arguments) {
    Require(arguments.size() >= 4 && arguments[0]->kind == Kind::kStorage &&
                arguments[1]->kind == Kind::kInt &&
                arguments[2]->kind == Kind::kTuple &&
                arguments[3]->kind == Kind::kTuple &&
                arguments[2]->items.size() == arguments[3]->items.size() &&
                arguments[2]->items.size() <= kMaxRank,
            "a tensor is not storage, place, shape and strides");
    const auto numbers = [&](const Items& items) {
      std::vector<std::int64_t> values;
      for (const PickleNode* item : items) {
        Require(item->kind == Kind::kInt && item->number >= 0,
                "a shape or a stride is not a number");
        values.push_back(item->number);
      }
      return values;
    };
    PickleNode& tensor = New(Kind::kTensor);
    tensor.storage = arguments[0];
    tensor.number = arguments[1]->number;
    tensor.shape = numbers(arguments[2]->items);
    tensor.strides = numbers(arguments[3]->items);
    return tensor;
  }

  // ("storage", type, key, device, elements)
  void PushStorage() {
    const Items ids = PopItems(1);
    const Items& id = ids[0]->items;
    Require(ids[0]->kind == Kind::kTuple && id.size() == 5 &&
                id[0]->text == "storage" && id[1]->kind == Kind::kGlobal &&
                id[2]->kind == Kind::kString && id[4]->kind == Kind::kInt &&
                id[4]->number >= 0,
            "a persistent id is not that of a storage");
    const StoredType* const type = FindChoice(id[1]->text, kStorages);
    Require(type != nullptr, "a storage has no type");
    PickleNode& storage = New(Kind::kStorage);
    storage.type = *type;
    storage.text = id[2]->text;
    storage.number = id[4]->number;
    Push(storage);
  }

  // The state that BUILD gives an object, such as a state_dict's versions.
  void IgnoreState() {
    (void)PopItems(1);
    Require(Top().kind == Kind::kDict, "a state is given to no dictionary");
  }

  [[noreturn]] void Fail(const std::string& why) const {
    throw DataError(fmt::format("pickle at byte {}: {}", at_, why));
  }

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

}  // namespace

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
