// What runs have learned, for runs to come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/model/backend.hpp"
#include "common/model/tool_record.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// What is seen of a task, a device or code, as numbers by name: docs/memory.md lists them. One that
// is not known is not there.
using Traits = std::map<std::string, double>;

// What came of trying one thing several times.
struct Tally {
  std::int64_t tried = 0;   // judged, under a parent that passed
  std::int64_t failed = 0;  // of these
  double mean = 0;          // of ln(speed-up over the parent), over those that passed
  double spread = 0;        // their standard deviation
  double useful = 0;        // mean of max(0, that) over all tried; a failure counts 0
  std::map<std::string, std::int64_t> causes = {};  // NOLINT(readability-redundant-member-init)

  void add_gain(double log_gain);
  void add_failure(Outcome outcome);
  void merge(const Tally& other);
};

// A move, tried in one kind of situation.
struct Lesson {
  Backend backend = Backend::cpu;
  Traits task;
  Traits device;
  Traits code;             // of the candidate that the move was made on
  std::string bottleneck;  // its class: of its main kernel where it was profiled
  std::string finding;     // the tool whose finding named the move; empty: none did
  std::string move;
  std::string site;  // of sizes: "TILE_I = 32"; else empty
  Tally tally;
  double confirmed = 0;     // how often later runs that were told of it saw the same
  double contradicted = 0;  // and how often something else; both by likeness
  std::int64_t age = 0;     // runs since it was last added to
};

// What models got wrong about libraries, compilers or precision: "there is no header x.h here".
struct LearnedFact {
  Backend backend = Backend::cpu;
  std::string architecture;  // of the device: "aarch64", "90a"
  std::string text;
  std::int64_t seen = 1;
  std::int64_t age = 0;
};

// A lesson as one run was told of it. The run keeps it: whatever becomes of the memory, the run is
// the same when it is taken up again.
struct Recalled {
  std::int64_t id = 0;  // in its memory
  double weight = 1;    // how much its task, device, age and record make of it, up to 1
  Traits code;
  std::string bottleneck;
  std::string finding;
  std::string move;
  std::string site;
  Tally tally;
};

struct Recollection {
  std::string memory;  // which one it comes from; empty: none
  std::vector<Recalled> lessons;
  std::vector<std::string> facts;
  std::vector<ToolRecord> tools = {};  // NOLINT(readability-redundant-member-init)
};

// What lessons say of one move in one situation, for people and models.
struct Advice {
  std::string move;
  Tally tally;        // of all of them
  double weight = 0;  // how much they say about it: by likeness and tries
};

// What is remembered of a move in one situation.
struct MovePrior {
  double gain = 0;    // expected max(0, ln(speed-up over the parent))
  double trials = 0;  // how many trials that is worth
};

// By move, and by move and site where the site is a size: see `prior_key`.
using MovePriors = std::map<std::string, MovePrior>;

// Whether a site is a size of a tunable, "TILE_I = 32", which means the same in another source.
[[nodiscard]] bool is_size(const std::string& site);
[[nodiscard]] std::string prior_key(const std::string& move, const std::string& site);
// Nothing is known: no trials.
[[nodiscard]] MovePrior find_prior(const MovePriors& priors, const std::string& move,
                                   const std::string& site);

}  // namespace kernelpro
