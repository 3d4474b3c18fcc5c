// What is known of how a program runs on processors, beside what a profile says of any kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/source_place.hpp"

namespace kernelpro {

// An innermost loop of the machine code, which most time is spent in.
struct HostLoop {
  std::int64_t begin = 0;  // addresses in its module, the branch back included
  std::int64_t end = 0;
  double share = 0;  // of the time that was sampled
  SourcePlace place;
  int instructions = 0;
  // Arithmetic on data that was loaded or is carried along, not on addresses and counters.
  int scalar = 0;        // instructions for one element
  int packed = 0;        // for a vector of them
  int vector_bits = 0;   // of the widest of these; 0: none
  int element_bits = 0;  // of the data; 0: not known
  int loads = 0;
  int stores = 0;
  int access_bytes = 0;  // that all of these touch together; 0: not known
  int gathers = 0;  // elements that are collected one by one into a vector, and gather instructions
  int branches = 0;   // beside the one back
  int divisions = 0;  // and square roots
  int indirect = 0;   // accesses whose address was loaded in the loop
  // A value is carried from turn to turn: by one operation whose order does not matter but for
  // rounding (a sum, a maximum), or otherwise.
  bool reduction = false;
  bool recurrence = false;
  bool chased = false;             // the next address comes out of memory: a list, a tree
  std::vector<std::string> calls;  // of functions, by name where that is known
  // By llvm-mca, in cycles a turn, with all data in L1: what a turn takes when each value waits for
  // the one before it, and what the units need for its instructions.
  std::optional<double> chain_cycles;
  std::optional<double> unit_cycles;
  // The same with each division and square root made a product; none: it has no such.
  std::optional<double> product_chain_cycles;
  std::optional<double> product_unit_cycles;
  // By callgrind, with its caches.
  std::optional<double> turns;   // in a call, or in the whole program
  std::optional<double> cycles;  // that a turn took, by that and the samples
  std::optional<double> accesses;
  std::optional<double> first_misses;  // lines that the first cache fetched
  std::optional<double> last_misses;   // and the last
  std::vector<std::string> remarks;    // what the compiler said of not vectorizing it
};

// The samples of a thread.
struct ThreadTime {
  double working = 0;
  double waiting = 0;  // in the code that waits for other threads
};

struct HostRun {
  int processors = 1;  // that it may use
  int processes = 1;   // of the program, that were seen at work
  double samples = 0;
  double period_ns = 0;               // of processor time between samples
  double span_ns = 0;                 // of the sampled part
  double gigahertz = 0;               // as it was measured
  double call_ns = 0;                 // of a candidate; 0: a program
  double system_share = 0;            // of its processor time, in the kernel
  double faults = 0;                  // pages that it was given on their first touch
  double resident_bytes = 0;          // that it had at most
  std::string ended;                  // how the program ended, where that was not well
  int vector_bits = 128;              // of the widest registers here
  std::vector<ThreadTime> threads;    // most work first
  std::vector<std::string> evidence;  // what was used: "samples", "machine code", …
};

}  // namespace kernelpro
