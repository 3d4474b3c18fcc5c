// Situations as a run on an H200 has them: the tasks, moves and ceilings are the real ones
// (bench/results/h200/ceilings.json), times and errors are examples.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/propose/agents/fixture.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro::testing {

inline const std::filesystem::path problems = agent_tests / "problems";

inline void fill_h200(AgentOrder& order) {
  GpuRecord gpu;
  gpu.name = "NVIDIA H200";
  gpu.architecture = "90a";
  gpu.driver = "13.0";
  gpu.multiprocessors = 132;
  gpu.memory_bytes = 139LL << 30;
  gpu.l2_bytes = 60 << 20;
  order.machine.gpus = {gpu};
  order.machine.clocks_mhz = {{"gpu_sm", 1980}, {"gpu_memory", 3201}};
  const auto add = [&order](const char* name, const char* unit, double median) {
    order.ceilings.list.push_back({name, unit, 0, median, median, median});
  };
  add("read", "GB/s", 4690.1);
  add("write", "GB/s", 4673.6);
  add("copy", "GB/s", 4145.8);
  add("l2_read", "GB/s", 9224.3);
  add("shared_read", "GB/s", 33324.2);
  add("fma_f32", "GFLOP/s", 66000.9);
  add("tensor_f16", "GFLOP/s", 841750.3);
  add("tensor_bf16", "GFLOP/s", 897175.1);
  add("tensor_tf32", "GFLOP/s", 469373.5);
  add("launch", "us", 3.08);
  add("launch_sync", "us", 7.97);
}

