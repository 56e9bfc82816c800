#pragma once

#include <string_view>
#include <vector>

#include "pipeline/options/objects.h"
#include "records/example/fields.h"

namespace CLI {
class App;
}  // namespace CLI

namespace infeed {

// The field of a text KEY=TYPE[SHAPE],pad=VALUE,absent=VALUE,raw. Without a
// shape the field is ragged; "[]" is one value, "[3,4]" an array; all but the
// type may be left out:
//
//   txt=bytes    score=float32[]    input_ids=int64[224],pad=0
//
// Throws UsageError that names the text.
[[nodiscard]] FieldSpec ParseField(std::string_view text);

// Adds --field, which may be given more than once.
void AddFieldFlag(CLI::App& app, std::vector<FieldSpec>& fields);

// Adds --objects, the name of a preset (ObjectsPreset()).
void AddObjectsFlag(CLI::App& app, ObjectsSpec& objects);

}  // namespace infeed
