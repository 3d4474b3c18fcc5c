#include "worker/judge/host_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "common/base/hash.hpp"
#include "common/base/memory.hpp"
#include "worker/judge/held_truth.hpp"
#include "worker/tensor/parallel.hpp"
#include "worker/tensor/value_words.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t chunk = 1 << 20;

class HostScratch : public Scratch {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Scratch>> make(std::size_t bytes, int sets) {
    auto scratch = std::make_unique<HostScratch>();
    const MemoryUnits units = host_units();
    scratch->bytes_ = bytes;
    // As the outputs: slack in front, the end at a guard page.
    scratch->stride_ = round_up(round_up(bytes, units.alignment) + units.alignment, units.page);
    scratch->offset_ = scratch->stride_ - round_up(bytes, units.alignment);
    const std::size_t all_sets = scratch->stride_ * static_cast<std::size_t>(sets);
    // All of it is written before each round, beside everything else that is in memory.
    if (const std::int64_t left = available_memory_bytes();
        left > 0 && all_sets > static_cast<std::size_t>(left) / 2) {
      return make_error(ErrorKind::environment, "all calls of a round together would take " +
                                                    std::to_string(all_sets) + " bytes, and " +
                                                    std::to_string(left) + " are available");
    }
    Result<Arena> arena = Arena::create(all_sets, false);
    if (!arena) {
      return arena.error();
    }
    scratch->arena_ = std::move(*arena);
    return std::unique_ptr<Scratch>(std::move(scratch));
  }

  void poison() override { std::memset(arena_.data(), poison_byte, arena_.size()); }

