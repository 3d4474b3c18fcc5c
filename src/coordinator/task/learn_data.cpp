// Whole numbers in tensors that mean nothing but themselves: which of them trials have.
#include <algorithm>
#include <cstdint>
#include <set>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

constexpr double usual_number = 100;  // the highest; fits every type
constexpr double small_number = 3;

bool holds_numbers(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::tensor && !leaf.returned && !is_floating(leaf.element.dtype);
}

bool has_sign(const Leaf& leaf) {
  return !leaf.element.is_unsigned && leaf.element.dtype != DType::u8;
}

// An enum has no other numbers than its own: any of them, and each alone where they are few.
void keep_to_enumerators(const std::vector<const Leaf*>& leaves, std::vector<Fillings>& kinds) {
  for (const Leaf* leaf : leaves) {
    if (leaf->element.enumerators.empty()) {
      continue;
    }
    const auto [low, high] = longest_run(leaf->element.enumerators);
    const auto alone = [](std::int64_t number) {
      return Filling{Filling::Kind::constant, static_cast<double>(number)};
    };
    const Filling any =
        low == 0 ? Filling{Filling::Kind::below, static_cast<double>(high + 1)} : alone(low);
    const std::vector<Filling> each = {any, any, alone(high), alone(low),
                                       alone((low + high + 1) / 2)};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      kinds[i][leaf->name] = each[i];
    }
  }
}

// Numbers of both signs, where the type has them; positive ones; all the same, and below zero.
std::vector<Fillings> kinds_of(const std::vector<const Leaf*>& leaves) {
  std::vector<Fillings> kinds(5);
  for (const Leaf* leaf : leaves) {
    const bool sign = has_sign(*leaf);
    kinds[0][leaf->name] = {sign ? Filling::Kind::around : Filling::Kind::below, usual_number};
    kinds[1][leaf->name] = {Filling::Kind::below, usual_number};
    kinds[2][leaf->name] = {Filling::Kind::constant, small_number};
    kinds[3][leaf->name] = {Filling::Kind::constant, 0};
    kinds[4][leaf->name] = {Filling::Kind::constant, sign ? -small_number : small_number};
  }
  keep_to_enumerators(leaves, kinds);
  return kinds;
}

bool touches_the_same(const TrialResult& one, const TrialResult& other) {
  return std::ranges::equal(one.tensors, other.tensors, [](const auto& a, const auto& b) {
    return a.second.loaded == b.second.loaded && a.second.stored == b.second.stored &&
           a.second.written == b.second.written && a.second.size == b.second.size;
  });
}

// All zeros; of an enum, its first number.
Fillings zeros_in(const std::vector<const Leaf*>& leaves, const std::vector<Fillings>& kinds) {
  Fillings zeros;
  for (const Leaf* leaf : leaves) {
    if (!leaf->element.enumerators.empty()) {
      zeros[leaf->name] = kinds[3].at(leaf->name);
    }
  }
  return zeros;
}

}  // namespace

EnumeratorRun longest_run(const std::vector<Enumerator>& enumerators) {
  std::set<std::int64_t> values;
  for (const Enumerator& one : enumerators) {
    values.insert(one.value);
  }
  EnumeratorRun best{*values.begin(), *values.begin()};
  EnumeratorRun run = best;
  for (const std::int64_t value : values) {
    run = value == run.high + 1 ? EnumeratorRun{run.low, value} : EnumeratorRun{value, value};
    best = run.high - run.low > best.high - best.low ? run : best;
  }
  return best;
}

std::vector<Fillings> blind_fillings(const OwnCall& call) {
  std::vector<const Leaf*> leaves;
  for (const Leaf& leaf : call.leaves) {
    if (holds_numbers(leaf)) {
      leaves.push_back(&leaf);
    }
  }
  if (leaves.empty()) {
    return {{}};
  }
  const std::vector<Fillings> kinds = kinds_of(leaves);
  // Offsets of rows with something in each, and places that are near.
  Fillings ramp;
  for (const Leaf* leaf : leaves) {
    ramp[leaf->name] = leaf->element.enumerators.empty() ? Filling{Filling::Kind::ramp, 1}
                                                         : kinds[0].at(leaf->name);
  }
  return {zeros_in(leaves, kinds), kinds[0], kinds[2], ramp};
}

TrialResult together(const std::vector<TrialResult>& results) {
  const auto first = std::ranges::find(results, true, &TrialResult::returned);
  if (first == results.end()) {
    return results[0];
  }
  TrialResult out = *first;
  for (const TrialResult& one : results) {
    if (!one.returned) {
      continue;
    }
    for (auto& [name, touched] : out.tensors) {
      const TouchedTensor& other = one.tensors.at(name);
      touched.loaded = std::max(touched.loaded, other.loaded);
      touched.stored = std::max(touched.stored, other.stored);
      touched.fresh_read = touched.fresh_read || other.fresh_read;
      touched.written = std::max(touched.written, other.written);
      touched.least = std::min(touched.least, other.least);
      touched.size = std::max(touched.size, other.size);
      touched.finite = touched.finite && other.finite;
      touched.loads = std::max(touched.loads, other.loads);
    }
  }
  return out;
}

Status settle_plain_numbers(const Probe& probe, const OwnCall& call, const Axes& base,
                            WholeNumbers& numbers, std::stop_token stop) {
  std::vector<const Leaf*> leaves;
  for (const Leaf& leaf : call.leaves) {
    if (holds_numbers(leaf) && leaf.name != numbers.offsets &&
        !numbers.indices.contains(leaf.name)) {
      leaves.push_back(&leaf);
    }
  }
  if (leaves.empty()) {
    return {};
  }
  const std::vector<Fillings> kinds = kinds_of(leaves);
  std::vector<TrialCall> calls;
  for (const Fillings& kind : kinds) {
    calls.push_back(numbers.trial(base));
    for (const auto& [tensor, filling] : kind) {
      calls.back().filling[tensor] = filling;
    }
  }
  KP_LET(const auto results, probe.run(calls, std::move(stop)));
  const auto usual = std::ranges::find(results, true, &TrialResult::returned);
  if (usual == results.end()) {
    return {};
  }
  const std::size_t chosen = static_cast<std::size_t>(usual - results.begin());
  numbers.plain = kinds[chosen];
  numbers.bounded_below = chosen > 0;
  numbers.least_plain = chosen > 1 ? 1 : 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (results[i].returned && !touches_the_same(results[i], *usual)) {
      numbers.others.push_back(kinds[i]);
    }
  }
  return {};
}

}  // namespace kernelpro::learn
