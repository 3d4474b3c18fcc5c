// Profiles for the tools' tests: a healthy kernel on an H200 without any defect, and one kernel
// with each defect, clear enough that its tool must see it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

inline void set(Profile& profile, const char* key, double value) {
  profile.kernels.front().figures[key] = {value, Origin::counter};
}

// Shares of 10000 samples; the rest are of warps that issue.
inline void set_stalls(Profile& profile, const std::map<std::string, double>& shares) {
  Stalls stalls;
  double rest = 1;
  for (const auto& [reason, share] : shares) {
    stalls[reason] = share * 10000;
    rest -= share;
  }
  stalls["selected"] += std::max(0.0, rest) * 10000;
  profile.kernels.front().stalls = std::move(stalls);
}

inline CodeFacts& code_of(Profile& profile) {
  return *profile.kernels.front().code;
}

// A million times by full warps, four bytes a thread, coalesced and without conflicts.
inline MemoryInstruction access(Space space, Access kind, int line) {
  MemoryInstruction instruction;
  instruction.space = space;
  instruction.access = kind;
  instruction.place = {"kernel.cu", line};
  instruction.executed = 1e6;
  instruction.threads = 32e6;
  instruction.samples = 0;
  if (space == Space::global) {
    instruction.sectors = instruction.ideal_sectors = 4e6;
  }
  if (space == Space::shared) {
    instruction.wavefronts = instruction.ideal_wavefronts = 1e6;
  }
  return instruction;
}

inline MemoryInstruction wide_load(int line) {
  MemoryInstruction load = access(Space::global, Access::load, line);
  load.bits = 128;
  load.sectors = load.ideal_sectors = 16e6;
  return load;
}

inline CodeLoop loop_with(int global_loads, int in_flight, double turns) {
  CodeLoop loop;
  loop.begin = 0x100;
  loop.end = 0x300;
  loop.instructions = 20;
  loop.global_loads = global_loads;
  loop.loads_in_flight = in_flight;
  loop.executed = turns;
  loop.place = {"kernel.cu", 40};
  return loop;
}

// Nothing is used up and nothing waits.
inline Profile healthy() {
  Profile profile;
  profile.architecture = "sm_90";
  profile.limits = {{"multiprocessors", 132}, {"warps", 64}, {"l2_bytes", 6e7}};
  profile.ceilings.list = {{"tensor_f16", "GFLOP/s", 0, 7e5, 7e5, 7e5},
                           {"tensor_tf32", "GFLOP/s", 0, 3.5e5, 3.5e5, 3.5e5},
                           {"tensor_f64", "GFLOP/s", 0, 6e4, 6e4, 6e4}};
  KernelProfile kernel;
  kernel.name = "work(float*)";
  kernel.grid = {10560, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.launches = 1;
  kernel.duration_ns = 1e6;
  kernel.code.emplace();
  kernel.code->counted = true;
  kernel.code->patterns.emplace();
  kernel.code->has_lines = true;
  kernel.code->memory = {wide_load(10), access(Space::global, Access::store, 20),
                         access(Space::shared, Access::load, 30)};
  kernel.code->loops = {loop_with(4, 4, 1e6)};
  kernel.code->mix = {{"fp32", 5e7}, {"integer", 3e7}};
  kernel.lines = {{{"kernel.cu", 11}, "", 5000, {{"long_scoreboard", 4000}, {"barrier", 1000}}},
                  {{"kernel.cu", 21}, "", 4000, {{"selected", 4000}}}};
  profile.kernels.push_back(kernel);
  for (const char* key : {figure::dram_use, figure::l2_use, figure::l1_use, figure::issue_use,
                          figure::fma_use, figure::alu_use, figure::special_use, figure::fp64_use,
                          figure::lsu_use, figure::tensor_use}) {
    set(profile, key, 0.1);
  }
  for (const auto& [key, value] : std::map<const char*, double>{
           {figure::duration_ns, 1e6},       {figure::dram_read_bytes, 1e8},
           {figure::dram_write_bytes, 1e8},  {figure::l2_bytes, 4e8},
           {figure::atomic_use, 0},          {figure::atomic_sectors, 0},
           {figure::reduction_sectors, 0},   {figure::occupancy, 0.9},
           {figure::eligible_warps, 2},      {figure::theoretical_occupancy, 1},
           {figure::limit_registers, 8},     {figure::limit_shared, 16},
           {figure::limit_warps, 8},         {figure::limit_blocks, 32},
           {figure::limit_barriers, 32},     {figure::waves, 10},
           {figure::sm_active_mean, 1.9e6},  {figure::sm_active_most, 1.95e6},
           {figure::sm_active_least, 1.9e6}, {figure::sm_elapsed, 2e6},
           {figure::instructions, 1e8},      {figure::l1_hit_rate, 0.5},
           {figure::active_threads, 32},     {figure::working_threads, 31},
           {figure::l1_load_bytes, 5e8},     {figure::l1_load_hit_bytes, 0},
           {figure::l2_read_bytes, 1e8},     {figure::l2_hit_rate, 0.5}}) {
    set(profile, key, value);
  }
  set_stalls(profile, {{"wait", 0.3}, {"not_selected", 0.3}});
  return profile;
}

inline Profile with_uncoalesced_access() {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::global, Access::load, 12);
  load.sectors = 32e6;
  code_of(profile).memory = {load};
  set_stalls(profile, {{"long_scoreboard", 0.7}, {"drain", 0.1}});
  set(profile, figure::l2_bytes, 1.1e9);
  set(profile, figure::dram_read_bytes, 1e9);
  set(profile, figure::dram_use, 0.4);
  return profile;
}

