// Every number that a tool holds what it saw against, with its reason.
//
// From reasoning, published figures, and one half of the cases of bench/defects;
// bench/tool_precision reports on the other.
#pragma once

namespace kernelpro {

struct Thresholds {
  // A finding must be worth an engineer's hour: less than a tenth of the kernel's time is lost in
  // the noise of the next change.
  double least_kernel_gain = 1.10;
  // For the whole program less is enough, or a program of many kernels would hear nothing.
  double least_program_gain = 1.02;
  double medium_gain = 1.20;  // of the program, for severity medium
  double high_gain = 1.50;    // and high

  // Fewer samples say nothing: with 50 a share of 0.2 is known to within 0.06.
  double least_samples = 50;

  // What a real kernel reaches of a unit's own peak. DRAM: a copy on an H200 reaches 4.2 of 4.8
  // TB/s, a fill 4.6; only where no ceiling was measured.
  double dram_attainable = 0.90;
  // Of the bandwidth measured by the plainest kernel: good kernels with some arithmetic, a tile or
  // one wave of blocks were seen at 0.88 to 1.0 of it.
  double dram_reached = 0.92;
  // Kernels that stream from L2 reach about 0.7 of the peak of its tag stage, which is what is
  // counted.
  double l2_attainable = 0.70;
  double l1_attainable = 0.95;     // a kernel with 32-way conflicts was seen at 0.953
  double issue_attainable = 0.97;  // independent multiply-adds were seen at 0.97
  double pipe_attainable = 0.95;
  double tensor_attainable = 0.90;
  // Of the busiest slice of L2: atomics with a result, all to one address, were seen at 0.33.
  double atomic_attainable = 0.35;
  // Hiding latencies brings a kernel this near to its fullest roof: what waits beyond it waits in
  // the queue of that roof.
  double hidden_reach = 0.85;
  // From this load on a roof counts as what limits, and less work for it as less time.
  double full_roof = 0.60;

  // uncoalesced_access: a quarter of the sectors is unused; aligned neighbors need none of it, a
  // misaligned row one sector in five.
  double excess_sector_share = 0.25;

  // narrow_loads: a thread can load 16 bytes at once; 8 bytes or fewer leave a factor of two.
  double narrow_bits = 64;
  double wide_bits = 128;
  double narrow_share = 0.5;         // of all bytes loaded from global memory
  double contiguous_slack = 0.15;    // threads that side by side load neighbors, within this
  double instructions_per_load = 2;  // the load and the reckoning of its address
  // Memory that is not full answers within this: 370 to 500 ns were seen where DRAM was used to a
  // half, 730 at 0.94 of its ceiling, 1400 and more where it was full. Twice as long is all queue.
  double answered_ns = 750;

  // Tools for latency say nothing of a grid that leaves multiprocessors without work for more of
  // the time than this: more blocks first.
  double most_idle = 0.3;
  // Nor of one that waits for spills or atomics more often than for its loads.
  double global_load_share = 0.5;

  // excess_traffic: a third more than needed is below what caches and alignment explain.
  double dram_traffic_ratio = 1.30;
  // Tiles are read again from L2 by design; a good one needs a few times the bytes, and a product
  // as many as tiles of this many rows and columns read.
  double l2_traffic_ratio = 4;
  double product_tile = 128;
  // L2 counts what comes from DRAM or from its other half once more: good products show 1.6 times
  // the bytes of their tiles.
  double l2_counted_again = 1.7;

  // bank_conflicts: a fifth of the wavefronts; ncu's ideal is exact, stray ones come from
  // arbitration.
  double conflict_share = 0.2;

  // register_spills: one instruction in a hundred; less is a prologue, not a hot loop.
  double local_share = 0.01;

