// Certificates as a judge would write them, for tasks that build and run in a moment.
#pragma once

#include <string>
#include <vector>

#include "common/model/certificate.hpp"
#include "support/small_task.hpp"

namespace kernelpro::testing {

inline ShapeTiming quick_timing(const Axes& shape) {
  ShapeTiming timing;
  timing.shape = shape;
  timing.calls = 3;
  timing.candidate_rounds = {1000, 1100};
  timing.incumbent_rounds = {2000, 2200};
  timing.candidate_ns = 1050;
  timing.incumbent_ns = 2100;
  timing.speedup = 2;
  timing.speedup_interval = {1.9, 2.1};
  timing.share_of_bound = 0.5;
  timing.bound_by = "memory";
  return timing;
}

// `source` passed against the baseline of `task`, timed at the task's shapes.
inline Certificate passed_certificate(const Task& task, const std::string& source) {
  Certificate certificate;
  certificate.program_version = "0.1.0";
  certificate.date = "2024-02-29T12:00:00Z";
  certificate.task = task;
  certificate.candidate = small_candidate(source);
  certificate.candidate.name = "quick";
  certificate.incumbent.name = task.baselines.front().name;
  certificate.incumbent.source = task.files.at(task.baselines.front().file);
  certificate.build.compiler = KERNELPRO_CXX;
  certificate.build.compiler_identity = "the tests' compiler 1.2.3";
  certificate.build.flags = {"-std=c++20",          "-O1",        "-shared",    "-fPIC",
                             "-fvisibility=hidden", "-Wl,-z,now", "-Wl,-z,defs"};
  certificate.incumbent_build = certificate.build;
  certificate.machine.processor = "Some CPU";
  certificate.machine.architecture = "aarch64";
  certificate.machine.cores = 2;
  certificate.machine.cache_bytes = 1 << 20;
  certificate.verdict.outcome = Outcome::passed;
  certificate.verdict.summary = "correct and 2.00 times as fast as the baseline";
  for (const Axes& shape : task.timed_shapes) {
    certificate.verdict.timing.shapes.push_back(quick_timing(shape));
  }
  certificate.verdict.timing.speedup = 2;
  certificate.verdict.timing.speedup_interval = {1.9, 2.1};
  certificate.verdict.timing.comparison = Comparison::faster;
  return certificate;
}

}  // namespace kernelpro::testing