inline void fill_moves(Situation& situation) {
  const Result<std::vector<Move>> moves = load_moves(KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda");
  EXPECT_TRUE(moves.ok()) << moves.error().text();
  for (const Move& move : *moves) {
    if (move.tier == "write" && suits(move, situation.run.task, Backend::cuda)) {
      situation.order.moves.push_back(move);
    }
  }
}

inline void fill_run(Situation& situation, Task task) {
  Run& run = situation.run;
  run.task = std::move(task);
  run.settings.llm = LlmSettings{};
  run.settings.judging.backend = Backend::cuda;
  fill_h200(situation.order);
  fill_moves(situation);
  situation.order.parent.backend = Backend::cuda;
  situation.order.parent.compiler = "nvcc";
  situation.order.parent.options = {"-O3"};
}

// tasks/gemm; the parent is node 2, with tiles in shared memory.
inline void fill_gemm(Situation& situation) {
  const std::filesystem::path folder = KERNELPRO_SOURCE_DIR "/tasks/gemm";
  const Result<Task> task = load_task(folder);
  EXPECT_TRUE(task.ok()) << task.error().text();
  fill_run(situation, *task);
  AgentOrder& order = situation.order;
  order.node = 7;
  order.parent.source = file_text(folder / "candidates" / "good_tiled.cu");
  Tried root = tried_root();
  root.verdict->checks = {
      example_check("normal", 3.2e-6, 2.2e-5),   example_check("normal", 1.1e-6, 4.8e-6),
      example_check("uniform", 8.3e-7, 4.4e-6),  example_check("large", 9.1e-7, 4.4e-6),
      example_check("tiny", 9.4e-7, 4.4e-6),     example_check("constant", 6.2e-7, 4.4e-6),
      example_check("negative", 5.5e-7, 4.4e-6), example_check("mixed", 1.3e-6, 5.2e-6)};
  CheckRecord& timed = root.verdict->checks.front();
  timed.stage = Stage::timed_shapes;
  timed.shape = {{"m", 2048}, {"n", 2048}, {"k", 2048}};
  order.parent_tried = tried_passed(2, 0, "keep_on_chip", 2.1, 2.5);
  add_timing(order.parent_tried, {{"m", 2048}, {"n", 2048}, {"k", 2048}}, 3'310'000, 260'300,
             "compute");
  add_timing(order.parent_tried, {{"m", 2011}, {"n", 1999}, {"k", 2027}}, 3'420'000, 246'900,
             "compute");
  Diagnosis& diagnosis = order.parent_tried.node.diagnosis;
  diagnosis.bottleneck = Bottleneck::compute;
  diagnosis.kind = KernelClass::latency;
  diagnosis.text = "latency: shared memory is used to 61 %, no other roof beyond 25 %";
  diagnosis.share_of_bound = 0.08;
  order.parent_kernels = {{"gemm(…)", "sm_90a", 38, 0, 0, 8192, -1, 0, 0}};
  order.parent_warnings = {
      "ptxas warning : Local memory used for function 'gemm', size of stack frame 64 bytes"};
  order.branch = {root};
  Tried slow = tried_passed(3, 2, "vector_loads", 2.05, 1.3);
  slow.node.plan = "Fill the tiles by float4";
  Tried wrong = tried_failed(5, 2, "tensor_cores", Outcome::incorrect, "precision",
                             "C[1203, 77] is 14.0312, expected 14.0157");
  wrong.node.plan = "One tf32 product an element";
  wrong.verdict->checks = {example_check("normal", 1.1e-3, 2.2e-5)};
  order.siblings = {slow, wrong};
  order.all = {root, order.parent_tried, slow, wrong};
  order.best_speedup = 2.1;
  order.evaluations_left = 33;
}

inline agents::Plan gemm_plan() {
  return {
      "split_precision",
      "Tiles of 128 x 128 a block, eight warps of 64 x 32, operands split into two parts of tf32 "
      "while they are copied into shared memory; three products by mma.sync, the sum moved into "
      "plain f32 registers every 32 of k.",
      6.0, "The bound of multiply-adds falls from 260 to 110 us.",
      "Registers: 64 for sums and 64 for the products at hand."};
}

// The parent is a child of node 2 that rounds its operands once to tf32.
inline void fill_imprecise(Situation& situation) {
  fill_gemm(situation);
  AgentOrder& order = situation.order;
  order.node = 8;
  Tried failed = order.siblings[1];
  failed.verdict->stage = Stage::timed_shapes;
  failed.verdict->evidence = {
      "largest error 0.0011 at C[1203, 77], bound 2.2e-05",
      "at m=2048 n=2048 k=2048, normal values, seed 0x0123456789abcdef",
      "the errors look like those of rounding to tf32; if that is meant, allow it with "
      "--allow-precision tf32"};
  failed.verdict->checks = {example_check("normal", 8e-4, 1e-3),
                            example_check("normal", 1.1e-3, 2.2e-5)};
  failed.verdict->checks[0].stage = Stage::smoke;
  failed.verdict->checks[1].stage = Stage::timed_shapes;
  failed.verdict->checks[1].baseline_error = 3.2e-6;
  order.branch.push_back(order.parent_tried);
  order.parent_tried = failed;
  order.parent_kernels.clear();
  order.parent_warnings.clear();
  order.parent.source = file_text(problems / "imprecise.cu");
  order.siblings.clear();
}

// The module of problems/1_SmallNet.py with what `oracle/torch_oracle.py describe` says of it.
inline void fill_small_net(Situation& situation) {
  const Result<ScratchDir> scratch = ScratchDir::create("small_net");
  ASSERT_TRUE(scratch.ok());
  const std::filesystem::path level = scratch->path() / "level3";
  ASSERT_TRUE(make_directories(level).ok());
  ASSERT_TRUE(
      write_file_unsynced(level / "1_SmallNet.py", file_text(problems / "1_SmallNet.py")).ok());
  NewProblem wanted;
  wanted.checkout = scratch->path();
  wanted.level = 3;
  wanted.problem = 1;
  wanted.directory = scratch->path() / "tasks";
  wanted.described = file_text(problems / "small_net.json");
  const Result<ProblemTask> made = create_problem_task(wanted);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const Result<Task> task = load_task(made->folder);
  ASSERT_TRUE(task.ok()) << task.error().text();
  fill_run(situation, *task);
  AgentOrder& order = situation.order;
  order.node = 1;
  order.parent.compiler = torch_compiler;
  order.parent.options = {"eager-fp32"};
  order.parent.source = task->files.at("problem.py");
  order.parent_tried = tried_root();
  order.parent_tried.verdict->checks = {example_check("normal", 2.1e-6, 2.4e-5),
                                        example_check("mixed", 2.6e-6, 2.4e-5)};
  add_timing(order.parent_tried, {}, 512'000, 144'100, "compute");
  order.parent_tried.verdict->timing.shapes[0].launches = 26;
  order.parent_tried.verdict->timing.shapes[0].gpu_ns = 421'000;
  order.all = {order.parent_tried};
  order.evaluations_left = 6;
  order.under_way = 2;
}

}  // namespace kernelpro::testing