  // occupancy_limiter: with a third of the warps (21) and a few independent instructions in each,
  // latencies are hidden on recent GPUs; registers that hold what is needed are then well spent.
  double most_occupancy = 0.34;
  // Where threads wait for one load after the other below every roof, half of the warps are too few
  // as well: searches in a table and walks through a graph gained 1.2 to 2 times from there. So
  // they are where blocks of one warp are all that is in the way.
  double waiting_occupancy = 0.51;
  double most_eligible_warps = 1;  // a scheduler with a warp ready each cycle lacks no warps
  double occupancy_step = 4;       // what cutting registers or tiles gives at most

  // block_shortage without counters: with half of the multiprocessors empty no other limit matters.
  double few_blocks = 0.5;
  // Launch and drain of a kernel, which no better kernel takes away.
  double fixed_kernel_ns = 2000;
  // Blocks of one length end so far apart: multiprocessors have L2 and DRAM at different distances.
  // Seen: up to 0.13 where the work is the same, from 0.19 where it is not.
  double equal_blocks = 0.14;
  double enough_occupancy = 0.5;  // achieved: more blocks would then find the warps' waits hidden

  // barrier_stalls
  double barrier_share = 0.15;  // of samples
  // Warps that wait at a barrier do not all run instead: the slowest warp's way stays.
  double barrier_recoverable = 0.7;

  // long_scoreboard
  double long_scoreboard_share = 0.3;
  double most_loads_in_flight = 2.5;
  double aimed_loads_in_flight = 8;  // with 16 bytes each a few warps then fill DRAM

  // contended_atomics
  double atomic_use = 0.3;         // of the busiest slice of L2
  double atomic_line_share = 0.2;  // of samples at the lines of shared atomics
  double atomics_left = 0.03;      // one of a warp's 32 after reduction inside the warp
  // Sectors a cycle that all slices take for atomics, over the use of the busiest one: 1.3 where
  // all go to one address, 122 where they are spread evenly. From half of that on none is much
  // busier than the others.
  double spread_atomics = 60;
  // Turns an access to shared memory: 32 threads at random words need 3.2 to 3.5, because of the
  // banks alone.
  double contended_turns = 4.5;
  // That take part in a turn of a loop; fewer: most threads try again and again. 32 threads at one
  // address are 16.5 on average.
  double contended_threads = 20;

  // tensor_cores_unused
  double dot_share = 0.08;      // of executed instructions; a plain loop has a fifth
  double dot_intensity = 8;     // operations a byte of DRAM; a matrix-vector product has 0.5
  double dot_l2_intensity = 1;  // operations a byte of L2
  double tensor_reached = 0.5;  // of the tensor ceiling, by a first good version
  double tiled_relief = 0.9;    // of L1, L2 and instructions, once tiles are read by a whole block

  // hmma_where_hgmma: warp-wide instructions keep Hopper's tensor cores busy 1/0.62 of the time
  // that warp-group ones need (seen: 4.3 % of the pipe for 2.6 % of the peak).
  double hmma_rate = 0.62;
  double hmma_share =
      0.05;  // of executed instructions; fragments loaded straight from memory: 0.06
  double hgmma_reached = 0.75;  // of the peak, by good products; seen: 0.7 to 0.81
  double most_hgmma_gain = 4;
  // Of L1: a warp group reads its operands once, not once a warp. Of L2: its tiles can be larger.
  double hgmma_relief = 0.5;
  // Of DRAM: with more, and more than of the tensor cores, it is memory that bounds a product.
  double memory_product = 0.5;
  double least_product_ns = 10000;  // a shorter product does not fill a pipeline of tiles

  // divergent_warps: an eighth is what a boundary or four idle lanes of a warp cost.
  double idle_turns = 0.125;

  // accidental_double: of executed instructions. Going to double and back for one constant is
  // three.
  double double_share = 0.03;
  double most_trip_steps = 250;  // between the two conversions: pow, the longest, has about 200
  double plain_trip_steps = 8;   // a constant or two; more is a function
  double single_function_steps = 0.4;  // of those in double: expf has 8 of 20 and more
  // Turns of a pipe, against one of single precision: on Hopper double goes at half the rate, and
  // conversions between the two at an eighth.
  double double_turns = 2;
  double conversion_turns = 8;

