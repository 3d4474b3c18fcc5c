#include "coordinator/task/learn_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kernelpro::learn {

bool is_finite(const TrialResult& result) {
  return std::ranges::all_of(result.tensors, [](const auto& one) { return one.second.finite; });
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

bool writes(const TrialResult& result) {
  return result.returned && std::ranges::any_of(result.tensors, [](const auto& one) {
           return one.second.stored > 0 || one.second.size > 0;
         });
}

std::int64_t reach_of(const Leaf& leaf, const TouchedTensor& touched, const Axes& axes) {
  const auto before = axes.find(leaf.name + "_size");
  const bool resized =
      touched.size >= 0 && (before == axes.end() || before->second != touched.size);
  return resized ? touched.size : touched.reach();
}

bool writes_for_caller(const TrialResult& result, const OwnCall& call) {
  return result.returned && std::ranges::any_of(call.leaves, [&result](const Leaf& leaf) {
           const auto touched = result.tensors.find(leaf.name);
           return !leaf.returned && touched != result.tensors.end() &&
                  (touched->second.stored > 0 || touched->second.size > 0);
         });
}

Axes completed(Axes axes, const NewTask& request) {
  // A formula may speak of another one's axis: twice is enough for what we write.
  for (int round = 0; round < 2; ++round) {
    for (const auto* list : {&request.derived, &request.fixed}) {
      for (const auto& [name, text] : *list) {
        const auto formula = Formula::parse(text);
        const auto value = formula.ok() ? formula->evaluate(axes) : Result<double>(0.0);
        // What is passed for a number that is no size may be below zero.
        if (value.ok() && (*value >= 0 || list == &request.fixed)) {
          axes[name] = static_cast<std::int64_t>(*value);
        }
      }
    }
  }
  return axes;
}

Axes only(const Axes& axes, const std::vector<std::string>& names) {
  Axes out;
  for (const std::string& name : names) {
    if (const auto found = axes.find(name); found != axes.end()) {
      out.insert(*found);
    }
  }
  return out;
}

std::int64_t elements(const std::vector<std::string>& shape, const Axes& axes,
                      const NewTask& request) {
  const Axes whole = completed(axes, request);
  std::int64_t product = 1;
  for (const std::string& extent : shape) {
    const auto formula = Formula::parse(extent);
    const auto value = formula.ok() ? formula->evaluate_size(whole) : Result<std::int64_t>(0);
    product *= value.ok() ? *value : 0;
  }
  return product;
}

bool is_used(const std::string& axis, const NewTask& request) {
  std::vector<std::string> texts;
  for (const auto& [name, shape] : request.shapes) {
    texts.insert(texts.end(), shape.begin(), shape.end());
  }
  for (const auto* list : {&request.derived, &request.fixed}) {
    for (const auto& [name, text] : *list) {
      texts.push_back(text);
    }
  }
  return request.derived.contains(axis) || std::ranges::any_of(texts, [&](const std::string& text) {
           const auto formula = Formula::parse(text);
           return formula.ok() && contains(formula->names(), axis);
         });
}

std::string harmless_value(const std::string& axis, const OwnCall& call, const NewTask& request) {
  const auto leaf = std::ranges::find(call.leaves, axis, &Leaf::name);
  if (leaf == call.leaves.end() || leaf->record.empty()) {
    return "1";
  }
  // The fields of one struct stand side by side and share the beginning of their names.
  const std::string prefix = axis.substr(0, axis.size() - leaf->field.size());
  std::set<std::string> spoken;
  std::vector<std::string> extents;
  for (const Leaf& other : call.leaves) {
    if (!other.name.starts_with(prefix) || other.record != leaf->record) {
      continue;
    }
    if (const auto shape = request.shapes.find(other.name); shape != request.shapes.end()) {
      extents = shape->second;
    } else if (other.name != axis) {
      const auto fixed = request.fixed.find(other.name);
      spoken.insert(fixed == request.fixed.end() ? other.name : fixed->second);
    }
  }
  for (const std::string& extent : extents) {
    if (!spoken.contains(extent)) {
      return extent;
    }
  }
  return "1";
}

std::vector<std::string> subtracted_axes(const NewTask& request,
                                         const std::vector<std::string>& axes) {
  std::vector<std::string> out;
  for (const std::string& axis : axes) {
    for (const auto& [name, shape] : request.shapes) {
      for (const std::string& extent : shape) {
        const bool minus = (" " + extent + " ").find("- " + axis + " ") != std::string::npos ||
                           extent.find("- " + axis + ")") != std::string::npos ||
                           extent.find("/" + axis) != std::string::npos ||
                           extent.find(" + 2*" + axis + " - ") != std::string::npos;
        if (minus && !contains(out, axis)) {
          out.push_back(axis);
        }
      }
    }
  }
  return out;
}

std::vector<std::string> given_axes(const OwnCall& call, const NewTask& request) {
  std::vector<std::string> out;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::axis && !request.fixed.contains(leaf.name) &&
        !request.derived.contains(leaf.name)) {
      out.push_back(leaf.name);
    }
  }
  out.insert(out.end(), request.more_axes.begin(), request.more_axes.end());
  return out;
}

