// What a function needs beyond its signature, step by step.
#include "coordinator/task/learn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <utility>

#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/learn_parts.hpp"
#include "coordinator/task/probe.hpp"
#include "coordinator/task/scalar_values.hpp"

namespace kernelpro {
namespace {

using learn::Observation;

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
    const auto text = inline_marked(source_.file, include_folders(source_.flags), {});
    text_ = text.ok() ? *text : "";
    settle_scalars();
    learn::add_few_numbers(call_, text_, source_.function);
    for (const Leaf& leaf : call.leaves) {
      if (leaf.kind == Leaf::Kind::axis && !request.fixed.contains(leaf.name)) {
        axes_.push_back(leaf.name);
      }
    }
    take_said_axes();
  }

  Result<Learned> run() {
    tell_("building it to be watched");
    const std::shared_future<Result<Probe>> timed = begin_timing_probe().share();
    const auto timing = [&timed] { return timed.get(); };
    KP_LET(Probe probe, Probe::build(source_, call_, Probe::Purpose::watch, stop_));
    tell_("calling it on trial");
    KP_LET(learn::Shapes shapes,
           learn::settle_shapes_and_choices(probe, {source_, function_, call_, said_}, learned_,
                                            axes_, stop_));
    learned_ = std::move(shapes.learned);
    axes_ = std::move(shapes.axes);
    base_ = std::move(shapes.base);
    seen_ = std::move(shapes.seen);
    if (!learned_.missing.empty()) {
      return std::move(learned_);
    }
    const learn::WholeNumbers& numbers = shapes.numbers;
    learn::settle_roles(call_, learned_, seen_);
    learn::keep_rows_apart(learned_, seen_, axes_, base_);
    KP_TRY(settle_axes_without_effect(probe, numbers));
    KP_TRY(learn::settle_numbers_by_value(probe, timing, {source_, function_, call_, said_}, text_,
                                          {numbers, learned_, axes_, base_}, stop_));
    learn::settle_reduction(function_, call_, learned_, seen_, axes_);
    KP_TRY(learn::settle_values(probe, call_, learned_, numbers, base_, stop_));
    KP_TRY(learn::settle_held_out(probe, call_, learned_, numbers, small_axes(), stop_));
    tell_("timing it at growing sizes");
    KP_TRY(learn::settle_sizes(timing, call_, learned_, numbers, small_axes(), stop_));
    if (learned_.grows) {
      KP_TRY(settle_feedback(numbers));
    }
    learned_.chosen = learn::choices(said_, learned_.request);
    return std::move(learned_);
  }

 private:
  // Built while the other one is, by another thread; only once somebody asks where the user said
  // all sizes.
  [[nodiscard]] std::future<Result<Probe>> begin_timing_probe() const {
    const bool open = std::ranges::any_of(
        axes_, [this](const std::string& name) { return !said_.sizes.contains(name); });
    return std::async(open ? std::launch::async : std::launch::deferred,
                      [this] { return Probe::build(source_, call_, Probe::Purpose::time, stop_); });
  }

  // A name in --axis that is no parameter is a size of its own: "C=NH*head" has the sizes NH, head.
  void take_said_axes() {
    for (const auto& [axis, text] : said_.derived) {
      const auto formula = Formula::parse(text);
      for (const std::string& name : formula.ok() ? formula->names() : std::vector<std::string>()) {
        const bool known =
            std::ranges::find(call_.leaves, name, &Leaf::name) != call_.leaves.end() ||
            said_.derived.contains(name) || learn::contains(learned_.request.more_axes, name);
        if (!known) {
          learned_.request.more_axes.push_back(name);
          axes_.push_back(name);
          std::erase(axes_, axis);
          learned_.request.sizes.erase(axis);
        }
      }
    }
  }

  // "assert(low < high)": one lies below zero and one above, as most data lie around it.
  void settle_scalar_orders() {
    NewTask& request = learned_.request;
    std::vector<std::string> open;
    for (const Leaf& leaf : call_.leaves) {
      if (leaf.kind == Leaf::Kind::scalar && !request.fixed.contains(leaf.name) &&
          !request.values.contains(leaf.name)) {
        open.push_back(leaf.name);
      }
    }
    for (const SizeOrder& order : asserted_sizes(text_, source_.function, open).at_least) {
      if (request.values.contains(order.axis) || request.values.contains(order.least)) {
        continue;
      }
      request.values[order.axis] = "uniform:0.5:2";
      request.values[order.least] = "uniform:-2:-0.5";
      learned_.notes.push_back(fmt::format(
          "{0} is drawn from 0.5 to 2 and {1} from -2 to -0.5, as its assert asks for that order "
          "(--values {0}=uniform:LOW:HIGH says otherwise)",
          order.axis, order.least));
    }
  }

