// The keys of a kernel's figures. worker/profile/metrics.hpp says how each is read off ncu; shares
// and rates are from 0 to 1 (never percent), bytes are bytes and times nanoseconds.
#pragma once

namespace kernelpro::figure {

inline constexpr char duration_ns[] = "duration_ns";
// Traffic.
inline constexpr char dram_read_bytes[] = "dram_read_bytes";
inline constexpr char dram_write_bytes[] = "dram_write_bytes";
inline constexpr char l2_bytes[] = "l2_bytes";
inline constexpr char l2_read_bytes[] = "l2_read_bytes";  // that L1 asked for
inline constexpr char l1_load_bytes[] = "l1_load_bytes";  // sectors of loads from global memory
inline constexpr char l1_load_hit_bytes[] = "l1_load_hit_bytes";
inline constexpr char l2_hit_rate[] = "l2_hit_rate";
inline constexpr char l1_hit_rate[] = "l1_hit_rate";
// How far a unit is used, of its own peak over the kernel's whole time.
inline constexpr char dram_use[] = "dram_use";
inline constexpr char l2_use[] = "l2_use";
inline constexpr char l1_use[] = "l1_use";        // wavefronts of L1 and shared memory
inline constexpr char issue_use[] = "issue_use";  // issue slots
inline constexpr char fma_use[] = "fma_use";
inline constexpr char alu_use[] = "alu_use";
inline constexpr char special_use[] = "special_use";  // sines, roots, conversions
inline constexpr char fp64_use[] = "fp64_use";
inline constexpr char lsu_use[] = "lsu_use";
inline constexpr char tensor_use[] = "tensor_use";
inline constexpr char atomic_use[] = "atomic_use";  // the L2's units for atomics, the busiest one
// Occupancy.
inline constexpr char occupancy[] = "occupancy";  // achieved
inline constexpr char theoretical_occupancy[] = "theoretical_occupancy";
inline constexpr char registers[] = "registers";  // per thread, allocated
inline constexpr char static_shared_bytes[] = "static_shared_bytes";
inline constexpr char dynamic_shared_bytes[] = "dynamic_shared_bytes";
inline constexpr char limit_blocks[] = "limit_blocks";  // in blocks a multiprocessor, as the others
inline constexpr char limit_registers[] = "limit_registers";
inline constexpr char limit_shared[] = "limit_shared";
inline constexpr char limit_warps[] = "limit_warps";
inline constexpr char limit_barriers[] = "limit_barriers";
inline constexpr char waves[] = "waves";  // grid over what fits on the GPU at once
// Balance, in cycles of the multiprocessors.
inline constexpr char sm_active_mean[] = "sm_active_mean";
inline constexpr char sm_active_most[] = "sm_active_most";
inline constexpr char sm_active_least[] = "sm_active_least";
inline constexpr char sm_elapsed[] = "sm_elapsed";
// Instructions and requests.
inline constexpr char instructions[] = "instructions";        // executed, by warps
inline constexpr char active_threads[] = "active_threads";    // of a warp, an instruction
inline constexpr char working_threads[] = "working_threads";  // without those predicated off
inline constexpr char eligible_warps[] = "eligible_warps";    // a cycle and scheduler
inline constexpr char shared_wavefronts[] = "shared_wavefronts";
inline constexpr char shared_conflicts[] = "shared_conflicts";    // wavefronts too many
inline constexpr char atomic_sectors[] = "atomic_sectors";        // at L2, with a result
inline constexpr char reduction_sectors[] = "reduction_sectors";  // at L2, without

}  // namespace kernelpro::figure
