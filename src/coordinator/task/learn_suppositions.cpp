// What callers' sizes have in common, where sizes drawn apart do not tell the shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/task/function_body.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/learn_trials.hpp"

namespace kernelpro::learn {
namespace {

// Tries one supposition after the other, those that leave out least first.
class SuppositionSearch {
 public:
  SuppositionSearch(const Probe& probe, const Asked& asked, Learned learned,
                    const std::vector<std::string>& axes, std::stop_token stop)
      : probe_(probe),
        asked_(asked),
        learned_(std::move(learned)),
        axes_(axes),
        stop_(std::move(stop)) {
    const auto text = inline_marked(asked.source.file, include_folders(asked.source.flags), {});
    text_ = text.ok() ? *text : "";
    stated_ = asserted(asked, text_, learned_, axes_);
    for (const std::string& axis : axes_) {
      if (!learned_.request.held_out.contains(axis) && !learned_.request.derived.contains(axis) &&
          !stated_.stated.contains(axis)) {
        open_.push_back(axis);
      }
    }
  }

  Result<Shapes> run() {
    TriedShapes first = first_tried();
    Result<Shapes>& plain = first.shapes;
    if (!plain.ok() && plain.error().kind != ErrorKind::bad_input) {
      return std::move(plain);
    }
    const bool told = is_told(plain);
    if (plain.ok()) {
      fixed_ = fixed_reaches(*plain);
    }
    if (told) {
      KP_LET(const Unseen unseen, unseen_in(*plain));
      if (unseen.tensors.empty()) {
        return std::move(plain);
      }
      for (const std::string& axis : unseen.axes) {
        if (auto found = is_said(axis) ? try_one(said_ranges()) : by_blocks(axis)) {
          return *std::move(found);
        }
      }
      for (const std::string& tensor : unseen.tensors) {
        plain->learned.missing.push_back(
            {"--shape", fmt::format("how far it reaches into {}", tensor), {}});
      }
    }
    auto found = first.hopeless ? std::nullopt : by_common_sizes(plain.ok() ? &*plain : nullptr);
    if (found) {
      return *std::move(found);
    }
    return told ? std::move(plain) : ask_for_ties(std::move(plain));
  }

 private:
  [[nodiscard]] static bool is_told(const Result<Shapes>& shapes) {
    return shapes.ok() && shapes->learned.missing.empty();
  }

  [[nodiscard]] bool is_said(const std::string& axis) const {
    return learned_.request.held_out.contains(axis);
  }

  // Sizes that the user wants checked, where those of trials are others.
  [[nodiscard]] Supposition said_ranges() const {
    Supposition out;
    for (const auto& [axis, range] : learned_.request.held_out) {
      if (contains(axes_, axis)) {
        out.drawn_from[axis] = trial_sizes(range, axes_.size());
      }
    }
    return out;
  }

  // At the usual sizes; where they do not tell, at those that the user wants checked: others may be
  // none that it is made for.
  TriedShapes first_tried() {
    TriedShapes usual =
        find_shapes(probe_, asked_, learned_, axes_, stated_, Ties::of_a_kind, stop_);
    const Supposition ranges = said_ranges();
    if (is_told(usual.shapes) || ranges.drawn_from.empty()) {
      return usual;
    }
    const Supposition both = with(ranges, stated_);
    Learned made = learned_;
    for (const auto& [axis, sizes] : ranges.drawn_from) {
      made.made_for[axis] = made.request.held_out.at(axis);
    }
    TriedShapes said = find_shapes(probe_, asked_, made, axes_, both, Ties::of_a_kind, stop_);
    if (!is_told(said.shapes) && usual.shapes.ok()) {
      return usual;
    }
    stated_ = both;
    learned_ = std::move(made);
    return said;
  }

  // That it works where all sizes are the same does not say that they are: the user has to.
  Result<Shapes> ask_for_ties(Result<Shapes> plain) const {
    auto tied = find_shapes(probe_, asked_, learned_, axes_, stated_, Ties::all, stop_).shapes;
    if (!tied.ok() || !tied->learned.missing.empty()) {
      return plain;
    }
    Question question{"--fix",
                      "which of its sizes belong together (it works where all are the same; "
                      "--shape, --axis and --size say otherwise)",
                      {}};
    for (const auto& [axis, other] : tied->learned.request.fixed) {
      if (!learned_.request.fixed.contains(axis) && contains(axes_, axis)) {
        question.proposal.push_back(axis + "=" + other);
      }
    }
    if (!question.proposal.empty()) {
      tied->learned.missing.push_back(std::move(question));
    }
    return tied;
  }

