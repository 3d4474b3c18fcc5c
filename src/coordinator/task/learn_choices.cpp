// Numbers that are one of a few: enums, bools, and what is compared with a few literals alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "coordinator/task/few_numbers.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

// A number that is one of a few, the one that is timed first.
struct NumberChoice {
  std::string name;  // of the parameter
  std::vector<Enumerator> among;
};

// The axis that counts what is chosen from, beginning with 1.
std::string choice_axis(const std::string& name) {
  return name + "_choice";
}

// "Wrap (3)", "8".
std::string choice_text(const Enumerator& one) {
  const std::string value = std::to_string(one.value);
  return one.name.empty() || one.name == value ? value : fmt::format("{} ({})", one.name, value);
}

std::string choices_text(const std::vector<Enumerator>& choices) {
  std::vector<std::string> texts;
  texts.reserve(choices.size());
  for (const Enumerator& one : choices) {
    texts.push_back(choice_text(one));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Of numbers that stand for the same, the first.
std::vector<Enumerator> each_once(const std::vector<Enumerator>& choices) {
  std::vector<Enumerator> out;
  for (const Enumerator& one : choices) {
    if (std::ranges::find(out, one.value, &Enumerator::value) == out.end()) {
      out.push_back(one);
    }
  }
  return out;
}

void take_choice_axis(const NumberChoice& choice, Shapes& shapes) {
  const std::string axis = choice_axis(choice.name);
  Learned& learned = shapes.learned;
  learned.request.fixed[choice.name] = choice_formula(choice.among, axis);
  learned.request.more_axes.push_back(axis);
  learned.drawn[axis] = {static_cast<std::int64_t>(choice.among.size()), 1};
  learned.notes.push_back(
      fmt::format("{0} is one of {1}: {2} is timed, all are checked, and {3} counts them (--fix "
                  "{0}=… or --size {3}=… says otherwise)",
                  choice.name, choices_text(choice.among), choice_text(choice.among[0]), axis));
  shapes.axes.push_back(axis);
  shapes.base[axis] = 1;
}

// Whether what a call touched lies within the shapes that are known.
bool stays_within(const TrialResult& result, const OwnCall& call, const Axes& axes,
                  const NewTask& request) {
  return std::ranges::all_of(call.leaves, [&](const Leaf& leaf) {
    const auto shape = request.shapes.find(leaf.name);
    if (leaf.kind != Leaf::Kind::tensor || shape == request.shapes.end()) {
      return true;
    }
    const TouchedTensor& touched = result.tensors.at(leaf.name);
    const std::int64_t most = elements(shape->second, axes, request) / leaf.element.lanes;
    return touched.reach() <= most && touched.size <= most;
  });
}

// Which of the others do what the chosen one does, with the shapes that it told.
class ChoiceWidener {
 public:
  ChoiceWidener(const Probe& probe, const OwnCall& call, Shapes& shapes, std::stop_token stop)
      : probe_(probe), call_(call), shapes_(shapes), stop_(std::move(stop)) {}

  // How many are left out.
  Result<std::size_t> widen(const NumberChoice& choice) {
    NumberChoice good{choice.name, {choice.among[0]}};
    std::vector<Enumerator> left;
    for (std::size_t i = 1; i < choice.among.size(); ++i) {
      KP_LET(const bool fits, try_one(choice.name, choice.among[i]));
      (fits ? good.among : left).push_back(choice.among[i]);
    }
    if (good.among.size() > 1) {
      take_choice_axis(good, shapes_);
    }
    if (!left.empty()) {
      shapes_.learned.notes.push_back(fmt::format(
          "{0} is never {1}: it fails then, or reaches elsewhere than with {2} (--fix {0}=… takes "
          "another)",
          choice.name, choices_text(left), choice_text(choice.among[0])));
    }
    return left.size();
  }

 private:
  Result<bool> try_one(const std::string& name, const Enumerator& one) {
    constexpr std::size_t most_trials = 12;
    std::vector<TrialCall> calls;
    std::vector<Axes> sizes;
    for (std::size_t i = 0; i < std::min(most_trials, shapes_.seen.size()); ++i) {
      Axes axes = shapes_.seen[i].axes;
      axes[name] = one.value;
      for (const TrialCall& call : shapes_.numbers.trials(axes)) {
        calls.push_back(call);
        sizes.push_back(axes);
      }
    }
    KP_LET(const auto results, probe_.run(calls, stop_));
    bool fits = !results.empty();
    for (std::size_t i = 0; i < results.size() && fits; ++i) {
      fits =
          results[i].returned && stays_within(results[i], call_, sizes[i], shapes_.learned.request);
    }
    for (std::size_t i = 0; i < results.size() && fits; ++i) {
      shapes_.seen.push_back({sizes[i], results[i]});
    }
    return fits;
  }

  const Probe& probe_;
  const OwnCall& call_;
  Shapes& shapes_;
  std::stop_token stop_;
};

// What the user leaves open.
std::vector<NumberChoice> open_choices(const OwnCall& call, const NewTask& said,
                                       const std::vector<std::string>& axes) {
  constexpr std::size_t most_choices = 64;
  std::vector<NumberChoice> out;
  for (const Leaf& leaf : call.leaves) {
    NumberChoice choice{leaf.name, each_once(leaf.choices)};
    const bool open = contains(axes, leaf.name) && !said.sizes.contains(leaf.name) &&
                      !said.held_out.contains(leaf.name) && !said.derived.contains(leaf.name);
    if (open && !choice.among.empty() && choice.among.size() <= most_choices) {
      out.push_back(std::move(choice));
    }
  }
  return out;
}

// The same with another one in front: the first may be the one that does nothing. Nothing where
// none of them has as many.
std::vector<NumberChoice> beginning_with(std::vector<NumberChoice> choices, std::size_t place) {
  bool any = place == 0;
  for (NumberChoice& choice : choices) {
    if (place < choice.among.size()) {
      const auto begin = choice.among.begin();
      std::rotate(begin, begin + static_cast<std::ptrdiff_t>(place),
                  begin + static_cast<std::ptrdiff_t>(place) + 1);
      any = true;
    }
  }
  return any ? choices : std::vector<NumberChoice>();
}

// Shapes with the first of each choice; then the others, as far as they keep to these. `left`: how
// many do not.
Result<Shapes> shapes_of_first(const Probe& probe, const Asked& asked, Learned learned,
                               std::vector<std::string> axes,
                               const std::vector<NumberChoice>& choices, std::size_t& left,
                               const std::stop_token& stop) {
  for (const NumberChoice& choice : choices) {
    learned.request.fixed[choice.name] = std::to_string(choice.among[0].value);
    std::erase(axes, choice.name);
  }
  KP_LET(Shapes shapes, settle_shapes(probe, asked, learned, axes, stop));
  if (!shapes.learned.missing.empty()) {
    return shapes;
  }
  ChoiceWidener widener(probe, asked.call, shapes, stop);
  for (const NumberChoice& choice : choices) {
    KP_LET(const std::size_t more, widener.widen(choice));
    left += more;
  }
  return shapes;
}

}  // namespace

std::string choice_formula(const std::vector<Enumerator>& choices, const std::string& axis) {
  // A step up or down at each place; what is below the first is taken for the first.
  const auto count = static_cast<std::int64_t>(choices.size());
  std::string text = std::to_string(choices[0].value);
  for (std::int64_t i = 1; i < count; ++i) {
    const std::int64_t step =
        choices[static_cast<std::size_t>(i)].value - choices[static_cast<std::size_t>(i - 1)].value;
    const std::int64_t before = count - i - 1;
    const std::string taken = before == 0 ? fmt::format("{}/{}", axis, count)
                                          : fmt::format("({} + {})/{}", axis, before, count);
    text +=
        fmt::format(" {} {}", step < 0 ? '-' : '+',
                    std::abs(step) == 1 ? taken : fmt::format("{}*({})", std::abs(step), taken));
  }
  return text.starts_with("0 + ") ? text.substr(4) : text;
}

void add_few_numbers(OwnCall& call, const std::string& source, const std::string& function) {
  for (Leaf& leaf : call.leaves) {
    const bool numbers = leaf.kind == Leaf::Kind::tensor && !is_floating(leaf.element.dtype) &&
                         leaf.element.lanes == 1 && !leaf.may_write;
    if (numbers && leaf.record.empty() && leaf.element.enumerators.empty()) {
      leaf.element.enumerators = few_elements(source, function, leaf.name);
    }
    if (leaf.kind != Leaf::Kind::axis || !leaf.choices.empty() || !leaf.size_of.empty()) {
      continue;
    }
    // A field's leaf has the parameter's name before it.
    const bool field = !leaf.field.empty() && leaf.name.ends_with("_" + leaf.field);
    const std::string parameter =
        field ? leaf.name.substr(0, leaf.name.size() - leaf.field.size() - 1) + "." + leaf.field
              : leaf.name;
    leaf.choices = few_numbers(source, function, parameter);
  }
}

Result<Shapes> settle_shapes_and_choices(const Probe& probe, const Asked& asked,
                                         const Learned& learned,
                                         const std::vector<std::string>& axes,
                                         std::stop_token stop) {
  const std::vector<NumberChoice> choices = open_choices(asked.call, asked.said, axes);
  if (choices.empty()) {
    return settle_shapes(probe, asked, learned, axes, stop);
  }
  constexpr std::size_t most_rounds = 3;
  std::optional<Result<Shapes>> best;
  std::size_t fewest = 0;
  for (std::size_t round = 0; round < most_rounds && !stop.stop_requested(); ++round) {
    const std::vector<NumberChoice> turned = beginning_with(choices, round);
    if (turned.empty()) {
      break;
    }
    std::size_t left = 0;
    Result<Shapes> shapes = shapes_of_first(probe, asked, learned, axes, turned, left, stop);
    const bool told = shapes.ok() && shapes->learned.missing.empty();
    if (!best || (told && left < fewest)) {
      best = std::move(shapes);
      fewest = told ? left : std::numeric_limits<std::size_t>::max();
    }
    // One that leaves tensors alone may be the one of the choices that does little.
    const auto& best_request = (*best)->learned.request;
    if (told && best_request.workspaces.size() == learned.request.workspaces.size()) {
      break;
    }
  }
  return *std::move(best);
}

}  // namespace kernelpro::learn