inline Profile with_narrow_loads() {
  Profile profile = healthy();
  code_of(profile).memory = {access(Space::global, Access::load, 13),
                             access(Space::global, Access::store, 14)};
  code_of(profile).loops.clear();
  set_stalls(profile, {{"long_scoreboard", 0.8}});
  set(profile, figure::dram_use, 0.45);
  set(profile, figure::duration_ns, 1e5);  // 580 ns a load
  return profile;
}

inline Profile with_excess_traffic() {
  Profile profile = healthy();
  profile.work = DeclaredWork{1e9, 1e9, 1e9, "f32", 1};
  set(profile, figure::dram_read_bytes, 3e9);
  set(profile, figure::dram_write_bytes, 1e9);
  set(profile, figure::l2_bytes, 4.5e9);
  set(profile, figure::dram_use, 0.85);
  set_stalls(profile, {{"long_scoreboard", 0.8}});
  return profile;
}

inline Profile with_bank_conflicts() {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::shared, Access::load, 15);
  load.wavefronts = 16e6;
  code_of(profile).memory = {load, wide_load(10)};
  set_stalls(profile, {{"mio_throttle", 0.5}, {"short_scoreboard", 0.3}});
  set(profile, figure::l1_use, 0.9);
  return profile;
}

inline Profile with_register_spills() {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::local, Access::load, 16);
  load.executed = 8e6;
  MemoryInstruction store = access(Space::local, Access::store, 17);
  store.executed = 4e6;
  code_of(profile).memory = {load, store, wide_load(10)};
  set_stalls(profile, {{"long_scoreboard", 0.6}, {"lg_throttle", 0.1}});
  set(profile, figure::l1_use, 0.4);
  return profile;
}

inline Profile with_occupancy_limiter() {
  Profile profile = healthy();
  set(profile, figure::theoretical_occupancy, 0.25);
  set(profile, figure::occupancy, 0.24);
  set(profile, figure::limit_registers, 2);
  set(profile, figure::eligible_warps, 0.3);
  set_stalls(profile, {{"long_scoreboard", 0.5}, {"wait", 0.2}});
  return profile;
}

inline Profile with_block_shortage() {
  Profile profile = healthy();
  profile.kernels.front().grid = {20, 1, 1};
  set(profile, figure::waves, 0.02);
  set(profile, figure::occupancy, 0.12);
  set(profile, figure::sm_active_mean, 0.3e6);
  set(profile, figure::sm_active_least, 0);
  for (const char* key : {figure::dram_use, figure::l2_use, figure::l1_use, figure::issue_use,
                          figure::lsu_use, figure::fma_use, figure::alu_use, figure::special_use,
                          figure::fp64_use, figure::tensor_use}) {
    set(profile, key, 0.02);
  }
  return profile;
}

inline Profile with_barrier_stalls() {
  Profile profile = healthy();
  set_stalls(profile, {{"barrier", 0.6}, {"wait", 0.1}});
  set(profile, figure::issue_use, 0.4);
  return profile;
}

inline Profile with_long_scoreboard() {
  Profile profile = healthy();
  MemoryInstruction load = wide_load(18);
  load.loop = 0;
  code_of(profile).memory = {load};
  code_of(profile).loops = {loop_with(1, 1, 1e6)};
  set_stalls(profile, {{"long_scoreboard", 0.8}});
  return profile;
}

