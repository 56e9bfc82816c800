# What the guides of docs/guides tell their readers to do, in the short form.
foreach(guide resnet50_tpu xla_jl x10 pytorch_xla)
  add_test(NAME guides.${guide}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/docs/guides/replay
            ${guide} --short
            --programs ${PROJECT_BINARY_DIR}/bin
            --out ${CMAKE_CURRENT_BINARY_DIR}/guides)
  set_tests_properties(guides.${guide} PROPERTIES
    LABELS end_to_end TIMEOUT 900)
endforeach()