  [[nodiscard]] bool intact() override {
    const std::size_t back = stride_ - offset_ - bytes_;
    for (std::size_t at = 0; at + stride_ <= arena_.size(); at += stride_) {
      const char* region = arena_.data() + at;
      if (!is_poison(region, offset_) || !is_poison(region + stride_ - back, back)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<int> descriptors() const override { return {arena_.fd()}; }

  void describe(runner::Layout& layout) const override {
    layout.workspace_bytes = bytes_;
    layout.workspace_stride = stride_;
    layout.workspace_offset = offset_;
  }

 private:
  Arena arena_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = 0;  // of one set; the workspace ends within one alignment of its end
  std::size_t offset_ = 0;
};

struct Nudge {
  Key key;
  std::uint32_t roundings = 1;
};

// The bits of floating values moved away from zero, or towards it.
template <typename Bits>
void nudge_bits(char* data, std::size_t elements, const Key& key, std::uint32_t roundings) {
  const auto by = static_cast<Bits>(roundings);
  auto* values = reinterpret_cast<Bits*>(data);
  for (std::size_t first = 0; first < elements; first += group_elements) {
    std::uint32_t words[group_elements];
    value_words(key, first / group_elements, first_stream, words);
    for (std::size_t i = first; i < std::min(elements, first + group_elements); ++i) {
      // Zeros stay: the smallest of all numbers is no rounding of zero.
      const bool stays = (values[i] & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1U)) < by;
      const bool up = (words[i - first] & 1U) != 0;
      values[i] = static_cast<Bits>(stays ? values[i] : (up ? values[i] + by : values[i] - by));
    }
  }
}

void nudge_tensor(char* data, const TensorPlan& tensor, const Key& key, std::uint32_t roundings) {
  switch (size_of(tensor.dtype)) {
    case 8:
      return nudge_bits<std::uint64_t>(data, tensor.elements, key, roundings);
    case 4:
      return nudge_bits<std::uint32_t>(data, tensor.elements, key, roundings);
    default:
      return nudge_bits<std::uint16_t>(data, tensor.elements, key, roundings);
  }
}

class HostMemory : public SetMemory {
 public:
  HostMemory(const Task& task, const BufferPlan& plan, std::int64_t cache_bytes, Oracle* drawer)
      : task_(task), plan_(plan), cache_bytes_(cache_bytes), drawer_(drawer) {}

  [[nodiscard]] Status allocate() {
    for (const Side side : both_sides) {
      KP_TRY(make_arena(inputs_[index_of(side)], plan_.input_bytes(), true));
      KP_TRY(make_arena(outputs_[index_of(side)], plan_.output_bytes(), false));
    }
    return {};
  }

  // Into both sides at once: neither runs before its clock does.
  void draw(const std::vector<SetDraw>& draws, unsigned char slack) override {
    draws_ = draws;
    slack_ = slack;
    nudges_.clear();
    hidden_ = {false, false};
    if (drawer_ != nullptr) {
      for (std::size_t first = 0; first < draws.size(); first += runner::max_draws) {
        take_drawn(first);
      }
      return;
    }
    draw_for({&inputs_[0], &inputs_[1]});
  }

  void nudge(const Key& key, std::uint32_t roundings) override {
    nudges_.push_back({key, roundings});
    for (const Side side : both_sides) {
      nudge_side(side, nudges_.back());
    }
  }

  void give_constants(Side side) override {
    hidden_[index_of(side)] = true;
    const Arena& arena = inputs_[index_of(side)];
    for (int set = 0; set < plan_.sets; ++set) {
      for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
        if (!task_.inputs[i].constant) {
          std::memset(tensor_data(plan_, arena, set, i), poison_byte, plan_.tensors[i].bytes);
        }
      }
    }
  }

  void make_ready(Side side, Caches caches) override {
    if (std::exchange(hidden_[index_of(side)], false)) {
      draw_again(side);
    }
    if (caches == Caches::cold) {
      flush();
    } else if (caches == Caches::warm) {
      // Every byte is read, which is all that warming takes.
      const Arena& arena = inputs_[index_of(side)];
      static_cast<void>(memory_hash(arena.data(), arena.size()));
    }
  }

  // A runner that is stopped can neither read early nor write late.
  void give(Side /*side*/, Caches /*caches*/) override {}
  void take(Side /*side*/, const std::vector<std::uint16_t>& /*sets*/) override {}
  [[nodiscard]] double own_ns(Side /*side*/) const override { return 0; }

  // They are sealed: nobody but us can ever write to them.
  [[nodiscard]] bool inputs_intact(Side /*side*/) override { return true; }

  void poison_outputs(Side side) override {
    const Arena& outputs = outputs_[index_of(side)];
    parallel_parts(outputs.size(), chunk, [&outputs](std::size_t begin, std::size_t end) {
      std::memset(outputs.data() + begin, poison_byte, end - begin);
    });
  }

  [[nodiscard]] Touched touched(Side side, const std::vector<std::uint16_t>& called) override {
    const Arena& outputs = outputs_[index_of(side)];
    Touched out;
    for (int set = 0; set < plan_.sets; ++set) {
      if (std::find(called.begin(), called.end(), set) == called.end()) {
        if (!out.uncalled_set && !still_poisoned(plan_, outputs, set)) {
          out.uncalled_set = set;
        }
      } else if (!out.breach) {
        const std::vector<GuardBreach> found = find_breaches(plan_, outputs, set);
        out.breach = found.empty() ? std::nullopt : std::optional(found.front());
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<int> disagreeing(const std::vector<std::uint16_t>& sets,
                                             const std::vector<double>& bounds) override {
    std::vector<int> out;
    std::mutex mutex;
    parallel_parts(sets.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!sides_agree(sets[i], bounds)) {
          const std::lock_guard lock(mutex);
          out.push_back(sets[i]);
        }
      }
    });
    return out;
  }

  [[nodiscard]] std::vector<TensorError> errors_to(Side truth_side, int set) override {
    std::vector<TensorError> errors;
    for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      const char* actual = output(other_side(truth_side), set, t);
      const char* truth = output(truth_side, set, t);
      if (is_floating(tensor.dtype)) {
        const std::vector<double> values = to_doubles(truth, tensor.dtype, tensor.elements);
        errors.push_back(compare_floating(actual, tensor.dtype, values.data(),
                                          rms(values.data(), values.size()), tensor.elements,
                                          truth));
      } else {
        errors.push_back(compare_whole(actual, truth, tensor.dtype, tensor.elements));
        forgive_ties(t - plan_.input_count, tensor, actual, truth, errors.back());
      }
    }
    return errors;
  }

