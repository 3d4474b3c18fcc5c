// The playbook: expert moves made concrete for a candidate, with no LLM.
//
// It acts on what it sees in source, build options and diagnosis, never on a task's name.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"
#include "common/model/node.hpp"
#include "common/model/run.hpp"
#include "coordinator/propose/move.hpp"
#include "coordinator/propose/rewrite_memory.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

// How moves have fared so far in a run: what the playbook learns from.
struct MoveRecord {
  int tried = 0;        // judged under a parent that passed
  double log_gain = 0;  // sum of max(0, ln(speed-up over the parent)); a failure adds 0
};

using MoveRecords = std::map<std::string, MoveRecord>;

// What moves are ranked by, beside their files.
struct Experience {
  MoveRecords records;  // of this run
  // How far what is remembered of other runs is believed, from 0 to 1: as far as it has predicted
  // this run.
  double trust = 1;
};

// The candidate that is to be improved.
struct Parent {
  Candidate candidate;
  bool passed = true;
  Diagnosis diagnosis;
  std::set<std::string> moves;  // on the way from the root
  MovePriors priors;            // what other runs say of moves here; empty: nothing
};

struct Suggestion {
  Proposal proposal;
  double promise = 0;    // of its move, by the move file and the parent's class
  MovePrior remembered;  // what other runs say of it
  double weight = 1;     // less than 1 at later sites, and for a move made before on the way
  // Its candidate is the parent itself, whose tunables a tuner is to sweep.
  bool sweep = false;
};

// Moves that did not apply, and why: for `why` and for people who write moves.
struct Refusal {
  std::string move;
  std::string reason;
};

struct PlaybookSettings {
  std::filesystem::path moves;     // the folder of move files
  std::vector<std::string> tiers;  // empty: all
  std::vector<std::string> only;   // ids; empty: all
  bool fast_math = true;
  bool sweep = false;  // tunables are for a tuner; otherwise each step of one is a suggestion
  std::vector<std::string> compilers;  // names that the worker has
  ParseSettings parse;
};

// Remembers what it has parsed and rewritten, so it is for one thread at a time.
class Playbook {
 public:
  // Errors name the malformed file, or the unknown tier or move with the known ones.
  [[nodiscard]] static Result<Playbook> load(const PlaybookSettings& settings);

  // Why the move cannot be considered for this parent at all; empty: it can.
  [[nodiscard]] std::string obstacle(const Move& move, const Parent& parent) const;

  // The move made concrete at every site, the most promising first. Blocks while clang parses. An
  // error says why it does not apply; a source that does not parse still gets moves without a
  // rewriter.
  [[nodiscard]] Result<std::vector<Suggestion>> suggest(const Move& move, const Parent& parent,
                                                        std::stop_token stop = {}) const;

  // Parses the candidate, which takes clang a while, so that a later `suggest` need not: for time
  // that would be spent waiting anyway.
  void look_ahead(const Candidate& candidate, const std::stop_token& stop) const;

  // The expected log gain, given how the move has fared so far; of a move: at its first site.
  [[nodiscard]] static double promise(const Suggestion& suggestion, const Experience& experience);
  [[nodiscard]] static double promise(const Move& move, const Parent& parent,
                                      const Experience& experience);
  // What the move file alone promises there, whatever was made before.
  [[nodiscard]] static double file_promise(const Move& move, const Parent& parent);

  // Those that it makes itself.
  [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
  // Names that the worker has.
  [[nodiscard]] const std::vector<std::string>& compilers() const { return settings_.compilers; }
  // All of the folder, also those that somebody has to write.
  [[nodiscard]] const std::vector<Move>& known_moves() const { return known_moves_; }

 private:
  Playbook(PlaybookSettings settings, std::vector<Move> moves, std::vector<Move> known_moves)
      : settings_(std::move(settings)),
        moves_(std::move(moves)),
        known_moves_(std::move(known_moves)),
        memory_(std::make_unique<RewriteMemory>(settings_.parse)) {}
  // The sites of its last rewriter that applies, after the others were applied at their first site.
  [[nodiscard]] Result<std::vector<Rewritten>> rewritten(const Move& move,
                                                         const std::string& source,
                                                         const std::stop_token& stop) const;
  [[nodiscard]] bool holds(const Condition& condition, const Parent& parent) const;

  PlaybookSettings settings_;
  std::vector<Move> moves_;
  std::vector<Move> known_moves_;
  std::unique_ptr<RewriteMemory> memory_;
};

}  // namespace kernelpro
