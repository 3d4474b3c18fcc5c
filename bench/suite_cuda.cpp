// What `kernelpro optimize --backend cuda` reaches on the bundled tasks on this machine's GPU (see
// suite.hpp).
//
//   cmake --build --preset release &&
//   build/release/bin/suite_cuda --evaluations 12 --from-candidates --into
//   bench/results/h200/suite_cuda.json
//
// About 20 minutes for all tasks.
#include "suite.hpp"

int main(int argc, char** argv) {
  return kernelpro::run_suite({"cuda", ".cu", {"--tier", "build"}}, argc, argv);
}
