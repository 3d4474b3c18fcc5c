#include "coordinator/task/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/learn_parts.hpp"
#include "coordinator/task/probe.hpp"
#include "coordinator/task/scalar_values.hpp"

namespace kernelpro {
namespace {

using learn::Observation;

// Distinct primes tell products of axes apart, even numbers and multiples how divisions round.
const std::vector<std::int64_t>& trial_sizes(std::size_t axes) {
  static const std::vector<std::int64_t> few = {7, 10, 11, 12, 13, 17, 18, 19, 23, 29};
  static const std::vector<std::int64_t> many = {5, 7, 8, 11, 12, 13};
  return axes > 4 ? many : few;
}

constexpr std::size_t trials = 48;

class Learner {
 public:
  Learner(const OwnSource& source, const OwnFunction& function, const OwnCall& call,
          const NewTask& request, const std::function<void(const std::string&)>& tell,
          std::stop_token stop)
      : source_(source),
        function_(function),
        call_(call),
        said_(request),
        tell_(tell),
        stop_(std::move(stop)) {
    learned_.request = request;
    settle_scalars();
    for (const Leaf& leaf : call.leaves) {
      if (leaf.kind == Leaf::Kind::axis && !request.fixed.contains(leaf.name)) {
        axes_.push_back(leaf.name);
      }
    }
  }

  Result<Learned> run() {
    tell_("building it to be watched");
    KP_LET(Probe probe, Probe::build(source_, call_, Probe::Purpose::watch, stop_));
    tell_("calling it on trial");
    KP_LET(learn::WholeNumbers numbers, settle_shapes_at_some_tie(probe));
    if (!learned_.missing.empty()) {
      return std::move(learned_);
    }
    learn::settle_roles(call_, learned_, seen_);
    KP_TRY(settle_axes_without_effect(probe, numbers));
    learn::settle_reduction(function_, call_, learned_, seen_, axes_);
    KP_TRY(learn::settle_values(probe, call_, learned_, numbers, base_, stop_));
    KP_TRY(learn::settle_held_out(probe, call_, learned_, numbers, small_axes(), stop_));
    tell_("timing it at growing sizes");
    KP_TRY(learn::settle_sizes(source_, call_, learned_, numbers, small_axes(), stop_));
    learned_.chosen = learn::choices(said_, learned_.request);
    return std::move(learned_);
  }

 private:
  [[nodiscard]] Error refuse(const std::string& why) const {
    return make_error(
        ErrorKind::bad_input, why,
        fmt::format("{}:{}: {}", source_.file.string(), function_.line, source_.function));
  }

  // By what the code does with them, where the user said nothing.
  void settle_scalars() {
    const auto text = inline_marked(source_.file, include_folders(source_.flags), {});
    NewTask& request = learned_.request;
    for (Leaf& leaf : call_.leaves) {
      if (leaf.kind != Leaf::Kind::scalar) {
        continue;
      }
      const bool said = request.fixed.contains(leaf.name) || request.values.contains(leaf.name);
      const std::string values =
          said || !text.ok() ? ""
                             : scalar_values(*text, leaf.field.empty() ? leaf.name : leaf.field);
      if (!values.empty()) {
        request.values[leaf.name] = values;
        learned_.notes.push_back(fmt::format(
            "{0} is drawn from {1} (--values {0}=… says otherwise)", leaf.name, values));
      }
      leaf.sample = scalar_sample(request, leaf.name).value_or(leaf.sample);
    }
  }

  [[nodiscard]] Axes drawn(std::mt19937& random) const {
    const auto& sizes = trial_sizes(axes_.size());
    Axes axes;
    std::set<std::int64_t> taken;
    for (const std::string& name : axes_) {
      std::int64_t size = 0;
      do {
        size = sizes[random() % sizes.size()];
      } while (taken.contains(size) && taken.size() < sizes.size());
      taken.insert(size);
      const bool flag = std::ranges::any_of(
          call_.leaves, [&](const Leaf& leaf) { return leaf.name == name && leaf.flag; });
      const auto range = learned_.request.held_out.find(name);
      const auto [low, high, step] =
          range == learned_.request.held_out.end() ? AxisRange() : range->second;
      axes[name] = flag ? size % 2 : low % step + size * step;
    }
    return learn::completed(axes, learned_.request);
  }

  static bool writes(const TrialResult& result) {
    return result.returned && std::ranges::any_of(result.tensors, [](const auto& one) {
             return one.second.stored > 0 || one.second.size > 0;
           });
  }