  // By what the code does with them, where the user said nothing.
  void settle_scalars() {
    settle_scalar_orders();
    NewTask& request = learned_.request;
    std::vector<std::string> unknown;
    for (Leaf& leaf : call_.leaves) {
      if (leaf.kind != Leaf::Kind::scalar) {
        continue;
      }
      const bool said = request.fixed.contains(leaf.name) || request.values.contains(leaf.name);
      const std::string values =
          said ? "" : scalar_values(text_, leaf.field.empty() ? leaf.name : leaf.field);
      if (!values.empty()) {
        request.values[leaf.name] = values;
        learned_.notes.push_back(fmt::format(
            "{0} is drawn from {1} (--values {0}=… says otherwise)", leaf.name, values));
      } else if (!said) {
        unknown.push_back(leaf.name);
      }
      leaf.sample = scalar_sample(request, leaf.name).value_or(leaf.sample);
    }
    if (!unknown.empty()) {
      learned_.notes.push_back(fmt::format(
          "{} {} drawn from 0.5 to 2: the code does not show which numbers are usual "
          "(--values {}=uniform:LOW:HIGH says it)",
          fmt::join(unknown, ", "), unknown.size() == 1 ? "is" : "are", unknown.front()));
    }
  }

  // What is fed back through a factor above one grows without bound: where smaller factors end
  // that, those that the user has not said are drawn so.
  Status settle_feedback(const learn::WholeNumbers& numbers) {
    std::vector<std::string> factors;
    for (Leaf& leaf : call_.leaves) {
      NewTask& request = learned_.request;
      if (leaf.kind == Leaf::Kind::scalar && !request.fixed.contains(leaf.name) &&
          !request.values.contains(leaf.name)) {
        leaf.sample = feedback;
        factors.push_back(leaf.name);
      }
    }
    if (factors.empty()) {
      return {};
    }
    KP_LET(const Probe probe, Probe::build(source_, call_, Probe::Purpose::time, stop_));
    Axes axes;
    for (const std::string& name : learn::given_axes(call_, learned_.request)) {
      axes[name] = learned_.request.sizes.at(name);
    }
    TrialCall trial = numbers.trial(learn::completed(axes, learned_.request));
    for (const auto& [name, shape] : learned_.request.shapes) {
      trial.filled[name] = learn::elements(shape, axes, learned_.request);
    }
    KP_LET(const auto results, probe.run({trial}, stop_));
    if (!results[0].returned || !learn::is_finite(results[0])) {
      return {};
    }
    for (const std::string& name : factors) {
      learned_.request.values[name] = fmt::format("uniform:{}:{}", feedback / 4, feedback);
    }
    learned_.notes.push_back(fmt::format(
        "with numbers near 1 in {0} its results grow without bound; they are drawn from {1} to {2} "
        "(--values {3}=uniform:LOW:HIGH says otherwise)",
        fmt::join(factors, ", "), feedback / 4, feedback, factors[0]));
    return {};
  }

  // Whole numbers that are no extent: those that change nothing are passed as something harmless.
  Status settle_axes_without_effect(const Probe& probe, const learn::WholeNumbers& numbers) {
    for (const std::string& name : std::vector<std::string>(axes_)) {
      const bool said = said_.sizes.contains(name) || said_.held_out.contains(name);
      if (said || learn::is_used(name, learned_.request)) {
        continue;
      }
      bool matters = false;
      // Somewhat larger, what chooses among a few ways, and what lies among the numbers of tensors.
      const std::int64_t size = base_.at(name);
      for (const std::int64_t other :
           {size + 2, size + 3, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
            std::int64_t{40}, std::int64_t{90}}) {
        Axes changed = base_;
        changed[name] = other;
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
        const std::string value = learn::harmless_value(name, call_, learned_.request);
        learned_.request.fixed[name] = value;
        learned_.notes.push_back(fmt::format(
            "{0} changed no result at the sizes tried: {1} is always passed (--fix {0}=… or --size "
            "{0}=… says otherwise)",
            name, value));
        std::erase(axes_, name);
      }
    }
    return {};
  }

  // Axes that others must exceed: "k" where a shape has "n - k + 1".
  [[nodiscard]] std::vector<std::string> small_axes() const {
    return learn::subtracted_axes(learned_.request, axes_);
  }

  // Three of them, a second-order filter and its gain, stay below one.
  static constexpr double feedback = 0.3;

  const OwnSource& source_;
  const OwnFunction& function_;
  OwnCall call_;
  const NewTask& said_;
  const std::function<void(const std::string&)>& tell_;
  std::stop_token stop_;
  std::string text_;  // of the file with its headers
  Learned learned_;
  std::vector<std::string> axes_;
  Axes base_;  // sizes at which the function works
  std::vector<Observation> seen_;
};

}  // namespace

Result<Learned> learn_function(const OwnSource& source, const OwnFunction& function,
                               const OwnCall& call, const NewTask& request,
                               const std::function<void(const std::string&)>& tell,
                               std::stop_token stop) {
  return Learner(source, function, call, request, tell, std::move(stop)).run();
}

}  // namespace kernelpro
