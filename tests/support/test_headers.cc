// Its headers are compiled for all tests: see tests/CMakeLists.txt.