  // The shapes, if they are all told and none is left that grows unseen.
  std::optional<Shapes> try_one(const Supposition& supposed) const {
    constexpr int most_endless = 9;
    if (stop_.stop_requested() || probe_.endless() >= most_endless) {
      return {};
    }
    auto tried =
        find_shapes(probe_, asked_, learned_, axes_,
                    with(within_bounds(supposed, learned_), stated_), Ties::of_a_kind, stop_)
            .shapes;
    // Where it often fails the sizes have more in common than is supposed.
    constexpr std::size_t fewest = 30;
    if (!tried.ok() || !tried->learned.missing.empty() || tried->seen.size() < fewest) {
      return {};
    }
    // Sizes at which less is touched than at others tell nothing of it.
    for (const auto& [tensor, reach] : fixed_reaches(*tried)) {
      if (fixed_ && !fixed_->contains(tensor)) {
        return {};
      }
    }
    const auto unseen = unseen_in(*tried);
    return unseen.ok() && unseen->tensors.empty() ? std::optional(*std::move(tried)) : std::nullopt;
  }

  std::optional<Shapes> by_blocks(const std::string& axis) const {
    for (const std::int64_t step : {32, 64, 128, 256, 512}) {
      for (const Supposition& one :
           {beyond_blocks(axis, step), multiples({axis}, step, axes_.size())}) {
        if (auto found = try_one(one); found && has_elements(*found, axis)) {
          return found;
        }
      }
    }
    return {};
  }

  // Whether every tensor holds something at the lowest size that is checked.
  static bool has_elements(const Shapes& shapes, const std::string& axis) {
    const NewTask& request = shapes.learned.request;
    Axes axes = shapes.base;
    if (const auto range = request.held_out.find(axis); range != request.held_out.end()) {
      axes[axis] = range->second.low;
    }
    return std::ranges::all_of(
        request.shapes, [&](const auto& one) { return elements(one.second, axes, request) > 0; });
  }

  std::optional<Shapes> by_common_sizes(const Shapes* plain) const {
    for (const bool by_shapes : {true, false}) {
      std::vector<std::string> small;
      if (!by_shapes) {
        small = subtracted_in(text_, asked_.source.function, axes_);
      } else if (plain != nullptr) {
        small = subtracted_axes(plain->learned.request, plain->axes);
      }
      std::erase_if(small, [this](const std::string& axis) { return !contains(open_, axis); });
      if (auto found = small.empty() ? std::nullopt : try_one(small_sizes(small))) {
        return found;
      }
    }
    if (auto found = by_multiples(2)) {
      return found;
    }
    if (auto found = by_pairs()) {
      return found;
    }
    if (auto found = by_multiples(4)) {
      return found;
    }
    // Each of these costs a second, and work grows with the product of sizes.
    constexpr std::size_t most_axes = 4;
    for (const std::int64_t step : {8, 16, 32, 64, 128, 256}) {
      for (const std::string& axis : open_) {
        const bool fits = axes_.size() <= most_axes && allows(axis, step);
        auto found = fits ? try_one(multiples({axis}, step, axes_.size())) : std::nullopt;
        if (found) {
          return found;
        }
      }
    }
    return {};
  }

  // Whether the user times no other size than a multiple.
  [[nodiscard]] bool allows(const std::string& axis, std::int64_t step) const {
    const auto size = asked_.said.sizes.find(axis);
    return size == asked_.said.sizes.end() || size->second % step == 0;
  }

  std::optional<Shapes> by_pairs() const {
    constexpr std::size_t most_axes = 6;
    const auto& sizes = asked_.said.sizes;
    for (const std::string& axis : open_) {
      for (const std::string& other : open_) {
        const bool fits = !sizes.contains(axis) ||
                          (sizes.contains(other) && sizes.at(axis) % sizes.at(other) == 0);
        auto found = axis == other || open_.size() > most_axes || !fits
                         ? std::nullopt
                         : try_one(multiple_of(axis, other));
        const bool even = !found && axis != other && fits && open_.size() <= most_axes &&
                          doubles(text_, asked_.source.function, other);
        if (even) {
          found = try_one(multiple_of(axis, other, 2));
        }
        if (found) {
          return found;
        }
      }
    }
    return {};
  }