inline Profile with_contended_atomics() {
  Profile profile = healthy();
  code_of(profile).memory = {access(Space::global, Access::reduction, 19)};
  set(profile, figure::atomic_use, 0.99);
  set(profile, figure::reduction_sectors, 2e6);
  set_stalls(profile, {{"drain", 0.7}, {"short_scoreboard", 0.2}});
  return profile;
}

inline Profile with_tensor_cores_unused() {
  Profile profile = healthy();
  CodeLoop loop = loop_with(2, 2, 3e6);
  loop.instructions = 30;
  loop.dot_steps = 8;
  code_of(profile).loops = {loop};
  code_of(profile).dot_steps = 2.4e7;
  set(profile, figure::dram_read_bytes, 1e7);
  set(profile, figure::dram_write_bytes, 1e7);
  set(profile, figure::fma_use, 0.6);
  return profile;
}

inline Profile with_hmma() {
  Profile profile = healthy();
  code_of(profile).mix["hmma"] = 2e7;
  set(profile, figure::tensor_use, 0.6);
  set_stalls(profile, {{"math_pipe_throttle", 0.3}, {"short_scoreboard", 0.3}});
  return profile;
}

// A pattern of the code at line 50: how often it began, how many instructions it took, and how many
// of the 10000 samples lie there.
inline void set_pattern(Profile& profile, const char* name, double begun, double executed,
                        double samples) {
  (*code_of(profile).patterns)[name] = {begun, executed, samples, {{"kernel.cu", 50}}};
}

// Half of the threads stand aside, and instructions are the limit.
inline Profile with_divergent_warps() {
  Profile profile = healthy();
  set_pattern(profile, "divergent", 0, 5e7, 2500);
  set(profile, figure::active_threads, 16);
  set(profile, figure::working_threads, 16);
  set(profile, figure::issue_use, 0.95);
  set_stalls(profile, {{"not_selected", 0.6}, {"wait", 0.2}});
  return profile;
}

// A constant of double in each of ten million turns: there, two steps, and back.
inline Profile with_accidental_double() {
  Profile profile = healthy();
  set_pattern(profile, "to_double", 1e7, 1e7, 3000);
  set_pattern(profile, "from_double", 1e7, 1e7, 3000);
  set_pattern(profile, "double", 0, 4e7, 8000);
  set(profile, figure::special_use, 0.9);
  set_stalls(profile, {{"mio_throttle", 0.6}, {"short_scoreboard", 0.2}});
  return profile;
}

inline Profile with_slow_arithmetic() {
  Profile profile = healthy();
  set_pattern(profile, "function", 5e6, 5e7, 5000);
  set(profile, figure::issue_use, 0.9);
  return profile;
}

inline Profile with_integer_division() {
  Profile profile = healthy();
  set_pattern(profile, "index_division", 4e6, 4.5e7, 4000);
  set(profile, figure::issue_use, 0.9);
  return profile;
}

// Loads of one word a thread with two instructions beside each, nearly all of them found in L1.
inline Profile with_repeated_loads() {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::global, Access::load, 51);
  load.executed = 3e7;
  load.sectors = load.ideal_sectors = 1.2e8;
  code_of(profile).memory = {load, access(Space::global, Access::store, 52)};
  set(profile, figure::l1_load_bytes, 3.84e9);
  set(profile, figure::l1_load_hit_bytes, 3.7e9);
  set(profile, figure::l1_use, 0.9);
  set(profile, figure::lsu_use, 0.9);
  set_stalls(profile, {{"lg_throttle", 0.4}, {"long_scoreboard", 0.3}});
  return profile;
}

inline Profile with_memory_fences() {
  Profile profile = healthy();
  set_pattern(profile, "fence", 1e6, 4e6, 7000);
  set_stalls(profile, {{"membar", 0.7}});
  return profile;
}

// A host thread and a GPU: what the one asks for, the other does.
class TraceMaker {
 public:
  TraceMaker() {
    trace_.origin = "cupti";
    trace_.architecture = "sm_90";
  }

  // A call of the host; returns its correlation.
  std::uint32_t call(CallKind kind, std::int64_t start, std::int64_t end,
                     std::uint32_t thread = 1) {
    TracedCall call;
    call.kind = kind;
    call.name = kind == CallKind::synchronize ? "cudaDeviceSynchronize" : "cudaSomething";
    call.thread = thread;
    call.correlation = ++correlation_;
    call.start_ns = start;
    call.end_ns = end;
    trace_.calls.push_back(call);
    seen(end);
    return correlation_;
  }

