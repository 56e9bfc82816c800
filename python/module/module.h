#pragma once

#include <nanobind/nanobind.h>

// infeed._engine, the native module of the package infeed: the parts that no
// other part includes.
namespace infeed::python {

// Adds Index (RecordIndex), index_data(), default_split(), absolute_data(),
// absolute_path(), index_images() and class_names().
void AddIndex(nanobind::module_& module);

// Adds decode_image(), and simd_targets() and use_simd_target().
void AddDecode(nanobind::module_& module);

// Adds Records (random access), Writer, parse_example(), build_example() and
// certificate_file().
void AddRecords(nanobind::module_& module);

// The project's exceptions as Python's: UsageError is a ValueError, DataError
// infeed.DataError, IoError an OSError with its errno, of which Python makes
// FileNotFoundError and the like.
void AddErrors(nanobind::module_& module);

}  // namespace infeed::python
