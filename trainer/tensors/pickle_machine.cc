#include "trainer/tensors/pickle_machine.h"

#include <string>

#include <fmt/format.h>

namespace infeed {
namespace {

constexpr std::uint8_t kNewestProtocol = 5;

// Instructions, by the names that Python's pickletools gives them.
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

}  // namespace

const PickleNode* PickleMachine::Run() {
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

bool PickleMachine::Step(std::uint8_t code) {
  if (code == kStop) {
    return false;
  }
  if (code == kProto) {
    Require(TakeUnsigned(1) <= kNewestProtocol, "the protocol is unknown");
  } else if (code == kFrame) {
    (void)TakeUnsigned(8);  // Says how much may be read at once.
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

bool PickleMachine::PushValue(std::uint8_t code) {
  switch (code) {
    case kNone:
      Push(New(Kind::kNone));
      return true;
    case kNewTrue:
    case kNewFalse:
      New(Kind::kBool).number = code == kNewTrue ? 1 : 0;
      Push(nodes_.back());
      return true;
    case kBinInt:
      PushInt(static_cast<std::int32_t>(TakeUnsigned(4)));
      return true;
    case kBinInt1:
      PushInt(static_cast<std::int64_t>(TakeUnsigned(1)));
      return true;
    case kBinInt2:
      PushInt(static_cast<std::int64_t>(TakeUnsigned(2)));
      return true;
    case kLong1:
      PushInt(TakeLong());
      return true;
    case kBinFloat:  // Of no use among weights.
      (void)TakeUnsigned(8);
      Push(New(Kind::kFloat));
      return true;
    case kBinUnicode:
      PushText(Kind::kString, TakeText(TakeUnsigned(4)));
      return true;
    case kShortBinUnicode:
      PushText(Kind::kString, TakeText(TakeUnsigned(1)));
      return true;
    case kGlobal: {
      const std::string module = TakeLine();
      PushGlobal(module, TakeLine());
      return true;
    }
    case kStackGlobal: {
      const Items names = PopItems(2);
      Require(
          names[0]->kind == Kind::kString && names[1]->kind == Kind::kString,
          "a name is not text");
      PushGlobal(names[0]->text, names[1]->text);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::BuildContainer(std::uint8_t code) {
  switch (code) {
    case kMark:
      stack_.push_back(nullptr);
      return true;
    case kEmptyTuple:
      Push(New(Kind::kTuple));
      return true;
    case kEmptyList:
      Push(New(Kind::kList));
      return true;
    case kEmptyDict:
      Push(New(Kind::kDict));
      return true;
    case kTuple:
      PushTuple(PopToMark());
      return true;
    case kAppend:
      AddItems(PopItems(1));
      return true;
    case kAppends:
      AddItems(PopToMark());
      return true;
    case kSetItem:
      AddEntries(PopItems(2));
      return true;
    case kSetItems:
      AddEntries(PopToMark());
      return true;
    default:
      if (code < kTuple1 || code > kTuple3) {
        return false;
      }
      PushTuple(PopItems(code - kTuple1 + std::size_t{1}));
      return true;
  }
}

bool PickleMachine::UseMemo(std::uint8_t code) {
  switch (code) {
    case kBinPut:
      Remember(TakeUnsigned(1));
      return true;
    case kLongBinPut:
      Remember(TakeUnsigned(4));
      return true;
    case kMemoize:
      Remember(memo_.size());
      return true;
    case kBinGet:
      Recall(TakeUnsigned(1));
      return true;
    case kLongBinGet:
      Recall(TakeUnsigned(4));
      return true;
    default:
      return false;
  }
}

}  // namespace infeed