  // slow_arithmetic: with fewer steps of functions the gain is below a tenth.
  double function_share = 0.1;
  // Of a multiprocessor's special function unit, for one instruction of a warp: it has 16 lanes.
  double special_cycles = 2;

  // integer_division: a division by a prepared factor is a product, a sum and a shift instead of
  // ten instructions and more.
  double division_share = 0.1;
  double division_left = 0.25;
  // An address has a few divisions; a greatest common divisor has dozens for two loads.
  double accesses_a_division = 0.2;

  // repeated_loads: of the loaded bytes; a halo of two rows around eight is a fifth.
  double repeated_share = 0.5;
  double repeated_coalesced = 0.4;  // less: gathers by an index, which nobody can keep
  double enough_uses = 6;           // instructions a loaded word: its load is paid for
  double uses_a_load = 4;           // results of a thread that one loaded value can serve
  double repeated_from_l2 = 1.5;    // times what DRAM gave

  // memory_fences: of the time.
  double order_share = 0.1;
  // A plain load from L1 is back in about 40 cycles, one from L2 in about 270, an atomic in twice
  // that.
  double fresh_load_saved = 0.85;
  double atomic_load_saved = 0.5;

  // launch_bound: what stays between two kernels of a graph.
  double graph_gap_ns = 1000;
  // What the tracing of a call costs the host, and the program without it does not pay (launches of
  // 3.7 and 3.9 us were traced at 6.3 and 6.6).
  double traced_call_ns = 2700;
  // What starting and ending costs even an empty kernel on the GPU: it goes where kernels are
  // fused.
  double empty_kernel_ns = 1500;
  // A host that is late by more than this was at other work, not at launching.
  double longest_launch_gap_ns = 200000;
  // host_waits: pinned memory is copied about 2.5 times as fast as pageable memory.
  double pinned_speed = 2.5;
  double copies_overlapped = 0.5;  // of exposed copies, when chunks are copied beside kernels

  // On processors. A loop with less of the time is not worth a change.
  double least_loop_share = 0.10;
  // Wider vectors exist, but compilers use 256 bits unless they are told, and clocks may fall.
  double used_vector_bits = 256;
  // What is reached of as many times the speed as a vector has elements.
  double lanes_reached = 0.6;
  // dependent_chain: units idle for most of the time while a value is waited for. A sum in several
  // parts, which is short of one or two more, is no chain to break.
  double chain_ratio = 2.5;
  double least_chain_cycles = 2.5;  // a counter that is counted up takes one
  double chains = 8;                // that can be under way at once
  double overlapped = 0.6;  // of the chain's cycles, by measurement: turns of several loops overlap
  double chain_hidden = 2;  // times the chain's cycles: most of a turn waits for something else
  // A line comes out of the second cache in so many cycles, where no loads are chained.
  double line_cycles = 4;
  // poor_locality: half of what is fetched is not used before it is gone.
  double fetched_over_used = 2;
  double fetched_over_needed = 8;  // beyond the first cache, against the task's least traffic
  double line_bytes = 64;
  double miss_share = 0.2;  // of a loop's time
  // idle_threads: of all processors' time while the program works.
  double least_efficiency = 0.75;
  double serial_loops = 0.5;  // of the time in loops, before a serial program is told to share them
  double parallel_reached = 0.9;
  // slow_math: where each division has another divisor, nothing but another way to divide helps.
  double division_gain = 1.3;
  // page_faults: the kernel gives zeroed memory in pages of 4 KiB.
  double page_bytes = 4096;
  double least_faults = 1000;
  double touched_again = 2;  // pages that were given, over those that the program had at a time
  // A fault that takes longer gave a large page, of 2 MiB; then nobody counted how much was given.
  double longest_small_fault_ns = 15000;
};

}  // namespace kernelpro
