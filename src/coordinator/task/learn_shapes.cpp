// How far a function reaches into its tensors: calls on trial at sizes that tell it.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "coordinator/task/fit_shape.hpp"
#include "coordinator/task/learn_parts.hpp"
#include "coordinator/task/learn_trials.hpp"

namespace kernelpro::learn {
namespace {

constexpr std::size_t trials = 48;

// Shapes at sizes of which something is supposed.
class ShapeFinder {
 public:
  ShapeFinder(const Probe& probe, const Asked& asked, const Learned& learned,
              const std::vector<std::string>& axes, Supposition supposed, std::stop_token stop)
      : probe_(probe), asked_(asked), supposed_(std::move(supposed)), stop_(std::move(stop)) {
    out_.learned = learned;
    out_.axes = axes;
    suppose(supposed_, out_.learned, out_.axes);
  }

  // Sizes of their own first; where shapes cannot be told so, those of one kind of struct and of
  // all lists are the same, then all. What is missing at last is asked for over sizes of their own.
  Result<Shapes> run(Ties most) {
    const int last = static_cast<int>(most);
    std::optional<Learned> untied;
    std::optional<Error> failed;
    for (int level = 0;; ++level) {
      const bool changed = level == 0 || tie(level);
      if (!changed && level < last) {
        continue;
      }
      if (!changed) {
        return ended(untied, failed);
      }
      const auto before = out_.learned;
      if (const Status called = call_on_trial(); !called.ok()) {
        failed = called.error();
        if (level < last && !endless_) {
          continue;
        }
        return ended(untied, failed);
      }
      const auto axes = out_.axes;
      settle();
      if (out_.learned.missing.empty()) {
        return std::move(out_);
      }
      if (level == 0) {
        untied = out_.learned;
      }
      if (level == 0 && settles_with_lists(before, axes)) {
        return std::move(out_);
      }
      if (level == last) {
        return ended(untied, failed);
      }
      out_.learned = before;
      out_.axes = axes;
    }
  }

  // It does not return, or has undefined behavior: other sizes would not help.
  [[nodiscard]] bool is_hopeless() const { return hopeless_; }

 private:
  // Without success: what is missing over sizes of their own, or why it could not be called.
  Result<Shapes> ended(std::optional<Learned>& untied, const std::optional<Error>& failed) {
    if (untied) {
      out_.learned = *std::move(untied);
    } else if (failed && out_.learned.missing.empty()) {
      return *failed;
    }
    return std::move(out_);
  }

  // Calls it again with lists as long as it reached into them: in shorter ones a trial has no
  // numbers of its own to the end.
  bool settles_with_lists(Learned learned, std::vector<std::string> axes) {
    for (;;) {
      const std::map<std::string, std::string> lengths = lengths_beyond(learned);
      if (lengths.empty()) {
        return false;
      }
      learned.request.fixed.insert(lengths.begin(), lengths.end());
      std::erase_if(axes, [&lengths](const std::string& axis) { return lengths.contains(axis); });
      out_.learned = learned;
      out_.axes = axes;
      if (!call_on_trial().ok()) {
        return false;
      }
      settle();
      if (out_.learned.missing.empty()) {
        return true;
      }
    }
  }

  // What settled since then says of the lengths of lists, by the sizes that are given.
  [[nodiscard]] std::map<std::string, std::string> lengths_beyond(const Learned& learned) const {
    std::map<std::string, std::string> lengths;
    for (const auto& [axis, text] : out_.learned.request.fixed) {
      const auto formula = Formula::parse(text);
      if (!learned.request.fixed.contains(axis) && formula.ok() && !formula->names().empty()) {
        lengths.emplace(axis, text);
      }
    }
    return lengths;
  }

  Status call_on_trial() {
    KP_TRY(find_base());
    KP_LET(out_.numbers, find_whole_numbers(probe_, asked_.call, out_.base, out_.learned.request,
                                            out_.axes, stop_));
    out_.seen.clear();
    return observe();
  }

  [[nodiscard]] Axes drawn(std::mt19937& random) const {
    Axes axes = draw_sizes(random, out_.axes, out_.learned, supposed_);
    constexpr std::int64_t longer = 8;  // than all else that is drawn
    for (const Leaf& leaf : asked_.call.leaves) {
      if (long_lists_ && !leaf.size_of.empty() && contains(out_.axes, leaf.name)) {
        axes[leaf.name] *= longer;
      }
    }
    return long_lists_ ? completed(axes, out_.learned.request) : axes;
  }

  [[nodiscard]] bool has_lists() const {
    return std::ranges::any_of(asked_.call.leaves, [this](const Leaf& leaf) {
      return !leaf.size_of.empty() && contains(out_.axes, leaf.name);
    });
  }

