// What `kernelpro optimize` reaches on the bundled tasks, for one backend.
//
// For each task three things by the same judge: the best of the build alone (compilers, flags and,
// on a CPU, one parallel loop); a whole run; and the library. With --searches the whole run is
// repeated by other searches at the same number of evaluations, and with --from-candidates once
// more from the candidates that lie beside the task.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

struct SuiteBackend {
  std::string name;
  std::string extension;                // of its sources
  std::vector<std::string> build_only;  // what `optimize` is told for the build alone
};

// Parses the command line, measures, and keeps the JSON value in the file that --into names after
// each task: a suite that was cut short goes on there. Returns the exit code.
int run_suite(const SuiteBackend& backend, int argc, char** argv);

}  // namespace kernelpro
