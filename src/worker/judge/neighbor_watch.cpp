#include "worker/judge/neighbor_watch.hpp"

#include <algorithm>
#include <limits>

#include "common/base/secret.hpp"
#include "worker/judge/rounding.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t watched_sets = 16;
constexpr std::size_t watched_block = 64;  // as pattern_of takes them
constexpr std::size_t watched_blocks = 64;
constexpr std::size_t least_watched = 8 * watched_block;
// As far from an honest twin as the rules of rounding let errors be, and 1 is independent ones.
constexpr double unlike_factor = 2;
constexpr double unlike_margin = 1;

// Blocks of neighbors at random places of one output.
std::vector<double> read_blocks(const ShapeBuffers& buffers, Side side, int set, std::size_t output,
                                KeyedRandom random) {
  const BufferPlan& plan = buffers.plan();
  const TensorPlan& tensor = plan.tensors[plan.input_count + output];
  const std::size_t bytes = size_of(tensor.dtype);
  std::vector<char> raw(watched_blocks * watched_block * bytes);
  for (std::size_t i = 0; i < watched_blocks; ++i) {
    const std::uint64_t first = random.below(tensor.elements - watched_block + 1);
    buffers.memory->read_output(side, set, output, first * bytes, watched_block * bytes,
                                raw.data() + i * watched_block * bytes);
  }
  return to_doubles(raw.data(), tensor.dtype, watched_blocks * watched_block);
}

}  // namespace

NeighborWatch::Figures NeighborWatch::look_at(const Key& key, int set) const {
  const BufferPlan& plan = buffers_.plan();
  Figures out(plan.tensors.size() - plan.input_count, 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[plan.input_count + i];
    if (!is_floating(tensor.dtype) || tensor.elements < least_watched) {
      continue;
    }
    const KeyedRandom random(derive(key, static_cast<std::uint64_t>(set), i));
    const ErrorPattern pattern =
        pattern_of(signed_errors(read_blocks(buffers_, Side::candidate, set, i, random),
                                 read_blocks(buffers_, Side::incumbent, set, i, random)),
                   {1});
    out[i] = pattern.shared.front();
  }
  return out;
}

std::vector<int> NeighborWatch::conspicuous(const Key& key, std::vector<int> sets) {
  KeyedRandom random(key);
  while (sets.size() > watched_sets) {
    sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(random.below(sets.size())));
  }
  const std::size_t outputs = buffers_.plan().tensors.size() - buffers_.plan().input_count;
  least_.resize(outputs, std::numeric_limits<double>::infinity());
  right_.resize(outputs, 0);
  last_.clear();
  for (const int set : sets) {
    const Figures& figures = last_[set] = look_at(key, set);
    for (std::size_t i = 0; i < outputs; ++i) {
      least_[i] = std::min(least_[i], figures[i]);
    }
  }
  std::erase_if(sets, [&](int set) {
    const Figures& figures = last_[set];
    for (std::size_t i = 0; i < outputs; ++i) {
      if (figures[i] >
          std::max(unlike_factor * std::max(least_[i], 1.0) + unlike_margin, right_[i])) {
        return false;
      }
    }
    return true;
  });
  return sets;
}

void NeighborWatch::found_right(int set) {
  const auto found = last_.find(set);
  for (std::size_t i = 0; found != last_.end() && i < right_.size(); ++i) {
    right_[i] = std::max(right_[i], found->second[i]);
  }
}

}  // namespace kernelpro