  [[nodiscard]] Error refuse(const std::string& why) const {
    const OwnSource& source = asked_.source;
    return make_error(
        ErrorKind::bad_input, why,
        fmt::format("{}:{}: {}", source.file.string(), asked_.function.line, source.function));
  }

  // Draws sizes until the function does something, at last with other numbers than zeros in it.
  Status find_base() {
    TrialResult last;
    std::mt19937 random(7);
    constexpr int draws = 8;
    std::vector<TrialCall> calls;
    for (int i = 0; i < draws; ++i) {
      const Axes axes = drawn(random);
      for (const Fillings& filling : blind_fillings(asked_.call)) {
        calls.push_back({axes, filling, {}, 0});
      }
    }
    // One alone first: what does not end is not waited for again and again.
    KP_LET(const auto first, probe_.run({calls[0]}, stop_));
    if (first[0].signal == SIGALRM) {
      endless_ = hopeless_ = true;
      return refuse(trouble_text(asked_, out_.axes, first[0]));
    }
    KP_LET(const auto results, probe_.run(calls, stop_));
    needs_work_ = std::ranges::any_of(asked_.call.leaves, &Leaf::returned) &&
                  std::ranges::any_of(results, [this](const TrialResult& one) {
                    return writes_for_caller(one, asked_.call);
                  });
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (does_work(results[i])) {
        out_.base = calls[i].axes;
        return {};
      }
      last = results[i];
    }
    hopeless_ = last.signal == SIGILL || last.signal == SIGTRAP;
    // What it needs may lie behind the end of short lists: offsets of rows, for one.
    if (!hopeless_ && has_lists() && !std::exchange(long_lists_, true)) {
      return find_base();
    }
    const Axes takes =  // looked for once
        find_asserted(probe_, asked_.call, calls.back().axes,
                      supposed_.held_out.empty() ? last.assertion : "", out_.axes, stop_);
    return refuse(trouble_text(asked_, out_.axes, last, takes));
  }

  // Where it writes into a caller's memory at some sizes, one that returns a number alone has
  // refused the others.
  [[nodiscard]] bool does_work(const TrialResult& result) const {
    return needs_work_ ? writes_for_caller(result, asked_.call) : writes(result);
  }

  // False where nothing more is tied than before.
  bool tie(int level) {
    std::map<std::string, std::string> first;
    std::vector<std::string> left;
    for (const Leaf& leaf : asked_.call.leaves) {
      if (!contains(out_.axes, leaf.name)) {
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
        out_.learned.request.fixed[leaf.name] = known->second;
        out_.learned.notes.push_back(fmt::format("{} is taken to be {} (--fix {}=… says otherwise)",
                                                 leaf.name, known->second, leaf.name));
      }
    }
    for (const std::string& axis : out_.axes) {
      const bool of_the_call =
          std::ranges::find(asked_.call.leaves, axis, &Leaf::name) != asked_.call.leaves.end();
      if (!of_the_call) {
        left.push_back(axis);
      }
    }
    const bool changed = left.size() < out_.axes.size();
    out_.axes = std::move(left);
    return changed;
  }

  Status observe() {
    std::mt19937 random(1);
    TrialResult last;
    // Where it refuses most sizes, more are drawn.
    constexpr std::size_t enough = 24;
    constexpr int most_rounds = 6;
    for (int round = 0; round < most_rounds && (round == 0 || needs_work_); ++round) {
      KP_TRY(observe_some(random, last));
      if (out_.seen.size() >= enough) {
        break;
      }
    }
    return out_.seen.size() >= 6 ? Status() : refuse(trouble_text(asked_, out_.axes, last));
  }

  Status observe_some(std::mt19937& random, TrialResult& last) {
    std::vector<TrialCall> calls;
    std::size_t each = 1;
    for (std::size_t i = 0; i < trials; ++i) {
      const std::vector<TrialCall> some = out_.numbers.trials(drawn(random));
      each = some.size();
      calls.insert(calls.end(), some.begin(), some.end());
    }
    KP_LET(const auto results, probe_.run(calls, stop_));
    for (std::size_t i = 0; i < results.size(); i += each) {
      const auto begin = results.begin() + static_cast<std::ptrdiff_t>(i);
      const TrialResult one = together({begin, begin + static_cast<std::ptrdiff_t>(each)});
      if (does_work(one)) {
        out_.seen.push_back({calls[i].axes, one});
      } else {
        last = one;
      }
    }
    return {};
  }

