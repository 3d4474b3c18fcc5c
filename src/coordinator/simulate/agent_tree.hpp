// Trees as agents grow them, drawn from a model of agents: nothing of them is recorded, so every
// number of the model is a claim. What runs have told of is chosen by them, the rest is swept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "common/base/result.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// Speeds are logarithms over the baseline's.
struct AgentModel {
  double headroom = 1.8;  // of the optimum: a bound that no program passes
  double right = 0.8;     // chance that a proposal passes at the first try
  double repair = 0.5;    // chance that a repair passes; then it is what its failure was to be
  double pays = 0.45;     // chance that the first proposal for a program is faster than it
  double tires = 0.9;     // of that chance, with each further proposal for the same program
  double gain = 0.3;      // mean gain of what pays, at the root
  double fade = 0.85;     // of that, from a program to one made of it
  double loss = 0.15;     // mean loss of what does not pay
  double repeats = 0.03;  // chance that a proposal repeats a given one of its elder siblings
  double noise = 0.01;    // of a measured time
  // What runs do not tell of.
  double dead = 0.2;       // chance that nothing made of a faster program pays
  double deceptive = 0.2;  // chance that a first step gains three times as much, and leads nowhere
  double shift = 0.2;      // chance that a faster program is held up by something else, so that as
                           // much can be gained as at the root
  double foresight = 0.5;  // of a diagnosis: from 0, it tells nothing, to 1, it tells the mean gain
};

struct AgentLandscape {
  std::string name;
  AgentModel model;
  bool proof = false;  // constants of searches are chosen on the others
};

// The swept points: every combination of what runs do not tell of, with a deft and a clumsy agent.
// As on a chessboard, half of them are for proofs.
[[nodiscard]] std::vector<AgentLandscape> agent_landscapes();

struct AgentProgram {
  std::uint64_t key = 0;  // of its draws
  Outcome outcome = Outcome::passed;
  double speed = 0;            // what it has, or would have if it passed
  double ceiling = 0;          // nothing made of it is faster
  double mean_gain = 0;        // of what pays under it
  int depth = 0;               // steps from the root
  int kind = 0;                // what holds it up
  int failures = 0;            // in a row, this one included
  std::uint64_t children = 0;  // proposed so far

  [[nodiscard]] bool passed() const { return outcome == Outcome::passed; }
};

// One tree of a model, grown as it is asked for: a child is a function of its parent and its number
// alone, whoever asks and when.
class AgentTree {
 public:
  AgentTree(const AgentModel& model, std::uint64_t seed) : model_(model), seed_(seed) {}

  [[nodiscard]] AgentProgram root() const;
  struct Child {
    AgentProgram program;
    bool repeats = false;  // it is one of its elder siblings: nothing is to be judged
  };
  // The next one. Nothing once repairs have failed too often, or an agent would only repeat itself.
  [[nodiscard]] std::optional<Child> next_child(AgentProgram& parent) const;

  [[nodiscard]] double measured_speed(const AgentProgram& program) const;
  [[nodiscard]] double noise() const { return model_.noise; }
  // What a diagnosis of the program says may be gained by the next step; at least a thousandth.
  [[nodiscard]] double outlook(const AgentProgram& program) const;
  // The share of the optimum's speed that the program has; 0 of a failure.
  [[nodiscard]] double share(const AgentProgram& program) const;

 private:
  // What an agent makes of a failure, and of a program; `fresh` is what is left of its chance.
  [[nodiscard]] AgentProgram repaired(const AgentProgram& failed, Random& random) const;
  [[nodiscard]] AgentProgram improved(const AgentProgram& parent, double fresh,
                                      Random& random) const;

  AgentModel model_;
  std::uint64_t seed_;
};

[[nodiscard]] nlohmann::json to_json(const AgentLandscape& landscape);
// bad_input: a key is missing, or its value is no chance, or not above 0.
[[nodiscard]] Result<AgentLandscape> agent_landscape_from_json(const nlohmann::json& json);

}  // namespace kernelpro
