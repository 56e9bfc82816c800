#pragma once

#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "pipeline/options/options.h"
#include "pipeline/order/selection.h"
#include "pipeline/remote/rpc.h"
#include "records/example/fields.h"

namespace infeed::python {

// The options with the values of a dictionary, by the names of
// pipeline/options/input_table.h; None: not given. Throws UsageError for an
// unknown name and a value that is not valid.
[[nodiscard]] InputOptions ReadOptions(const nanobind::dict& given);

// The fields of a dictionary: key -> (type, shape or None, pad's bytes,
// absent's bytes or None, whether raw); type: a name of kItemTypes, or "bytes".
[[nodiscard]] std::vector<FieldSpec> ReadFieldSpecs(
    const nanobind::dict& given);

// (keys of boxes, format, whether normalised, keys of lists, min_size,
// min_area, min_visible, keep), or None. The lists are those of the fields, or
// known ones.
[[nodiscard]] ObjectsSpec ReadObjects(const nanobind::object& given,
                                      const std::vector<FieldSpec>& fields);

// Appends the options' views after the first one, a dictionary each: the
// settings that MakeView() takes. Throws UsageError that names the view's
// number. Requires: the options are set.
void AddViews(const nanobind::list& given, InputOptions& options);

// (certificate, key, authority's certificate), each a path's bytes; empty: no
// TLS.
[[nodiscard]] TlsFiles ReadTlsFiles(const nanobind::tuple& given);

// The selection of a tuple: record numbers as an array of uint32, their weights
// as an array of float64 or None, and the places of an epoch. None gives null:
// each record once.
[[nodiscard]] std::shared_ptr<const Selection> ReadSelection(
    const nanobind::object& selection);

// Adds option_table(), objects_preset() and object_list_type().
void AddOptions(nanobind::module_& module);

}  // namespace infeed::python
