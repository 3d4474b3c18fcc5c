// Orders as a run would give them, and models that answer from a list.
#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/propose/agents/agents.hpp"
#include "support/small_task.hpp"

namespace kernelpro::testing {

inline const std::filesystem::path prompt_folder = KERNELPRO_SOURCE_DIR "/knowledge/prompts";
inline const std::filesystem::path agent_tests =
    KERNELPRO_SOURCE_DIR "/tests/coordinator/propose/agents";

inline std::string file_text(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

// A run and an order for a child of its root.
struct Situation {
  Run run;
  AgentOrder order;

  // The order points into the run.
  Situation() { order.run = &run; }
  Situation(const Situation&) = delete;
  Situation& operator=(const Situation&) = delete;
};

inline Tried tried_root() {
  Tried root;
  root.node.state = NodeState::judged;
  root.node.outcome = Outcome::passed;
  root.node.plan = "the baseline";
  root.node.speedup = 1;
  root.verdict = Verdict{};
  root.verdict->outcome = Outcome::passed;
  return root;
}

inline Tried tried_passed(NodeId id, NodeId parent, const std::string& move, double speedup,
                          double predicted = 1.5) {
  Tried out;
  out.node.id = id;
  out.node.parent = parent;
  out.node.move = move;
  out.node.plan = "Do " + move;
  out.node.predicted_gain = predicted;
  out.node.state = NodeState::judged;
  out.node.outcome = Outcome::passed;
  out.node.speedup = speedup;
  out.verdict = Verdict{};
  out.verdict->outcome = Outcome::passed;
  return out;
}

inline Tried tried_failed(NodeId id, NodeId parent, const std::string& move, Outcome outcome,
                          const std::string& rule, const std::string& summary,
                          std::vector<std::string> evidence = {}) {
  Tried out = tried_passed(id, parent, move, 0);
  out.node.outcome = outcome;
  out.node.rule = rule;
  out.node.summary = summary;
  out.verdict->outcome = outcome;
  out.verdict->rule = rule;
  out.verdict->summary = summary;
  out.verdict->evidence = std::move(evidence);
  return out;
}

inline void add_timing(Tried& tried, const Axes& shape, double nanoseconds, double bound_ns,
                       const std::string& bound_by) {
  ShapeTiming timing;
  timing.shape = shape;
  timing.candidate_ns = nanoseconds;
  timing.bound_ns = bound_ns;
  timing.share_of_bound = bound_ns / nanoseconds;
  timing.bound_by = bound_by;
  tried.verdict->timing.shapes.push_back(timing);
}

// The small task on two cores; the parent is its baseline.
inline void fill_cpu(Situation& situation) {
  Run& run = situation.run;
  run.task = small_task();
  run.settings.llm = LlmSettings{};
  AgentOrder& order = situation.order;
  order.node = 5;
  order.machine.processor = "Example-V1";
  order.machine.architecture = "aarch64";
  order.machine.cores = 2;
  order.machine.cache_bytes = 32 << 20;
  order.ceilings.list = {{"read", "GB/s", 1, 21.5, 21, 22},
                         {"read", "GB/s", 2, 40.25, 40, 41},
                         {"fma_f32", "GFLOP/s", 2, 160, 159, 161}};
  order.compilers = {"g++", "clang++-19", "nvcc"};
  order.parent = small_candidate(run.task.files.at("baseline.cpp"));
  order.parent_tried = tried_root();
  add_timing(order.parent_tried, {{"n", 20'000}}, 9100, 5960, "memory");
  order.parent_tried.node.diagnosis.bottleneck = Bottleneck::memory;
  order.parent_tried.node.diagnosis.text = "65 % of the measured bandwidth bound";
  order.all = {order.parent_tried};
  order.evaluations_left = 40;
  Move move;
  move.id = "simd";
  move.tier = "pragmas";
  move.title = "Ask for vectors";
  move.advice = "Loops over contiguous data become vector instructions. More text.\n";
  order.moves = {move};
}

inline std::string cuda_source(const std::string& body = "out[i] = x[i] + y[i];") {
  return "// kp:compiler nvcc\n// kp:options -O3\n#include \"kernelpro/candidate.h\"\n\n"
         "__global__ void add(int64_t n, const float* x, const float* y, float* out) {\n"
         "  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
         "  if (i < n) {\n    " +
         body +
         "\n  }\n}\n\n"
         "int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {\n"
         "  const int64_t n = context->axes[0];\n"
         "  add<<<(n + 255) / 256, 256, 0, static_cast<cudaStream_t>(context->stream)>>>(\n"
         "      n, static_cast<const float*>(tensors[0].data),\n"
         "      static_cast<const float*>(tensors[1].data), "
         "static_cast<float*>(tensors[2].data));\n"
         "  return cudaGetLastError() != cudaSuccess;\n}\n";
}

inline Finding example_finding(const std::string& tool, double gain) {
  Finding finding;
  finding.tool = tool;
  finding.kernel = "add";
  finding.severity = Severity::high;
  finding.title = "Each thread moves 4 bytes at a time";
  finding.observed = 32;
  finding.threshold = 128;
  finding.unit = "bits";
  finding.why = "a load can move 128 bits";
  finding.cause = "Consecutive threads load single values.";
  finding.moves = {"vector_loads", "unroll_loops"};
  finding.predicted_gain = gain;
  finding.derivation = "a quarter of the load instructions.";
  finding.places = {{"candidate.cu", 8}, {"candidate.cu", 0}};
  return finding;
}

// The same task on a GPU; the parent is node 3, which passed and was profiled.
inline void fill_cuda(Situation& situation) {
  fill_cpu(situation);
  Run& run = situation.run;
  run.settings.judging.backend = Backend::cuda;
  AgentOrder& order = situation.order;
  order.node = 9;
  GpuRecord gpu;
  gpu.name = "Example GPU";
  gpu.architecture = "90a";
  gpu.driver = "13.0";
  gpu.multiprocessors = 132;
  gpu.memory_bytes = 141LL << 30;
  gpu.l2_bytes = 50 << 20;
  order.machine.gpus = {gpu};
  order.compilers.clear();
  order.ceilings.list = {{"read", "GB/s", 0, 4310, 4300, 4320},
                         {"tensor_tf32", "GFLOP/s", 0, 395000, 390000, 400000},
                         {"launch", "us", 0, 2.1, 2, 2.2},
                         {"idle_power", "W", 0, 70, 69, 71}};
  order.parent.backend = Backend::cuda;
  order.parent.compiler = "nvcc";
  order.parent.options = {"-O3", "-use_fast_math"};
  order.parent.source = cuda_source();
  const Tried root = tried_root();
  order.parent_tried = tried_passed(3, 0, "fast_math", 1.25, 1.4);
  add_timing(order.parent_tried, {{"n", 20'000}}, 5200, 1300, "memory");
  order.parent_tried.verdict->timing.shapes[0].launches = 1;
  order.parent_tried.verdict->timing.shapes[0].gpu_ns = 3100;
  order.parent_tried.verdict->timing.shapes[0].launch_ns = 2100;
  Diagnosis& diagnosis = order.parent_tried.node.diagnosis;
  diagnosis.bottleneck = Bottleneck::latency;
  diagnosis.kind = KernelClass::latency;
  diagnosis.text = "latency: no roof is used beyond 25 %";
  diagnosis.share_of_bound = 0.25;
  diagnosis.findings = {example_finding("narrow_loads", 1.35),
                        example_finding("occupancy_limiter", 1.1)};
  diagnosis.findings[1].title = "Registers limit the resident warps";
  order.parent_kernels = {{"add", "sm_90a", 40, 8, 8, 0, -1, 16, 0}};
  order.branch = {root};
  order.siblings = {tried_passed(4, 3, "unroll_loops", 1.2),
                    tried_failed(6, 3, "vector_loads", Outcome::crashed, "guard",
                                 "it touched memory after out (in the guard pages)")};
  order.all = {root, order.parent_tried, order.siblings[0], order.siblings[1]};
  order.best_speedup = 1.25;
  order.tokens_left = 120'000;
  Move move = order.moves[0];
  move.id = "vector_loads";
  move.title = "Move 16 bytes at a time";
  move.advice = "Let each thread load and store float4. Mind the tail.\n";
  move.classes = {Bottleneck::memory};
  order.moves = {order.moves[0], move};
}

inline CheckRecord example_check(const std::string& distribution, double error, double bound) {
  CheckRecord check;
  check.stage = Stage::distributions;
  check.distribution = distribution;
  check.error = error;
  check.baseline_error = error;
  check.bound = bound;
  return check;
}

// A PyTorch module with one parameter, for which there is no kernel yet.
inline void fill_torch(Situation& situation) {
  fill_cuda(situation);
  Task task;
  task.name = "kernelbench_2_99";
  task.family = "kernelbench";
  task.summary = "99_Scale, by PyTorch 2.11";
  TensorSpec tensor;
  tensor.shape = {formula("64"), formula("128")};
  tensor.values.kind = ValueKind::drawn;
  tensor.name = "input_0";
  task.inputs.push_back(tensor);
  tensor.name = "scale_weight";
  tensor.shape = {formula("128")};
  task.inputs.push_back(tensor);
  tensor.name = "output_0";
  tensor.shape = {formula("64"), formula("128")};
  task.outputs.push_back(tensor);
  task.reduction = formula("1");
  task.work.flops = formula("8192");
  task.work.bytes = formula("66048");
  task.timed_shapes = {{}};
  task.reference.torch = true;
  task.reference.file = "problem.py";
  task.files["problem.py"] =
      "import torch\n\nclass Model(torch.nn.Module):\n    def __init__(self, n):\n"
      "        super().__init__()\n        self.scale = torch.nn.Parameter(torch.rand(n))\n\n"
      "    def forward(self, x):\n        return x * self.scale\n";
  ImplementationSpec baseline;
  baseline.name = "torch-eager";
  baseline.backend = Backend::cuda;
  baseline.file = "problem.py";
  baseline.compiler = torch_compiler;
  baseline.options = {"eager-fp32"};
  task.baselines = {baseline};
  situation.run.task = task;
  AgentOrder& order = situation.order;
  order.node = 1;
  order.parent = Candidate{};
  order.parent.backend = Backend::cuda;
  order.parent.compiler = torch_compiler;
  order.parent.options = {"eager-fp32"};
  order.parent.source = task.files.at("problem.py");
  order.parent_tried = tried_root();
  order.parent_tried.verdict->checks = {example_check("normal", 1e-7, 4.8e-7),
                                        example_check("mixed", 2e-7, 8e-7),
                                        example_check("normal", 1.5e-7, 6e-7)};
  order.machine.clocks_mhz = {{"gpu_sm", 1980}, {"gpu_memory", 3201}};
  add_timing(order.parent_tried, {}, 12'000, 900, "memory");
  order.parent_kernels.clear();
  order.branch.clear();
  order.siblings.clear();
  order.all = {order.parent_tried};
  order.best_speedup = 1;
}

// The same GPU; the parent is a child of node 3 that failed.
inline void fill_failed(Situation& situation, Tried failed, const std::string& source) {
  fill_cuda(situation);
  AgentOrder& order = situation.order;
  order.branch.push_back(order.parent_tried);
  order.all.push_back(failed);
  order.parent_tried = std::move(failed);
  order.parent_kernels.clear();
  order.siblings.clear();
  order.parent.source = source;
}

inline ChatAnswer answer_of(const std::string& text, StopReason stop = StopReason::done) {
  ChatAnswer answer;
  answer.text = text;
  answer.stop = stop;
  return answer;
}

inline ChatAnswer tool_answer(const std::string& name, const std::string& arguments) {
  ChatAnswer answer;
  answer.calls = {{"call_1", name, arguments}};
  answer.stop = StopReason::tool_calls;
  return answer;
}

// Answers from a list, and keeps what it was asked.
class ListedCaller : public Caller {
 public:
  explicit ListedCaller(std::deque<Called> answers) : answers_(std::move(answers)) {}

  static Called answered(const std::string& text, StopReason stop = StopReason::done) {
    return Called{Called::Kind::answered, answer_of(text, stop), ""};
  }
  static Called tool(const std::string& name, const std::string& arguments) {
    return Called{Called::Kind::answered, tool_answer(name, arguments), ""};
  }
  static Called without(Called::Kind kind, const std::string& reason) {
    return Called{kind, {}, reason};
  }

  Result<Called> call(const CallName& name, ChatRequest request,
                      std::stop_token /*stop*/) override {
    ids.push_back(name.id());
    requests.push_back(std::move(request));
    if (answers_.empty()) {
      return make_error(ErrorKind::internal, "nobody answers any more", name.id());
    }
    Called next = std::move(answers_.front());
    answers_.pop_front();
    return next;
  }
  [[nodiscard]] std::optional<std::int64_t> tokens_left() const override { return std::nullopt; }

  std::vector<std::string> ids;
  std::vector<ChatRequest> requests;

 private:
  std::deque<Called> answers_;
};

inline Agents loaded(const LlmSettings& settings) {
  Result<Agents> agents = Agents::load(settings, prompt_folder);
  EXPECT_TRUE(agents.ok()) << agents.error().text();
  return *agents;
}

}  // namespace kernelpro::testing