  // Sizes of their own first; where shapes cannot be told so, those of one kind of struct and of
  // all lists are the same, then all. What is missing at last is asked for over sizes of their own.
  Result<learn::WholeNumbers> settle_shapes_at_some_tie(const Probe& probe) {
    std::optional<Learned> untied;
    for (int level = 0;; ++level) {
      if (level > 0 && !tie(level) && level < 2) {
        continue;
      }
      const auto before = learned_;
      if (const Status found = find_base(probe); !found.ok()) {
        if (level < 2 && !endless_) {
          continue;
        }
        return found.error();
      }
      KP_LET(learn::WholeNumbers numbers,
             learn::find_whole_numbers(probe, call_, base_, learned_.request, axes_, stop_));
      seen_.clear();
      KP_TRY(observe(probe, numbers));
      const auto axes = axes_;
      KP_TRY(settle_shapes(numbers));
      if (learned_.missing.empty()) {
        return numbers;
      }
      if (level == 0) {
        untied = learned_;
      }
      if (level == 2) {
        learned_ = untied ? *std::move(untied) : std::move(learned_);
        return numbers;
      }
      learned_ = before;
      axes_ = axes;
    }
  }

  // Draws sizes until the function does something.
  Status find_base(const Probe& probe) {
    TrialResult last;
    std::mt19937 random(7);
    constexpr int draws = 8;
    std::vector<TrialCall> calls;
    calls.reserve(draws);
    for (int i = 0; i < draws; ++i) {
      calls.push_back({drawn(random), {}, {}, 0});
    }
    // One alone first: what does not end is not waited for again and again.
    KP_LET(const auto first, probe.run({calls[0]}, stop_));
    if (first[0].signal == SIGALRM) {
      endless_ = true;
      return refuse(trouble(first[0]));
    }
    KP_LET(const auto results, probe.run(calls, stop_));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (writes(results[i])) {
        base_ = calls[i].axes;
        return {};
      }
      last = results[i];
    }
    return refuse(trouble(last));
  }

  [[nodiscard]] std::string trouble(const TrialResult& last) {
    if (last.returned) {
      return "it wrote nothing that a caller can see, at any of the sizes tried; a task needs a "
             "result: a pointer, a reference, a list or a returned value";
    }
    switch (last.signal) {
      case SIGALRM:
        return "it did not return within 2 s at sizes below 32; a function that waits or never "
               "ends cannot be judged";
      case SIGILL:
      case SIGTRAP:
        return "it has undefined behavior (overflow, a shift or a conversion out of range, an "
               "array's bounds) at small sizes; build it with -fsanitize=undefined to see where, "
               "and mend that first";
      case SIGSEGV:
      case SIGBUS:
        return "it touched memory that is not its own at every size tried" + say_dependence();
      default:
        return fmt::format("it ended by signal {} at every size tried", last.signal) +
               say_dependence();
    }
  }

  [[nodiscard]] std::string say_dependence() const {
    return axes_.size() < 2 ? ""
                            : "; if its sizes depend on each other, say how" +
                                  source_.example({fmt::format("--fix {}={}", axes_[1], axes_[0])});
  }

  // False where nothing more is tied than before.
  bool tie(int level) {
    std::map<std::string, std::string> first;
    std::vector<std::string> left;
    for (const Leaf& leaf : call_.leaves) {
      if (std::ranges::find(axes_, leaf.name) == axes_.end()) {
        continue;
      }
      std::string group = leaf.name;
      if (level == 2) {
        group = "all";
      } else if (!leaf.size_of.empty()) {
        group = "list";
      } else if (!leaf.record.empty()) {
        group = leaf.record + "." + leaf.field;
      }
      const auto [known, fresh] = first.emplace(group, leaf.name);
      if (fresh) {
        left.push_back(leaf.name);
      } else {
        learned_.request.fixed[leaf.name] = known->second;
        learned_.notes.push_back(fmt::format("{} is taken to be {} (--fix {}=… says otherwise)",
                                             leaf.name, known->second, leaf.name));
      }
    }
    const bool changed = left.size() < axes_.size();
    axes_ = std::move(left);
    return changed;
  }

  Status observe(const Probe& probe, const learn::WholeNumbers& numbers) {
    std::mt19937 random(1);
    std::vector<TrialCall> calls;
    calls.reserve(trials);
    for (std::size_t i = 0; i < trials; ++i) {
      calls.push_back(numbers.trial(drawn(random)));
    }
    KP_LET(const auto results, probe.run(calls, stop_));
    TrialResult last;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (writes(results[i])) {
        seen_.push_back({calls[i].axes, results[i]});
      } else {
        last = results[i];
      }
    }
    return seen_.size() >= 6 ? Status() : refuse(trouble(last));
  }

  [[nodiscard]] static std::int64_t reach_of(const Leaf& leaf, const TouchedTensor& touched,
                                             const Axes& axes) {
    const auto before = axes.find(leaf.name + "_size");
    const bool resized =
        touched.size >= 0 && (before == axes.end() || before->second != touched.size);
    return resized ? touched.size : touched.reach();
  }