std::vector<Question> choices(const NewTask& said, const NewTask& settled) {
  Question sizes{"--size", "sizes that are timed", {}};
  Question ranges{"--held-out", "sizes that are checked, from LOW to HIGH", {}};
  Question derived{"--axis", "a size that follows from others", {}};
  Question values{"--values", "what numbers are drawn from", {}};
  for (const auto& [name, size] : settled.sizes) {
    if (!said.sizes.contains(name)) {
      sizes.proposal.push_back(fmt::format("{}={}", name, size));
    }
  }
  for (const auto& [name, range] : settled.held_out) {
    if (!said.held_out.contains(name)) {
      const std::string step = range.step == 1 ? "" : fmt::format(":{}", range.step);
      ranges.proposal.push_back(fmt::format("{}={}:{}{}", name, range.low, range.high, step));
    }
  }
  for (const auto& [name, text] : settled.derived) {
    if (!said.derived.contains(name)) {
      derived.proposal.push_back(name + "=" + text);
    }
  }
  for (const auto& [name, text] : settled.values) {
    if (!said.values.contains(name) && text.starts_with("uniform:")) {
      values.proposal.push_back(name + "=" + text);
    }
  }
  std::vector<Question> all = {sizes, ranges, derived, values};
  std::erase_if(all, [](const Question& one) { return one.proposal.empty(); });
  return all;
}

std::int64_t allowed(const Learned& learned, const std::string& name, std::int64_t size) {
  if (const auto bound = learned.bounds.find(name); bound != learned.bounds.end()) {
    size = std::min(bound->second.at_most(size), bound->second.high);
  }
  const auto range = learned.request.held_out.find(name);
  return range == learned.request.held_out.end() ? size : range->second.at_most(size);
}

std::int64_t bytes_at(const Axes& axes, const OwnCall& call, const NewTask& request) {
  std::int64_t bytes = 0;
  for (const Leaf& leaf : call.leaves) {
    bytes += leaf.kind == Leaf::Kind::tensor
                 ? elements(request.shapes.at(leaf.name), axes, request) *
                       static_cast<std::int64_t>(size_of(leaf.element.dtype))
                 : 0;
  }
  return bytes;
}

void note_early_end(const OwnCall& call, Learned& learned, const Axes& axes, std::int64_t took_ns) {
  constexpr std::int64_t most_bytes_each_ns = 400;  // no processor moves as many
  if (took_ns > 0 && took_ns < bytes_at(axes, call, learned.request) / most_bytes_each_ns) {
    learned.notes.emplace_back(
        "a call ends before it can have touched its tensors: with numbers at random it seems to "
        "stop early, and that is what is measured. --values may say better numbers; else time a "
        "function that prepares them and calls this one");
  }
}

}  // namespace kernelpro::learn
