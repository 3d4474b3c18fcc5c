// Profiles and diagnoses with every field changed from its default.
#pragma once

#include "common/model/finding.hpp"
#include "common/model/orders.hpp"
#include "common/model/profile.hpp"

namespace kernelpro::testing {

inline Trace sample_trace() {
  Trace trace;
  trace.origin = "cupti";
  trace.architecture = "sm_90";
  trace.complete = false;
  trace.problem = "12 records were dropped";
  trace.end_ns = 2'000'000;
  TracedLaunch launch;
  launch.index = 7;
  launch.name = "_Z5scalePf";
  launch.module = "a1b2";
  launch.context = 1;
  launch.stream = 13;
  launch.correlation = 4'000'000'000U;
  launch.start_ns = 400'000;
  launch.end_ns = 900'000;
  launch.grid = {1024, 2, 3};
  launch.block = {256, 4, 1};
  launch.registers = 40;
  launch.static_shared_bytes = 1024;
  launch.dynamic_shared_bytes = 2048;
  launch.local_bytes = 64;
  TracedLaunch second = launch;
  second.index = 8;
  second.module = "";
  second.start_ns = 900'000;
  second.end_ns = 1'400'000;
  trace.launches = {launch, second};
  trace.copies = {{CopyKind::host_to_device, true, 4096, 13, 5, 100'000, 300'000}};
  trace.fills = {{512, 7, 6, 310'000, 350'000}};
  trace.calls = {{CallKind::launch, "cudaLaunchKernel", 2, 4'000'000'000U, 390'000, 395'000},
                 {CallKind::synchronize, "cudaDeviceSynchronize", 2, 9, 400'000, 1'400'000}};
  return trace;
}

inline CodeFacts sample_code() {
  MemoryInstruction load;
  load.space = Space::shared;
  load.access = Access::async_copy;
  load.bits = 128;
  load.offset = 0x40;
  load.place = {"scale.cu", 12};
  load.loop = 0;
  load.executed = 1000;
  load.threads = 32000;
  load.sectors = 32000;
  load.ideal_sectors = 4000;
  load.wavefronts = 300;
  load.ideal_wavefronts = 150;
  load.samples = 77;
  CodeLoop loop;
  loop.begin = 0x20;
  loop.end = 0x80;
  loop.depth = 2;
  loop.instructions = 6;
  loop.global_loads = 3;
  loop.loads_in_flight = 1;
  loop.barriers = 4;
  loop.dot_steps = 5;
  loop.executed = 250;
  loop.place = {"scale.cu", 11};
  CodeFacts code;
  code.counted = true;
  code.instructions = 96;
  code.mix = {{"fp32", 128}, {"load_global", 2.5}};
  code.memory = {load};
  code.loops = {loop};
  code.dot_steps = 8;
  code.slow_divisions = 9;
  code.fp64_conversions = 10;
  code.has_lines = true;
  return code;
}

inline KernelProfile sample_kernel() {
  KernelProfile kernel;
  kernel.name = "scale(float*)";
  kernel.mangled = "_Z5scalePf";
  kernel.module = "a1b2";
  kernel.launch = 7;
  kernel.grid = {1024, 2, 3};
  kernel.block = {256, 4, 2};
  kernel.launches = 2;
  kernel.share = 0.75;
  kernel.duration_ns = 500'000;
  kernel.figures = {{"dram_use", {0.92, Origin::counter}},
                    {"occupancy", {0.5, Origin::arithmetic}},
                    {"registers", {40, Origin::trace}}};
  kernel.missing = {{"tensor_use", "ncu does not know it on sm_90"}};
  kernel.stalls = {{"long_scoreboard", 640}, {"wait", 160}};
  kernel.code = sample_code();
  kernel.lines = {{{"scale.cu", 12}, "  y[i] = a * x[i * 32];", 620, {{"long_scoreboard", 600}}}};
  kernel.rules = {{"SOLBottleneck", "OPT", "Memory is more heavily utilized than Compute.", 12.5}};
  return kernel;
}

inline Profile sample_profile() {
  Profile profile;
  profile.program = "./scale --size 4096";
  profile.architecture = "sm_90";
  profile.device = "Some GPU";
  profile.counters = "the driver denies them (ERR_NVGPUCTRPERM)";
  profile.limits = {{"multiprocessors", 132}};
  profile.ceilings = {"machine key", {{"copy", "GB/s", 8, 101.5, 99.25, 0.1 + 0.2}}};
  profile.work = DeclaredWork{1e9, 2e9, 3e9, "f32", 4};
  profile.trace = sample_trace();
  profile.kernels = {sample_kernel()};
  return profile;
}

inline Finding sample_finding() {
  Finding finding;
  finding.tool = "uncoalesced";
  finding.kernel = "scale(float*)";
  finding.severity = Severity::high;
  finding.title = "Threads of a warp read addresses far apart";
  finding.observed = 32;
  finding.threshold = 8;
  finding.unit = "sectors a request";
  finding.why = "4-byte values side by side need 4";
  finding.cause = "The index is multiplied by 32, so that each thread reads a sector of its own.";
  finding.moves = {"Let neighboring threads read neighboring elements.",
                   "Stage the tile through shared memory."};
  finding.predicted_gain = 1.85;
  finding.derivation = "7/8 of the sectors are not needed: 1 / (1 - 0.75 * 0.875 * 0.7)";
  finding.places = {{"scale.cu", 12}};
  return finding;
}

inline DiagnosisReport sample_diagnosis() {
  KernelDiagnosis kernel;
  kernel.kernel = "scale(float*)";
  kernel.share = 0.75;
  kernel.kind = KernelClass::dram;
  kernel.confidence = 0.9;
  kernel.reason = "memory is used to 92 % and nothing else to more than 20 %";
  kernel.roofs = {{"dram", 0.92, "3.9 of 4.2 TB/s"}, {"issue", 0.18, "18 % of the slots"}};
  kernel.skipped = {{"bank_conflicts", "not for dram"}, {"barriers", "not for dram"}};
  kernel.not_available = {"tensor_cores: no tensor_use (ncu does not know it on sm_90)"};
  DiagnosisReport report;
  report.kind = KernelClass::dram;
  report.reason = "its main kernel is held up by memory";
  report.kernels = {kernel};
  report.findings = {sample_finding()};
  return report;
}

inline Diagnosed sample_diagnosed() {
  return {sample_profile(), sample_diagnosis(), {{"ncu", 1.9}, {"trace", 0.4}}};
}

}  // namespace kernelpro::testing