  void kernel(std::uint32_t correlation, std::int64_t start, std::int64_t end) {
    TracedLaunch launch;
    launch.index = static_cast<std::int64_t>(trace_.launches.size());
    launch.name = "_Z4workPf";
    launch.correlation = correlation;
    launch.start_ns = start;
    launch.end_ns = end;
    trace_.launches.push_back(launch);
    seen(end);
  }

  void copy(std::uint32_t correlation, std::int64_t start, std::int64_t end, bool pageable,
            CopyKind kind = CopyKind::host_to_device) {
    TracedCopy copy;
    copy.kind = kind;
    copy.pageable = pageable;
    copy.bytes = 1 << 20;
    copy.correlation = correlation;
    copy.start_ns = start;
    copy.end_ns = end;
    trace_.copies.push_back(copy);
    seen(end);
  }

  // Kernels of `kernel_ns`, each asked for by a call of `call_ns`; the host does nothing else.
  TraceMaker& launches(int count, std::int64_t call_ns, std::int64_t kernel_ns) {
    std::int64_t host = 0;
    std::int64_t gpu = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t asked = call(CallKind::launch, host, host + call_ns);
      host += call_ns;
      gpu = std::max(gpu + 500, host);
      kernel(asked, gpu, gpu + kernel_ns);
      gpu += kernel_ns;
    }
    return *this;
  }

  // The same with a wait for the GPU after each kernel.
  TraceMaker& launches_with_waits(int count, std::int64_t call_ns, std::int64_t kernel_ns) {
    std::int64_t time = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t asked = call(CallKind::launch, time, time + call_ns);
      time += call_ns;
      kernel(asked, time, time + kernel_ns);
      call(CallKind::synchronize, time, time + kernel_ns + 2000);
      time += kernel_ns + 2000;
    }
    return *this;
  }

  Trace& trace() { return trace_; }

 private:
  void seen(std::int64_t time) { trace_.end_ns = std::max(trace_.end_ns, time); }

  Trace trace_;
  std::uint32_t correlation_ = 0;
};

inline Profile with_trace(Trace trace) {
  Profile profile = healthy();
  profile.trace = std::move(trace);
  return profile;
}

// A clear case of each tool's defect.
inline Profile defect(const std::string& tool) {
  static const std::map<std::string, Profile (*)()> makers = {
      {"uncoalesced_access", with_uncoalesced_access},
      {"narrow_loads", with_narrow_loads},
      {"excess_traffic", with_excess_traffic},
      {"bank_conflicts", with_bank_conflicts},
      {"register_spills", with_register_spills},
      {"occupancy_limiter", with_occupancy_limiter},
      {"block_shortage", with_block_shortage},
      {"barrier_stalls", with_barrier_stalls},
      {"long_scoreboard", with_long_scoreboard},
      {"contended_atomics", with_contended_atomics},
      {"tensor_cores_unused", with_tensor_cores_unused},
      {"hmma_where_hgmma", with_hmma},
      {"divergent_warps", with_divergent_warps},
      {"accidental_double", with_accidental_double},
      {"slow_arithmetic", with_slow_arithmetic},
      {"integer_division", with_integer_division},
      {"repeated_loads", with_repeated_loads},
      {"memory_fences", with_memory_fences},
      {"launch_bound", [] { return with_trace(TraceMaker().launches(50, 8000, 2000).trace()); }},
      {"host_waits",
       [] { return with_trace(TraceMaker().launches_with_waits(20, 5000, 10000).trace()); }}};
  return makers.at(tool)();
}

inline const Tool& tool_named(const std::string& id) {
  const auto& tools = all_tools();
  return *std::find_if(tools.begin(), tools.end(),
                       [&id](const Tool& tool) { return tool.id == id; });
}

inline ToolResult run_tool(const std::string& id, const Profile& profile,
                           const Thresholds& limits = {}) {
  return tool_named(id).analyze(
      profile, profile.kernels.empty() ? nullptr : &profile.kernels.front(), limits);
}

// The predicted gain of the tool's finding; 1: it found nothing.
inline double gain_by(const std::string& id, const Profile& profile) {
  const ToolResult result = run_tool(id, profile);
  return result.findings.empty() ? 1 : result.findings.front().predicted_gain;
}

inline bool finds(const std::string& id, const Profile& profile) {
  return !run_tool(id, profile).findings.empty();
}

}  // namespace kernelpro
