# Sources and sinks in the cloud, against an object server of the tests' own:
# Python, written apart from the library.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME object_server.self_test
  COMMAND Python3::Interpreter
          ${CMAKE_CURRENT_SOURCE_DIR}/support/object_server.py --self_test)
set_tests_properties(object_server.self_test PROPERTIES LABELS core)
