#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/tensors/pickle_machine.h"

// What the machine makes of names and calls.
namespace infeed {
namespace {

constexpr std::size_t kMaxRank = 16;
constexpr std::string_view kOrderedDict = "collections OrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter =
    "torch._utils _rebuild_parameter";

constexpr std::pair<std::string_view, StoredType> kStorages[] = {
    {"torch FloatStorage", StoredType::kFloat32},
    {"torch HalfStorage", StoredType::kFloat16},
    {"torch BFloat16Storage", StoredType::kBfloat16},
    {"torch DoubleStorage", StoredType::kFloat64},
    {"torch LongStorage", StoredType::kInt64},
};

constexpr auto kTypeName = &std::pair<std::string_view, StoredType>::first;

bool IsAllowed(std::string_view name) {
  return name == kOrderedDict || name == kRebuildTensor ||
         name == kRebuildParameter ||
         std::ranges::find(kStorages, name, kTypeName) != std::end(kStorages);
}

}  // namespace

void PickleMachine::PushGlobal(const std::string& module,
                               const std::string& name) {
  std::string global = module + " " + name;
  if (!IsAllowed(global)) {
    Fail(fmt::format(
        "holds a '{}.{}', which is not plain weights: save a state_dict() "
        "alone",
        module, name));
  }
  PushText(Kind::kGlobal, std::move(global));
}

// A call: of what is known, its result is made without one.
void PickleMachine::Reduce() {
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

// The arguments: storage, first element, shape, strides; the rest is about
// gradients.
PickleNode& PickleMachine::Rebuild(const Items& arguments) {
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
void PickleMachine::PushStorage() {
  const Items ids = PopItems(1);
  const Items& id = ids[0]->items;
  Require(ids[0]->kind == Kind::kTuple && id.size() == 5 &&
              id[0]->text == "storage" && id[1]->kind == Kind::kGlobal &&
              id[2]->kind == Kind::kString && id[4]->kind == Kind::kInt &&
              id[4]->number >= 0,
          "a persistent id is not that of a storage");
  const auto* const type =
      std::ranges::find(kStorages, std::string_view(id[1]->text), kTypeName);
  Require(type != std::end(kStorages), "a storage has no type");
  PickleNode& storage = New(Kind::kStorage);
  storage.type = type->second;
  storage.text = id[2]->text;
  storage.number = id[4]->number;
  Push(storage);
}

// What BUILD gives an object beside its items: a state_dict's versions.
void PickleMachine::IgnoreState() {
  (void)PopItems(1);
  Require(Top().kind == Kind::kDict, "a state is given to no dictionary");
}

}  // namespace infeed
