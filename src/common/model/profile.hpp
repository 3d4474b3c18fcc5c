// What is known of how kernels run: one value, from three levels (system, kernel, instruction),
// with the origin of each figure. What could not be measured is absent and never zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/ceilings.hpp"
#include "common/model/host_profile.hpp"
#include "common/model/source_place.hpp"
#include "common/model/trace.hpp"

namespace kernelpro {

enum class Origin {
  counter,     // the GPU's counters, by ncu
  sample,      // sampling of warps by ncu, or of threads by our own sampler
  trace,       // CUPTI or nsys
  code,        // the machine code
  arithmetic,  // computed from other figures and the GPU's limits
  declared,    // the task says so
  simulation,  // llvm-mca, callgrind
};

[[nodiscard]] std::string_view name_of(Origin origin);

struct Figure {
  double value = 0;
  Origin origin = Origin::counter;
};

// Why a warp did not issue, as the GPU samples it (the names of ncu's stall reasons).
using Stalls = std::map<std::string, double>;  // "long_scoreboard" -> samples

enum class Space { global, shared, local, constant, distributed, other };
enum class Access { load, store, atomic, reduction, async_copy, bulk_copy };

[[nodiscard]] std::string_view name_of(Space space);
[[nodiscard]] std::string_view name_of(Access access);

// One instruction that touches memory.
struct MemoryInstruction {
  Space space = Space::global;
  Access access = Access::load;
  int bits = 32;   // that a thread moves; 0: a bulk copy, one instruction moves it all
  int offset = 0;  // in the function's code
  SourcePlace place;
  int loop = -1;  // the innermost loop it lies in; -1: none
  // The rest is absent where there were no counters.
  std::optional<double> executed;       // by warps
  std::optional<double> threads;        // threads that took part, over all of them
  std::optional<double> sectors;        // global: 32-byte sectors its addresses need
  std::optional<double> ideal_sectors;  // the fewest for that many bytes
  std::optional<double> wavefronts;     // shared: turns its addresses need
  std::optional<double> ideal_wavefronts;
  std::optional<double> samples;  // of warps that wait at this instruction
};

// A loop of the machine code: a backward branch and what it spans.
struct CodeLoop {
  int begin = 0;  // offsets
  int end = 0;
  int depth = 1;  // 1: outermost
  int instructions = 0;
  int global_loads = 0;     // load instructions from global memory in its body (not inner loops)
  int loads_in_flight = 0;  // the most of them that are issued before the first value is used
  int barriers = 0;
  // Multiply-adds whose two factors were both loaded in this loop and whose sum stays in a register
  // from turn to turn: the heart of a matrix product.
  int dot_steps = 0;
  std::optional<double> executed;  // turns, by warps
  SourcePlace place;
};

// Work of one kind that often could be spared, where the code was counted.
struct CodePattern {
  double begun = 0;                 // how often, by warps: divisions, fences …
  double executed = 0;              // instructions that this took, by warps
  double samples = 0;               // of warps that waited at them
  std::vector<SourcePlace> places;  // most first, three at most
};

// What the machine code of one kernel says. Amounts are by warps where counters gave them
// (`counted`), otherwise the number of instructions in the code.
struct CodeFacts {
  bool counted = false;
  int instructions = 0;
  // By kind: "fp32", "fp64", "fp16", "integer", "conversion", "special" (MUFU), "branch",
  // "barrier" (of a block), "mbarrier", "hmma", "imma", "dmma", "hgmma", "igmma", "qgmma", "bgmma",
  // "utcmma", "tma_load", "tma_store", "bulk_copy", "cp_async", "load_global", "store_global",
  // "load_shared", "store_shared", "load_local", "store_local", "load_constant", "atomic_global",
  // "atomic_shared", "reduction_global", "shuffle", "vote", "move", "uniform", "call", "other".
  std::map<std::string, double> mix;
  std::vector<MemoryInstruction> memory;
  std::vector<CodeLoop> loops;
  double dot_steps = 0;         // of all loops, by warps where counted
  double slow_divisions = 0;    // calls of the slow path of a division or root
  double fp64_conversions = 0;  // between single and double: double precision by accident
  bool has_lines = false;
  // By kind, only what there is; absent: not looked for, or not counted.
  //   "divergent"    threads that stood aside, as instructions of whole warps
  //   "double", "to_double", "from_double"  arithmetic in double precision; conversions between it
  //     and single precision, where a comparison in double counts as one back
  //   "integer_to_double"  conversions of integers
  //   "function"     divisions, roots and functions, beyond their fast forms
  //   "index_division"  divisions of integers
  //   "fence", "fresh_load"  in loops: fences beyond the block; loads that may not use L1
  //   "atomic_load"  atomics that change nothing
  //   "spin"         loops that only wait for a value at one place in memory
  //   "reload"       loads from an address that the same loop has loaded before
  std::optional<std::map<std::string, CodePattern>> patterns;
};

// The samples of one source line.
struct HotLine {
  SourcePlace place;
  std::string text;  // of the line, where the source was found
  double samples = 0;
  Stalls stalls;
};

// What ncu's own rules say of a kernel.
struct RuleNote {
  std::string rule;
  std::string type;  // "OPT", "INF", "WRN"
  std::string text;
  std::optional<double> speedup_percent;
};

// One kernel, at one launch that stands for all of its launches.
struct KernelProfile {
  std::string name;     // for people
  std::string mangled;  // empty: not known
  std::string module;
  std::int64_t launch = 0;  // its index in the process
  Extent grid{};
  Extent block{};
  int launches = 0;        // of this kernel, in the traced part
  double share = 1;        // of the traced time of all kernels
  double duration_ns = 0;  // median of its launches, by trace; of the profiled one without a trace
  // Keys are ours: worker/profile/metrics.hpp lists them with ncu's names.
  std::map<std::string, Figure> figures;
  std::map<std::string, std::string> missing;  // key -> why
  Stalls stalls;                               // of all its samples
  std::optional<CodeFacts> code;
  std::vector<HotLine> lines;  // most samples first
  std::vector<RuleNote> rules;
  std::vector<HostLoop> loops;  // on processors: most time first

  [[nodiscard]] std::optional<double> figure(const std::string& key) const;
};

// What the task says has to be done in the traced part.
struct DeclaredWork {
  double flops = 0;
  double read_bytes = 0;   // at least
  double write_bytes = 0;  // at least
  std::string type;        // "f32", "f16" …: of the arithmetic
  int calls = 1;           // that the traced part holds
};

struct Profile {
  std::string program;       // what was profiled, for people
  std::string architecture;  // "sm_90"
  std::string device;
  std::string counters;                  // empty: they were read; otherwise why not, and the remedy
  std::map<std::string, double> limits;  // of the GPU: "multiprocessors", "warps", "blocks",
                                         // "registers", "shared_bytes", "block_shared_bytes",
                                         // "reserved_shared_bytes", "threads", "l2_bytes"
  Ceilings ceilings;
  std::optional<DeclaredWork> work;
  std::optional<Trace> trace;
  std::optional<HostRun> host;         // it ran on processors: a kernel is a function there
  std::vector<KernelProfile> kernels;  // most time first

  // Absent where it is not known.
  [[nodiscard]] std::optional<double> limit(const std::string& name) const;
};

}  // namespace kernelpro