  // All axes at once; then each is let go that need not be a multiple.
  std::optional<Shapes> by_multiples(std::int64_t step) const {
    std::vector<std::string> needed = open_;
    std::erase_if(needed, [&](const std::string& axis) { return !allows(axis, step); });
    auto found = needed.empty() ? std::nullopt : try_one(multiples(needed, step, axes_.size()));
    const std::vector<std::string> all = needed;
    for (const std::string& axis : found ? all : std::vector<std::string>()) {
      std::vector<std::string> fewer = needed;
      std::erase(fewer, axis);
      auto again = fewer.empty() ? std::nullopt : try_one(multiples(fewer, step, axes_.size()));
      if (again) {
        found = std::move(again);
        needed = std::move(fewer);
      }
    }
    return found;
  }

  // Tensors that were never touched, or seemed to have a length of their own, and are touched
  // further on where one of these axes is far larger than on trial.
  struct Unseen {
    std::vector<std::string> axes;
    std::set<std::string> tensors;
  };

  // The farthest that is allowed: of what the user wants checked, or by the function's asserts.
  [[nodiscard]] std::int64_t far_size(const std::string& axis, std::int64_t far) const {
    const auto said = learned_.request.held_out.find(axis);
    if (said != learned_.request.held_out.end()) {
      return said->second.at_most(said->second.high);
    }
    const auto checked = stated_.held_out.find(axis);
    if (checked != stated_.held_out.end() && checked->second.low == checked->second.high) {
      while (far & (far - 1)) {
        far &= far - 1;  // a power of two
      }
    }
    return allowed(learned_, axis, far);
  }

  [[nodiscard]] Result<Unseen> unseen_in(const Shapes& shapes) const {
    const std::map<std::string, std::int64_t> fixed = fixed_reaches(shapes);
    constexpr std::int64_t far = 2560;  // five blocks of 512
    Unseen out;
    for (const std::string& axis : fixed.empty() ? std::vector<std::string>() : shapes.axes) {
      const auto leaf = std::ranges::find(asked_.call.leaves, axis, &Leaf::name);
      if (leaf == asked_.call.leaves.end() || !contains(axes_, axis)) {
        continue;
      }
      Axes axes = shapes.base;
      axes[axis] = far_size(axis, far);
      put_in_order(axes, learned_);
      const Axes whole = completed(axes, shapes.learned.request);
      KP_LET(const auto results, probe_.run({shapes.numbers.trial(whole)}, stop_));
      bool further = false;
      for (const auto& [tensor, reach] : fixed) {
        if (results[0].returned && results[0].tensors.at(tensor).reach() > reach) {
          further = true;
          out.tensors.insert(tensor);
        }
      }
      if (further) {
        out.axes.push_back(axis);
      }
    }
    return out;
  }

  // By tensor: how far it was touched, where that was the same in every trial.
  [[nodiscard]] std::map<std::string, std::int64_t> fixed_reaches(const Shapes& shapes) const {
    std::map<std::string, std::int64_t> fixed;
    for (const Leaf& leaf : asked_.call.leaves) {
      if (leaf.kind != Leaf::Kind::tensor || leaf.fixed_count > 0 ||
          asked_.said.shapes.contains(leaf.name)) {
        continue;
      }
      const auto reach = [&leaf](const Observation& one) {
        return one.result.tensors.at(leaf.name).reach();
      };
      const std::int64_t first = reach(shapes.seen[0]);
      if (std::ranges::all_of(shapes.seen,
                              [&](const Observation& one) { return reach(one) == first; })) {
        fixed[leaf.name] = first;
      }
    }
    return fixed;
  }

  const Probe& probe_;
  const Asked& asked_;
  Learned learned_;
  std::vector<std::string> axes_;
  std::stop_token stop_;
  std::string text_;                                          // of the file with its headers
  Supposition stated_;                                        // by the function itself
  std::vector<std::string> open_;                             // of which the user has said nothing
  std::optional<std::map<std::string, std::int64_t>> fixed_;  // where nothing is supposed
};

}  // namespace

Result<Shapes> settle_shapes(const Probe& probe, const Asked& asked, const Learned& learned,
                             const std::vector<std::string>& axes, std::stop_token stop) {
  return SuppositionSearch(probe, asked, learned, axes, std::move(stop)).run();
}

}  // namespace kernelpro::learn
