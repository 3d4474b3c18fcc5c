// Values with every field changed from its default.
#pragma once

#include <limits>

#include "common/model/certificate.hpp"
#include "support/keys.hpp"

namespace kernelpro::testing {

inline Formula formula(const std::string& text) {
  const Result<Formula> parsed = Formula::parse(text);
  return parsed.ok() ? *parsed : Formula();
}

inline Task sample_task() {
  Task task;
  task.name = "nearest";
  task.family = "search";
  task.summary = "Which row is nearest — ünïcode, \"quotes\" and\nlines.";
  task.axes = {{"m", std::nullopt}, {"k", formula("ceil(m/64)")}};
  task.inputs = {{"A",
                  DType::bf16,
                  {formula("m"), formula("2*k")},
                  {ValueKind::csr_columns, -2.5, 7.25, formula("m-1"), "rows"},
                  true,
                  "nothing"}};
  task.outputs = {{"best", DType::i64, {formula("m")}, {}, false, "distances"}};
  task.selections = {{"distances", {formula("m"), formula("k")}, false}};
  task.scalars = {{"alpha", DType::f64, 0.1, 0.3}};
  task.reduction = formula("k");
  task.tolerance = {4.5, 8.5, true, {"bf16", "tf32"}};
  task.work = {formula("2*m*k"), formula("4*(m+k)")};
  task.timed_shapes = {{{"m", 512}}, {{"m", std::int64_t{1} << 40}}};
  task.held_out = {{"m", {3, 700}}};
  task.reference = {"reference.hpp", {"nearest", {"m", "k", "A", "best"}}};
  task.baselines = {{"naive", Backend::cuda, "naive.cpp", "clang++-19", {"-O3", "target"}, {"m"}}};
  task.comparators = {{"blas", Backend::cuda, "blas.cpp", "g++-12", {"openmp"}, {"openblas"}}};
  task.files = {{"naive.cpp", "int x;\n"}, {"a/b~c.hpp", "\t\x01"}};
  return task;
}

inline Candidate sample_candidate(const std::string& name) {
  return {name, Backend::cuda, "int kp_launch() { return 0; }\n", "g++-12", {"-O3"}, {"openblas"}};
}

inline Ceilings sample_ceilings() {
  return {"machine key", {{"copy", "GB/s", 8, 101.5, 99.25, 0.1 + 0.2}}};
}

inline MachineRecord sample_machine() {
  return {"Some CPU",
          "aarch64",
          "Linux 6.1",
          2,
          std::int64_t{1} << 36,
          32 << 20,
          {{"cpu0", 2400.5}},
          3,
          {{"Some GPU", "GPU-0", "90a", "13.0", 132, std::int64_t{1} << 37, 60 << 20}}};
}

inline ShapeTiming sample_shape_timing() {
  ShapeTiming timing;
  timing.incumbent_alone_ns = 1.5;
  timing.at_least = true;
  timing.likely = 2.25;
  timing.dropped_pairs = 3;
  timing.budget = {0.005, 0.0025, 0.0075, 0.001, 0.002};
  timing.shape = {{"m", 512}};
  timing.calls = 17;
  timing.flushed = true;
  timing.warm = true;
  timing.launches = 3;
  timing.gpu_ns = 1.125;
  timing.launch_ns = 0.125;
  timing.own_share = 0.75;
  timing.candidate_rounds = {1.5, 1e-300, 0.1};
  timing.incumbent_rounds = {2.5};
  timing.candidate_ns = 1.25;
  timing.candidate_interval = {1.125, 1.375};
  timing.incumbent_ns = 2.25;
  timing.incumbent_interval = {2.125, 2.375};
  timing.speedup = 1.8;
  timing.speedup_interval = {1.7, 1.9};
  timing.noise_floor = 0.01;
  timing.comparison = Comparison::faster;
  timing.clock_gap = -0.002;
  timing.clock_noise = 0.004;
  timing.prepare_ns = 77;
  timing.bound_ns = 0.75;
  timing.share_of_bound = 0.6;
  timing.bound_by = "memory";
  timing.screened = true;
  return timing;
}

inline ArmEnergy sample_arm_energy() {
  return {{{400.5, 2.05, 21, 2000, 0.00125}},
          0.5,
          {0.49, 0.51},
          0.4,
          {0.39, 0.41},
          401.25,
          1.25e6,
          1e-11,
          2e-12};
}

inline Energy sample_energy() {
  ShapeEnergy shape;
  shape.shape = {{"m", 512}};
  shape.candidate = sample_arm_energy();
  shape.incumbent = sample_arm_energy();
  shape.idle = {{160.5, 2.1, 20, 0, 0}};
  shape.idle_watts = 76.5;
  shape.ratio = 0.9;
  shape.ratio_interval = {0.89, 0.91};
  shape.net_ratio = 0.8;
  shape.net_ratio_interval = {0.79, 0.81};
  Energy energy;
  energy.meter = "some counter";
  energy.circumstances = {{"power_limit_watts", 700}};
  energy.shapes = {shape};
  energy.ratio = 0.9;
  energy.ratio_interval = {0.89, 0.91};
  energy.comparison = EnergyComparison::less;
  energy.remarks = {"warm"};
  return energy;
}

inline Verdict sample_verdict() {
  Verdict verdict;
  verdict.outcome = Outcome::cheated;
  verdict.stage = Stage::timing;
  verdict.rule = "clock";
  verdict.summary = "The clocks disagree.";
  verdict.evidence = {"first", "second"};
  verdict.precision = "bf16";
  verdict.suspect = true;
  verdict.suspicions = {"near the bound"};
  verdict.remarks = {"the machine was busy"};
  verdict.verified = false;
  verdict.checks = {{Stage::held_out, {{"m", 5}}, "tiny", numbered_key(12), 1e-7, 2e-7, 3e-7, 4}};
  verdict.rules_run = {"guard", "clock"};
  verdict.timing = {{sample_shape_timing()}, 1.8, {1.7, 1.9}, 0.01, 0.02, true, 2.25,
                    Comparison::slower,      true};
  verdict.energy = sample_energy();
  verdict.build_ns = 123;
  verdict.judge_ns = std::numeric_limits<std::int64_t>::max();
  return verdict;
}

inline Certificate sample_certificate() {
  Certificate certificate;
  certificate.program_version = "0.1.0";
  certificate.date = "2024-02-29T12:00:00Z";
  certificate.task = sample_task();
  certificate.task_hash = "ab12";
  certificate.candidate = sample_candidate("mine");
  certificate.incumbent = sample_candidate("naive");
  certificate.build = {"/usr/bin/g++-12", "g++ 12.2", {"-O3"}, "11", "22"};
  certificate.build.warnings = {"ptxas warning"};
  certificate.build.includes = {{"cutlass", "abc", "55", {{"cute/tensor.hpp", "66"}}}};
  certificate.incumbent_build = {"/usr/bin/clang++-19", "clang 19.1", {"-O2"}, "33", "44"};
  certificate.machine = sample_machine();
  certificate.threads = 3;
  certificate.sandbox = "landlock";
  certificate.master = numbered_key(11);
  certificate.ceilings = sample_ceilings();
  certificate.verdict = sample_verdict();
  return certificate;
}

}  // namespace kernelpro::testing