  [[nodiscard]] bool same_output(Side side, int first, int second, std::size_t index,
                                 double bound) override {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + index];
    const char* a = output(side, first, plan_.input_count + index);
    const char* b = output(side, second, plan_.input_count + index);
    return std::memcmp(a, b, tensor.bytes) == 0 ||
           (bound > 0 && agree(a, b, tensor.dtype, tensor.elements, bound));
  }

  [[nodiscard]] const char* output_regions(Side side, int set) override {
    return outputs_[index_of(side)].data() + static_cast<std::size_t>(set) * plan_.output_stride;
  }

  [[nodiscard]] Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                     int /*set*/) override {
    Result<Expected> expected = oracle.expect(draw);
    if (!expected) {
      return expected.error();
    }
    return std::unique_ptr<Truth>(
        std::make_unique<HeldTruth>(task_, plan_, *this, std::move(*expected)));
  }

  [[nodiscard]] std::vector<int> descriptors(Side side) const override {
    return {inputs_[index_of(side)].fd(), outputs_[index_of(side)].fd()};
  }

  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override {
    return HostScratch::make(bytes, plan_.sets);
  }

  [[nodiscard]] Status health() override { return problem_; }

 private:
  [[nodiscard]] static Status make_arena(Arena& arena, std::size_t bytes, bool read_only) {
    Result<Arena> made = Arena::create(bytes, read_only);
    if (!made) {
      return made.error();
    }
    arena = std::move(*made);
    return {};
  }

  [[nodiscard]] char* output(Side side, int set, std::size_t tensor) const {
    return tensor_data(plan_, outputs_[index_of(side)], set, tensor);
  }

  void draw_for(const InputCopies& copies) {
    parallel_parts(draws_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t set = begin; set < end; ++set) {
        fill_inputs(task_, plan_, copies, static_cast<int>(set), draws_[set], slack_);
      }
    });
  }

  // What give_constants took away.
  void draw_again(Side side) {
    if (drawer_ == nullptr) {
      draw_for({&inputs_[index_of(side)]});
    }
    for (std::size_t first = 0; drawer_ != nullptr && first < draws_.size();
         first += runner::max_draws) {
      take_drawn(first);
    }
    for (const Nudge& nudge : nudges_) {
      nudge_side(side, nudge);
    }
  }

  void nudge_side(Side side, const Nudge& nudge) {
    for (int set = 0; set < std::ssize(draws_); ++set) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        if (is_floating(plan_.tensors[i].dtype)) {
          nudge_tensor(tensor_data(plan_, inputs_[index_of(side)], set, i), plan_.tensors[i],
                       derive(nudge.key, static_cast<std::uint64_t>(set), i), nudge.roundings);
        }
      }
    }
  }

  // The sets from `first` on, as many as are drawn at once.
  void take_drawn(std::size_t first) {
    const std::size_t count = std::min<std::size_t>(draws_.size() - first, runner::max_draws);
    const auto begin = draws_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<SetDraw> draws(begin, begin + static_cast<std::ptrdiff_t>(count));
    InputDraw draw;
    draw.axes = plan_.axes;
    const Result<BufferPlan> from =
        plan_buffers(task_, draw.axes, static_cast<int>(count), Key{}, PlanKind::oracle);
    const Result<Arena> drawn = drawer_->inputs(draw, draws);
    if (!from || !drawn) {
      problem_ = from ? drawn.error() : from.error();
      return;
    }
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        const TensorPlan& tensor = plan_.tensors[i];
        for (const Arena& arena : inputs_) {
          char* data = tensor_data(plan_, arena, static_cast<int>(first + at), i);
          std::memset(data - tensor.data_offset, slack_, tensor.region_bytes);
          std::memcpy(data, tensor_data(*from, *drawn, static_cast<int>(at), i), tensor.bytes);
        }
      }
    }
  }

  void flush() {
    constexpr std::size_t line = 64;
    evictor_.resize(static_cast<std::size_t>(2 * cache_bytes_));
    parallel_parts(evictor_.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += line) {
        evictor_[i] = static_cast<char>(evictor_[i] + 1);
      }
    });
  }

  [[nodiscard]] bool sides_agree(int set, const std::vector<double>& bounds) const {
    for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      if (!agree(output(Side::candidate, set, t), output(Side::incumbent, set, t), tensor.dtype,
                 tensor.elements, bounds[t - plan_.input_count])) {
        return false;
      }
    }
    return true;
  }

  void forgive_ties(std::size_t output, const TensorPlan& tensor, const char* actual,
                    const char* truth, TensorError& error) const {
    if (task_.outputs[output].selects.empty() || error.poisoned > 0) {
      return;
    }
    const std::size_t width = size_of(tensor.dtype);
    std::size_t different = 0;
    for (std::size_t i = 0; i < tensor.elements; ++i) {
      different += std::memcmp(actual + i * width, truth + i * width, width) != 0 ? 1 : 0;
    }
    if (static_cast<double>(different) <= tie_share * static_cast<double>(tensor.elements)) {
      error = {};
    }
  }

  const Task& task_;
  const BufferPlan& plan_;
  std::int64_t cache_bytes_;
  Oracle* drawer_;  // null: inputs are drawn here
  std::array<Arena, 2> inputs_;
  std::array<Arena, 2> outputs_;
  std::vector<SetDraw> draws_;  // the last ones
  std::vector<Nudge> nudges_;   // since then
  unsigned char slack_ = poison_byte;
  std::array<bool, 2> hidden_ = {false, false};  // whether a side has constants alone
  std::vector<char> evictor_;                    // streamed through to empty the caches
  Status problem_;
};

}  // namespace

Result<std::unique_ptr<SetMemory>> make_host_memory(const Task& task, const BufferPlan& plan,
                                                    std::int64_t cache_bytes, Oracle* drawer) {
  auto memory = std::make_unique<HostMemory>(task, plan, cache_bytes, drawer);
  KP_TRY(memory->allocate());
  return std::unique_ptr<SetMemory>(std::move(memory));
}

}  // namespace kernelpro