  void settle() {
    for (const Leaf& leaf : asked_.call.leaves) {
      NewTask& request = out_.learned.request;
      if (leaf.kind != Leaf::Kind::tensor || request.shapes.contains(leaf.name)) {
        continue;
      }
      std::vector<std::string> shape;
      if (leaf.fixed_count > 0) {
        shape = {std::to_string(leaf.fixed_count)};
      } else if (const auto known = shape_by_index(leaf)) {
        shape = *known;
      } else {
        const std::vector<Reach> reaches = reaches_of(leaf);
        if (std::ranges::all_of(reaches, [](const Reach& one) { return one.elements == 0; })) {
          leave_out(leaf);
          continue;
        }
        const auto fitted =
            fit_shape(reaches, has_tiny_sizes(supposed_) ? Closeness::exact : Closeness::near);
        if (!fitted) {
          ask_for(leaf, reaches);
          continue;
        }
        shape = *fitted;
      }
      tie_list_size(leaf, shape);
      if (leaf.element.lanes > 1) {
        shape.push_back(std::to_string(leaf.element.lanes));
      }
      request.shapes[leaf.name] = shape;
    }
  }

  // The leaves that are touched as one: the parts of an array of structs.
  [[nodiscard]] std::vector<const Leaf*> parts_with(const Leaf& leaf) const {
    std::vector<const Leaf*> out;
    for (const Leaf& other : asked_.call.leaves) {
      if (other.name == leaf.name || (!leaf.together.empty() && other.together == leaf.together)) {
        out.push_back(&other);
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> shape_by_index(const Leaf& leaf) const {
    for (const Leaf* one : parts_with(leaf)) {
      if (auto known = out_.numbers.shape_of(one->name, out_.seen, out_.axes)) {
        return known;
      }
    }
    return {};
  }

  // Over the sizes that are given and those that follow from them.
  [[nodiscard]] std::vector<Reach> reaches_of(const Leaf& leaf) const {
    std::vector<std::string> names = out_.axes;
    for (const auto& [name, text] : out_.learned.request.derived) {
      names.push_back(name);
    }
    std::vector<Reach> reaches;
    reaches.reserve(out_.seen.size());
    for (const Observation& one : out_.seen) {
      std::int64_t reach = 0;
      for (const Leaf* part : parts_with(leaf)) {
        reach = std::max(reach, reach_of(*part, one.result.tensors.at(part->name), one.axes));
      }
      reaches.push_back({out_.numbers.with_entries(only(one.axes, names), one.result), reach});
    }
    return reaches;
  }

  void ask_for(const Leaf& leaf, const std::vector<Reach>& reaches) {
    const auto cover = cover_shape(reaches);
    out_.learned.missing.push_back(
        {"--shape", fmt::format("how far it reaches into {}", leaf.name),
         cover ? std::vector{leaf.name + "=" + *cover} : std::vector<std::string>()});
  }

  // A pointer that is never followed: scratch memory of one element stands for it.
  void leave_out(const Leaf& leaf) {
    NewTask& request = out_.learned.request;
    request.workspaces.push_back(leaf.name);
    request.shapes[leaf.name] = {"1"};
    out_.learned.notes.push_back(leaf.name + " is never touched; it is passed, and not judged");
  }

  // A list as long as the others ask for has no size of its own.
  void tie_list_size(const Leaf& leaf, const std::vector<std::string>& shape) {
    NewTask& request = out_.learned.request;
    for (const Leaf& size : asked_.call.leaves) {
      if (size.size_of != leaf.name || request.fixed.contains(size.name)) {
        continue;
      }
      std::string text;
      for (const std::string& extent : shape) {
        text += (text.empty() ? "" : "*") + (shape.size() > 1 ? "(" + extent + ")" : extent);
      }
      const auto formula = Formula::parse(text);
      const auto names = formula.ok() ? formula->names() : std::vector<std::string>();
      if (!contains(names, size.name)) {
        request.fixed[size.name] = text;
        std::erase(out_.axes, size.name);
      }
    }
  }

  const Probe& probe_;
  const Asked& asked_;
  Supposition supposed_;
  std::stop_token stop_;
  Shapes out_;
  bool endless_ = false;
  bool hopeless_ = false;
  bool needs_work_ = false;
  bool long_lists_ = false;  // at other lengths nothing came of it
};

}  // namespace

TriedShapes find_shapes(const Probe& probe, const Asked& asked, const Learned& learned,
                        const std::vector<std::string>& axes, const Supposition& supposed,
                        Ties most, std::stop_token stop) {
  ShapeFinder finder(probe, asked, learned, axes, supposed, std::move(stop));
  auto shapes = finder.run(most);
  return {std::move(shapes), finder.is_hopeless()};
}

}  // namespace kernelpro::learn
