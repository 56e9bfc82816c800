# Pages and plots of reports, and progress lines, for every program's.
infeed_library(charts
  SOURCES
    html_page.cc
    line_chart.cc
    progress.cc
    svg_chart.cc
    svg_parts.cc
  HEADERS
    html_page.h
    line_chart.h
    progress.h
    svg_chart.h
    svg_parts.h
  PRIVATE fmt::fmt)

# What a run tells while it lives and when it ends. Free of LibTorch and
# entering no oneTBB, so that every sanitizer covers it.
infeed_library(trainer_report
  SOURCES
    eval_log.cc
    loop_values.cc
    pictures.cc
    prediction_page.cc
    profiler.cc
    report.cc
    report_classes.cc
    report_curves.cc
    report_page.cc
    report_tables.cc
    run_clock.cc
    run_history.cc
    run_log.cc
    summary_writer.cc
    train_log.cc
    train_verdict.cc
  HEADERS
    eval_log.h
    loop_values.h
    pictures.h
    prediction_page.h
    profiler.h
    report.h
    report_classes.h
    report_curves.h
    report_data.h
    report_page.h
    report_tables.h
    run_clock.h
    run_history.h
    run_log.h
    summary_writer.h
    train_log.h
    train_verdict.h
  PUBLIC infeed::pipeline infeed::trainer_state
  PRIVATE infeed::charts infeed::preprocess infeed::records fmt::fmt
          nlohmann_json::nlohmann_json protobuf::libprotobuf)

# Included as "trainer/event.pb.h", by summary_writer.cc alone.
protobuf_generate(TARGET infeed_trainer_report LANGUAGE cpp PROTOS event.proto)
target_include_directories(infeed_trainer_report
  PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
