#include "coordinator/simulate/agent_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kernelpro {

namespace {

// As `optimize` has it by default.
constexpr int most_failures = 4;
// An agent that repeats itself so surely has nothing left.
constexpr double most_repetition = 0.95;
// A deceptive first step gains so many times as much, and leaves so much of the way at most.
constexpr double deceptive_gain = 3;
constexpr double deceptive_rest = 0.3;
// How far a diagnosis without foresight is off, in logarithms of the gain that it predicts.
constexpr double blind_spread = 0.8;
constexpr double least_outlook = 0.001;

// What draws of one program are for, beside its children.
enum AgentStream : std::uint64_t { measuring = 1'000'001, diagnosing };

double exponential(Random& random, double mean) {
  return -mean * std::log(1 - random.unit());
}

double normal(Random& random) {
  const double radius = std::sqrt(exponential(random, 2));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

Outcome failure(Random& random) {
  constexpr double builds = 0.6;
  return random.unit() < builds ? Outcome::incorrect : Outcome::build_failed;
}

}  // namespace

AgentProgram AgentTree::root() const {
  AgentProgram root;
  root.key = counter_hash(seed_, 0);
  root.ceiling = model_.headroom;
  root.mean_gain = model_.gain;
  return root;
}

std::optional<AgentTree::Child> AgentTree::next_child(AgentProgram& parent) const {
  const auto number = static_cast<double>(parent.children);
  const double repetition = 1 - std::pow(1 - model_.repeats, number);
  if (parent.failures >= most_failures || repetition > most_repetition) {
    return std::nullopt;
  }
  const std::uint64_t key = counter_hash(parent.key, parent.children++);
  Random random(key);
  Child child;
  child.repeats = random.unit() < repetition;
  child.program = parent.passed() ? improved(parent, std::pow(model_.tires, number), random)
                                  : repaired(parent, random);
  child.program.key = key;
  child.program.depth = parent.depth + 1;
  return child;
}

AgentProgram AgentTree::repaired(const AgentProgram& failed, Random& random) const {
  AgentProgram program = failed;
  program.children = 0;
  const bool passes = random.unit() < model_.repair;
  program.outcome = passes ? Outcome::passed : failure(random);
  program.failures = passes ? 0 : failed.failures + 1;
  return program;
}

AgentProgram AgentTree::improved(const AgentProgram& parent, double fresh, Random& random) const {
  const bool right = random.unit() < model_.right;
  const bool pays = parent.mean_gain > 0 && random.unit() < model_.pays * fresh;
  const bool deceptive = parent.depth == 0 && random.unit() < model_.deceptive;
  const bool dead = random.unit() < model_.dead;
  const bool shifts = random.unit() < model_.shift;
  const double gain =
      pays || deceptive ? exponential(random, parent.mean_gain) : -exponential(random, model_.loss);
  AgentProgram program;
  program.speed = std::min(parent.ceiling, parent.speed + (deceptive ? deceptive_gain : 1) * gain);
  program.ceiling = parent.ceiling;
  program.kind = parent.kind;
  program.mean_gain = parent.mean_gain * model_.fade;
  if (deceptive) {
    program.ceiling =
        program.speed + deceptive_rest * random.unit() * (parent.ceiling - program.speed);
  } else if (pays && dead) {
    program.mean_gain = 0;
  } else if (pays && shifts) {
    program.mean_gain = model_.gain;
    program.kind = parent.kind + 1;
  }
  program.outcome = right ? Outcome::passed : failure(random);
  program.failures = right ? 0 : 1;
  return program;
}

double AgentTree::measured_speed(const AgentProgram& program) const {
  Random random(counter_hash(program.key, measuring));
  return program.speed + model_.noise * normal(random);
}

double AgentTree::outlook(const AgentProgram& program) const {
  Random random(counter_hash(program.key, diagnosing));
  const double left = std::min(program.mean_gain, program.ceiling - program.speed);
  const double truth = std::log(std::max(left, least_outlook) / model_.gain);
  const double told =
      model_.foresight * truth + (1 - model_.foresight) * blind_spread * normal(random);
  return std::max(least_outlook, model_.pays * model_.gain * std::exp(told));
}

double AgentTree::share(const AgentProgram& program) const {
  return program.passed() ? std::exp(program.speed - model_.headroom) : 0;
}

std::vector<AgentLandscape> agent_landscapes() {
  std::vector<AgentModel> models(1);
  std::vector<int> squares(1);
  const auto sweep = [&](double AgentModel::* value, std::initializer_list<double> levels) {
    std::vector<AgentModel> more;
    std::vector<int> more_squares;
    for (std::size_t i = 0; i < models.size(); ++i) {
      int square = squares[i];
      for (const double level : levels) {
        more.push_back(models[i]);
        more.back().*value = level;
        more_squares.push_back(square++);
      }
    }
    models = std::move(more);
    squares = std::move(more_squares);
  };
  sweep(&AgentModel::right, {0.55, 0.85});
  sweep(&AgentModel::dead, {0.1, 0.4});
  sweep(&AgentModel::deceptive, {0, 0.2, 0.4});
  sweep(&AgentModel::shift, {0, 0.3});
  sweep(&AgentModel::foresight, {0, 0.4, 0.8});
  std::vector<AgentLandscape> all;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const AgentModel& model = models[i];
    all.push_back({fmt::format("right{:.0f}-dead{:.0f}-deceptive{:.0f}-shift{:.0f}-foresight{:.0f}",
                               100 * model.right, 100 * model.dead, 100 * model.deceptive,
                               100 * model.shift, 100 * model.foresight),
                   model, squares[i] % 2 == 1});
  }
  return all;
}

}  // namespace kernelpro
