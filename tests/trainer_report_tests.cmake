infeed_test(trainer_report_test
  SOURCES
    html_page_test.cc
    line_chart_test.cc
    profiler_test.cc
    progress_test.cc
    report_page_test.cc
    run_clock_test.cc
    run_history_test.cc
    summary_writer_test.cc
    svg_chart_test.cc
    svg_parts_test.cc
    train_verdict_test.cc
  LIBRARIES infeed::charts infeed::trainer_report infeed::records
            nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests trainer_report_test)
add_dependencies(tsan_tests trainer_report_test)

# Not under TSan: OpenCV loads GDAL, whose locks it reports.
infeed_test(pictures_test
  SOURCES
    eval_log_test.cc
    pictures_test.cc
    prediction_page_test.cc
    report_classes_test.cc
    train_log_test.cc
  LIBRARIES infeed::trainer_report infeed::preprocess
            nlohmann_json::nlohmann_json
  LABELS core)
target_compile_definitions(pictures_test PRIVATE
  INFEED_INTEROP="${CMAKE_CURRENT_SOURCE_DIR}/interop")
add_dependencies(core_tests pictures_test)
