// What `kernelpro optimize` reaches on the bundled tasks on this machine's CPU (see suite.hpp).
//
//   cmake --build --preset release &&
//   build/release/bin/suite_cpu --into bench/results/suite_cpu-NAME.json
//
// Needs a quiet machine; about 40 minutes for all tasks.
#include "suite.hpp"

int main(int argc, char** argv) {
  return kernelpro::run_suite({"cpu", ".cpp", {"--tier", "build", "--move", "parallel"}}, argc,
                              argv);
}