  Status settle_shapes(learn::WholeNumbers& numbers) {
    for (const Leaf& leaf : call_.leaves) {
      if (leaf.kind != Leaf::Kind::tensor || learned_.request.shapes.contains(leaf.name)) {
        continue;
      }
      std::vector<std::string> shape;
      if (leaf.fixed_count > 0) {
        shape = {std::to_string(leaf.fixed_count)};
      } else if (const auto known = numbers.shape_of(leaf.name, seen_, axes_)) {
        shape = *known;
      } else {
        std::vector<Reach> reaches;
        reaches.reserve(seen_.size());
        for (const Observation& one : seen_) {
          reaches.push_back({numbers.with_entries(learn::only(one.axes, axes_), one.result),
                             reach_of(leaf, one.result.tensors.at(leaf.name), one.axes)});
        }
        const bool untouched =
            std::ranges::all_of(reaches, [](const Reach& reach) { return reach.elements == 0; });
        if (untouched) {
          leave_out(leaf);
          continue;
        }
        const auto fitted = fit_shape(reaches);
        if (!fitted) {
          const auto cover = cover_shape(reaches);
          learned_.missing.push_back(
              {"--shape", fmt::format("how far it reaches into {}", leaf.name),
               cover ? std::vector{leaf.name + "=" + *cover} : std::vector<std::string>()});
          continue;
        }
        shape = *fitted;
      }
      tie_list_size(leaf, shape);
      if (leaf.element.lanes > 1) {
        shape.push_back(std::to_string(leaf.element.lanes));
      }
      learned_.request.shapes[leaf.name] = shape;
    }
    return {};
  }

  // A pointer that is never followed: scratch memory of one element stands for it.
  void leave_out(const Leaf& leaf) {
    learned_.request.workspaces.push_back(leaf.name);
    learned_.request.shapes[leaf.name] = {"1"};
    learned_.notes.push_back(leaf.name + " is never touched; it is passed, and not judged");
  }

  // A list as long as the others ask for has no size of its own.
  void tie_list_size(const Leaf& leaf, const std::vector<std::string>& shape) {
    for (const Leaf& size : call_.leaves) {
      if (size.size_of != leaf.name || learned_.request.fixed.contains(size.name)) {
        continue;
      }
      std::string text;
      for (const std::string& extent : shape) {
        text += (text.empty() ? "" : "*") + (shape.size() > 1 ? "(" + extent + ")" : extent);
      }
      const auto formula = Formula::parse(text);
      const auto names = formula.ok() ? formula->names() : std::vector<std::string>();
      if (std::ranges::find(names, size.name) == names.end()) {
        learned_.request.fixed[size.name] = text;
        std::erase(axes_, size.name);
      }
    }
  }

  // Whole numbers that are no extent: those that change nothing are passed as something harmless.
  Status settle_axes_without_effect(const Probe& probe, const learn::WholeNumbers& numbers) {
    for (const std::string& name : std::vector<std::string>(axes_)) {
      if (learn::is_used(name, learned_.request)) {
        continue;
      }
      bool matters = false;
      for (const std::int64_t other : {2, 3}) {
        Axes changed = base_;
        changed[name] = base_.at(name) + other;
        KP_LET(const auto results,
               probe.run({numbers.trial(base_),
                          numbers.trial(learn::completed(changed, learned_.request))},
                         stop_));
        for (const auto& [tensor, touched] : results[0].tensors) {
          matters =
              matters || !results[1].returned || results[1].tensors.at(tensor).hash != touched.hash;
        }
      }
      if (!matters) {
        learned_.request.fixed[name] = learn::harmless_value(name, call_, learned_.request);
        std::erase(axes_, name);
      }
    }
    return {};
  }

  // Axes that others must exceed: "k" where a shape has "n - k + 1".
  [[nodiscard]] std::vector<std::string> small_axes() const {
    return learn::subtracted_axes(learned_.request, axes_);
  }

  const OwnSource& source_;
  const OwnFunction& function_;
  OwnCall call_;
  const NewTask& said_;
  const std::function<void(const std::string&)>& tell_;
  std::stop_token stop_;
  Learned learned_;
  std::vector<std::string> axes_;
  Axes base_;  // sizes at which the function works
  std::vector<Observation> seen_;
  bool endless_ = false;
};

}  // namespace

Result<Learned> learn_function(const OwnSource& source, const OwnFunction& function,
                               const OwnCall& call, const NewTask& request,
                               const std::function<void(const std::string&)>& tell,
                               std::stop_token stop) {
  return Learner(source, function, call, request, tell, std::move(stop)).run();
}

}  // namespace kernelpro
