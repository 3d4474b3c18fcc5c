#include "worker/judge/host_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/hash.hpp"
#include "common/base/memory.hpp"
#include "worker/judge/held_truth.hpp"
#include "worker/judge/host_scratch.hpp"
#include "worker/tensor/cache_lines.hpp"
#include "worker/tensor/change.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t chunk = 1 << 20;
// What the caches and tables next to a core hold. It is swept after single lines were dropped, so
// that both sides begin with the same, on processors that are awake.
constexpr std::size_t nearest_bytes = std::size_t{16} << 20U;

// What was done to inputs after they were drawn: rounded, or else nudged.
struct Change {
  Key nudge;
  std::uint32_t roundings = 1;
  std::optional<Lower> lower;
};

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
    changes_.clear();
    hidden_ = {false, false};
    if (drawer_ != nullptr) {
      for (std::size_t first = 0; first < draws.size(); first += runner::max_draws) {
        take_drawn(first);
      }
      return;
    }
    fill_called_sets(task_, plan_, {&inputs_.front(), &inputs_.back()}, draws_, slack_);
  }

  void nudge(const Key& key, std::uint32_t roundings) override {
    change({key, roundings, std::nullopt});
  }
  void round_inputs(Lower lower) override { change({{}, 0, lower}); }

  void draw_again() override {
    const std::vector<SetDraw> last = draws_;
    draw(last, slack_);
  }

  void read_input(int set, std::size_t input, std::size_t first, std::size_t bytes,
                  char* to) override {
    const Side side = hidden_[index_of(Side::incumbent)] ? Side::candidate : Side::incumbent;
    std::memcpy(to, tensor_data(plan_, inputs_[index_of(side)], set, input) + first, bytes);
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
      draw_side_again(side);
    }
    if (caches == Caches::cold) {
      flush(side);
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

  void fill_outputs(Side side, const std::vector<std::uint16_t>& sets,
                    unsigned char content) override {
    for (const std::uint16_t set : sets) {
      for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
        std::memset(tensor_data(plan_, outputs_[index_of(side)], set, t), content,
                    plan_.tensors[t].bytes);
      }
    }
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

  void read_output(Side side, int set, std::size_t output_index, std::size_t first,
                   std::size_t bytes, char* to) override {
    std::memcpy(to, output(side, set, plan_.input_count + output_index) + first, bytes);
  }

  [[nodiscard]] const char* output_regions(Side side, int set) override {
    return outputs_[index_of(side)].data() + static_cast<std::size_t>(set) * plan_.output_stride;
  }

  [[nodiscard]] Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                     int /*set*/) override {
    KP_LET(Expected expected, oracle.expect(draw));
    return std::unique_ptr<Truth>(
        std::make_unique<HeldTruth>(task_, plan_, *this, std::move(expected)));
  }

  [[nodiscard]] std::vector<int> descriptors(Side side) const override {
    return {inputs_[index_of(side)].fd(), outputs_[index_of(side)].fd()};
  }

  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override {
    return make_host_scratch(bytes, plan_.sets);
  }

  [[nodiscard]] Status health() override { return problem_; }

 private:
  [[nodiscard]] static Status make_arena(Arena& arena, std::size_t bytes, bool read_only) {
    KP_LET(arena, Arena::create(bytes, read_only));
    return {};
  }

  [[nodiscard]] char* output(Side side, int set, std::size_t tensor) const {
    return tensor_data(plan_, outputs_[index_of(side)], set, tensor);
  }

  // What give_constants took away.
  void draw_side_again(Side side) {
    if (drawer_ == nullptr) {
      fill_called_sets(task_, plan_, {&inputs_[index_of(side)]}, draws_, slack_);
    }
    for (std::size_t first = 0; drawer_ != nullptr && first < draws_.size();
         first += runner::max_draws) {
      take_drawn(first);
    }
    for (const Change& change : changes_) {
      change_side(side, change);
    }
  }

  void change(const Change& change) {
    changes_.push_back(change);
    for (const Side side : both_sides) {
      change_side(side, change);
    }
  }

  void change_side(Side side, const Change& change) {
    for (int set = 0; set < std::ssize(draws_); ++set) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        const TensorPlan& tensor = plan_.tensors[i];
        char* data = tensor_data(plan_, inputs_[index_of(side)], set, i);
        if (is_floating(tensor.dtype) && change.lower) {
          round_values(data, tensor.dtype, tensor.elements, *change.lower);
        } else if (is_floating(tensor.dtype)) {
          nudge_values(data, tensor.dtype, tensor.elements,
                       derive(change.nudge, static_cast<std::uint64_t>(set), i), change.roundings);
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

  // Where nothing is constant, what a process keeps from earlier calls is of no use to it: its
  // buffers alone have to be cold, which takes a hundredth of the time that a large cache takes.
  void flush(Side side) {
    if (keeps_nothing_ && can_drop_lines()) {
      for (const Arena* arena : {&inputs_[index_of(side)], &outputs_[index_of(side)]}) {
        parallel_parts(arena->size(), chunk, [arena](std::size_t begin, std::size_t end) {
          drop_lines(arena->data() + begin, end - begin);
        });
      }
      sweep(nearest_bytes);
    } else {
      sweep(static_cast<std::size_t>(2 * cache_bytes_));
    }
  }

  // With as much as the caches hold, what kp_prepare keeps does not stay warm either, nor PyTorch's
  // own copies of constants.
  void sweep(std::size_t bytes) {
    constexpr std::size_t line = 64;
    evictor_.resize(bytes);
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

  const Task& task_;
  const BufferPlan& plan_;
  std::int64_t cache_bytes_;
  Oracle* drawer_;  // null: inputs are drawn here
  bool keeps_nothing_ =
      drawer_ == nullptr && std::ranges::none_of(task_.inputs, &TensorSpec::constant);
  std::array<Arena, 2> inputs_;
  std::array<Arena, 2> outputs_;
  std::vector<SetDraw> draws_;   // the last ones
  std::vector<Change> changes_;  // since then
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
