// What the tests on a GPU found: a table at the end, and JSON in the file that KERNELPRO_GPU_REPORT
// names.
#pragma once

#include <map>
#include <string>

#include "common/model/verdict.hpp"
#include "gpu/gpu_candidate.hpp"

namespace kernelpro {

struct GpuFinding {
  GpuCandidate candidate;
  Verdict verdict;
  double seconds = 0;  // from source to verdict, the build included where it was not cached
  bool met = false;
};

// Collects over the whole program; the last finding on a candidate counts.
class GpuReport {
 public:
  void set_gpu(const std::string& name, int driver_version);
  void add(GpuFinding finding);
  // A figure by name, in seconds.
  void add_figure(const std::string& name, double seconds);

  void print() const;
  // Keeps what an earlier program wrote there on other candidates and figures.
  [[nodiscard]] Status write(const std::string& file) const;

 private:
  std::string gpu_;
  int driver_version_ = 0;
  std::map<std::pair<int, std::string>, GpuFinding> findings_;  // by number and file
  std::map<std::string, double> figures_;
};

[[nodiscard]] GpuReport& gpu_report();

}  // namespace kernelpro
