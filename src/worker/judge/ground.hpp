// Where candidates run and where their buffers lie: the CPU, or one GPU.
//
// The judge is the same on every ground. What differs is behind these interfaces: who holds the
// memory, how it is filled, poisoned and compared, and how a runner is confined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/judge/energy_meter.hpp"
#include "worker/judge/settings.hpp"
#include "worker/oracle/oracle.hpp"
#include "worker/tensor/lower.hpp"

namespace kernelpro {

// Whose memory it is. Candidate and incumbent share no page: neither can read what the other wrote,
// nor change what the other's accesses cost.
enum class Side { candidate, incumbent };
inline constexpr Side both_sides[] = {Side::candidate, Side::incumbent};
[[nodiscard]] constexpr Side other_side(Side side) {
  return side == Side::candidate ? Side::incumbent : Side::candidate;
}
[[nodiscard]] constexpr std::size_t index_of(Side side) {
  return side == Side::candidate ? 0 : 1;
}

// Scratch memory for every set of an arm, guarded like the outputs.
class Scratch {
 public:
  virtual ~Scratch() = default;
  // The slack around it with poison, what a call may use with `content`.
  virtual void poison(unsigned char content) = 0;
  // Whether the slack around it is as poison() left it.
  [[nodiscard]] virtual bool intact() = 0;
  // What the runner maps, and where the workspace lies in it.
  [[nodiscard]] virtual std::vector<int> descriptors() const = 0;
  virtual void describe(runner::Layout& layout) const = 0;
};

// Memory that no honest call touches.
struct Touched {
  std::optional<int> uncalled_set;    // a set that was not called and is no longer poison
  std::optional<GuardBreach> breach;  // a changed byte beside the outputs of a called one
};

// What the caches hold when a round's calls begin.
enum class Caches { any, cold, warm };

// Where a call of a side waits on a device, queued before its inputs are there: neither its host
// nor its queue is on the clock then, and the clock is the worker's own on that device. Whoever
// does not wait computes on poison.
class Gate {
 public:
  virtual ~Gate() = default;
  // What the runner maps.
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  // The number that opens it next.
  [[nodiscard]] virtual std::uint32_t close() = 0;
  // Gives the side its inputs, opens the gate, and takes its outputs when it has passed: all that
  // is queued, and pass() waits for it.
  virtual void open(Caches caches) = 0;
  // Opens it with nothing given.
  virtual void open_blindly() = 0;
  // Nanoseconds from opening to the end of the calls; nothing where that does not come in time.
  [[nodiscard]] virtual std::optional<double> pass() = 0;
  // No longer waits for a side whose process has ended.
  virtual void abandon() = 0;
};

class Truth;

// The buffers of one plan, for two sides.
class SetMemory {
 public:
  SetMemory();
  virtual ~SetMemory() = default;
  SetMemory(const SetMemory&) = delete;
  SetMemory& operator=(const SetMemory&) = delete;

  // Of this memory and no other, ever.
  [[nodiscard]] std::uint64_t id() const { return id_; }

  // Draws the inputs of every set, one draw a set, and the slack around them.
  virtual void draw(const std::vector<SetDraw>& draws, unsigned char slack) = 0;
  // Moves every floating input that was drawn by so many roundings, up or down as `key` says: what
  // the outputs change by then is the task's condition there. Zeros stay, and what is as near to
  // zero as that.
  virtual void nudge(const Key& key, std::uint32_t roundings) = 0;
  // Rounds every floating input that was drawn to a lower precision: what an honest computation in
  // it would start from.
  virtual void round_inputs(Lower lower) = 0;
  // Draws again what was drawn last: nothing is nudged or rounded any more.
  virtual void draw_again() = 0;
  // Copies `bytes` of an input as it was drawn, from byte `first` on.
  virtual void read_input(int set, std::size_t input, std::size_t first, std::size_t bytes,
                          char* to) = 0;
  // Until it is called again, a round is about this set alone: nothing else is made ready, given,
  // poisoned, looked at or taken. Nothing: about all. What costs next to nothing need not be left.
  virtual void narrow(std::optional<int> /*set*/) {}
  // For kp_prepare: gives a side the constant inputs that were drawn, and poison for the others.
  virtual void give_constants(Side side) = 0;
  // Before a side's round, off its clock. On a GPU, where code of its can run before the clock
  // does, it sees nothing but poison then; a CPU's runner is stopped, and gets its inputs here.
  virtual void make_ready(Side side, Caches caches) = 0;
  // On the side's clock: on a GPU it gets its inputs here.
  virtual void give(Side side, Caches caches) = 0;
  // On the side's clock, after its calls: its outputs of these sets as they are now are what counts
  // from here on.
  virtual void take(Side side, const std::vector<std::uint16_t>& sets) = 0;
  // How much of the clock of the last round of that side was our own giving and taking.
  [[nodiscard]] virtual double own_ns(Side side) const = 0;
  // The gate of a side; null where there are none.
  [[nodiscard]] virtual Gate* gate(Side /*side*/) { return nullptr; }
  // After a side's round: what it was given and what it wrote is poison again, where another side
  // could find it in spite of all. What was taken stays.
  virtual void hide(Side /*side*/) {}
  // Whether the inputs of a side still are what was drawn.
  [[nodiscard]] virtual bool inputs_intact(Side side) = 0;
  virtual void poison_outputs(Side side) = 0;
  // After poison_outputs: these sets hold other bytes, the slack around them poison.
  virtual void fill_outputs(Side side, const std::vector<std::uint16_t>& sets,
                            unsigned char content) = 0;

  // What has happened to the outputs since poison_outputs, when only the sets `called` should have
  // been written.
  [[nodiscard]] virtual Touched touched(Side side, const std::vector<std::uint16_t>& called) = 0;

  // All that follows is about outputs that were taken.

  // Those of `sets` where the sides do not agree within the bounds (one an output); whole numbers
  // must be equal, and what is not finite in one must not be finite in the other.
  [[nodiscard]] virtual std::vector<int> disagreeing(const std::vector<std::uint16_t>& sets,
                                                     const std::vector<double>& bounds) = 0;
  // Whether sets `first` and `second` have the same output `index`: bit by bit, or within `bound`.
  [[nodiscard]] virtual bool same_output(Side side, int first, int second, std::size_t index,
                                         double bound) = 0;
  // How far the other side is from `truth`, whose outputs stand for the expected ones. Whole
  // numbers that differ are infinitely wrong, indices too: what they select is for
  // selection_check.hpp.
  [[nodiscard]] virtual std::vector<TensorError> errors_to(Side truth, int set) = 0;
  // Copies `bytes` of an output, from byte `first` on.
  virtual void read_output(Side side, int set, std::size_t output, std::size_t first,
                           std::size_t bytes, char* to) = 0;
  // The output regions of one set in our own memory; valid until the next call.
  [[nodiscard]] virtual const char* output_regions(Side side, int set) = 0;
  // The oracle's values for the inputs of `set`, which were drawn as `draw` says; null where there
  // is no room for them. It may refer to this memory.
  [[nodiscard]] virtual Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                             int set) = 0;

  // What the runner of a side maps.
  [[nodiscard]] virtual std::vector<int> descriptors(Side side) const = 0;
  // Scratch memory of `bytes` for every set.
  [[nodiscard]] virtual Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) = 0;

  // An error when anything above failed since the last time: the device is lost, say.
  [[nodiscard]] virtual Status health() = 0;

 private:
  std::uint64_t id_;
};

// What the outputs must be, where it was computed and is kept.
class Truth {
 public:
  virtual ~Truth() = default;
  // From now on elements are excused where the outputs of the baseline, which were taken from the
  // incumbent's side, are not finite.
  virtual void excuse_by(int set) = 0;
  // How far the outputs of `set` on that side are from it, one entry an output.
  [[nodiscard]] virtual std::vector<TensorError> errors(Side side, int set) = 0;
  // `count` values of a floating output, from element `first` on.
  [[nodiscard]] virtual std::vector<double> values(std::size_t output, std::size_t first,
                                                   std::size_t count) = 0;
};

class Ground {
 public:
  virtual ~Ground() = default;
  [[nodiscard]] virtual Backend backend() const = 0;
  // The GPU's UUID; empty on the CPU.
  [[nodiscard]] virtual std::string device() const = 0;
  // The machine's lock under which nobody else times here.
  [[nodiscard]] virtual std::string lock_name() const = 0;
  [[nodiscard]] virtual MemoryUnits units() const = 0;
  // The last-level cache.
  [[nodiscard]] virtual std::int64_t cache_bytes() const = 0;
  // How many sets of `tensors` tensors a runner can be given at most.
  [[nodiscard]] virtual int most_sets(std::size_t tensors) const = 0;
  // The memory that the sets of a round may take.
  [[nodiscard]] virtual double round_bytes() const = 0;
  // Beyond these the reference is too slow to be asked; the baseline, itself held against the
  // reference at smaller shapes, stands for it.
  struct OracleLimits {
    double operations = 0;
    double bytes = 0;
  };
  [[nodiscard]] virtual OracleLimits oracle_limits() const = 0;
  // Whether inputs must be looked at after timed calls, because a hostile runner could remap them.
  [[nodiscard]] virtual bool watch_inputs() const = 0;
  // Whether every round is flushed, also where its sets exceed the cache by themselves.
  [[nodiscard]] virtual bool always_flush() const = 0;

  // Who draws the inputs of what is laid out from now on; null: they are drawn here.
  void draw_inputs_by(Oracle* oracle) { drawer_ = oracle; }

  [[nodiscard]] virtual Result<std::unique_ptr<SetMemory>> lay_out(const Task& task,
                                                                   const BufferPlan& plan) = 0;
  // How a runner is started for `library`. `may_link`: a comparator, which may read the system's
  // libraries. `buffer_bytes`: the largest buffers it will see.
  [[nodiscard]] virtual RunnerSettings runner(const JudgeSettings& settings,
                                              const std::string& library, bool may_link,
                                              std::size_t buffer_bytes) const = 0;
  // The same for a runner that can trace its calls; nothing where the ground has no tracer.
  [[nodiscard]] virtual std::optional<RunnerSettings> tracing_runner(
      const JudgeSettings& settings, const std::string& library, bool may_link,
      std::size_t buffer_bytes) const = 0;
  // Whether a set of that size leaves room for one more that is never called.
  [[nodiscard]] virtual bool room_for_decoy(std::size_t set_bytes) const = 0;
  // What disturbs timings there at this moment, in words; nothing as a rule.
  [[nodiscard]] virtual std::vector<std::string> disturbances() const = 0;
  // A candidate that does nothing but what every candidate must: what a round costs without work.
  [[nodiscard]] virtual std::string null_source() const = 0;
  // By whom it is built where the baseline has no compiler; empty: the toolchain's first.
  [[nodiscard]] virtual std::string default_compiler() const = 0;
  // Differences below this are never claimed, however quiet the machine: one pair of twins does not
  // show how far any two processes can be apart.
  [[nodiscard]] virtual double least_noise() const = 0;
  // What the hand-over to a runner may differ by from that to the empty candidate, by measurement.
  [[nodiscard]] virtual double hand_over_doubt_ns() const = 0;
  // Whether calls are enqueued on a device: then runners are handed over to as RunnerProcess does
  // for a GPU.
  [[nodiscard]] virtual bool enqueues() const = 0;
  // What a candidate may hold of the host's memory, where no limit of its process counts all of it;
  // 0: one does.
  [[nodiscard]] virtual std::int64_t most_resident_bytes() const { return 0; }
  // Its energy counter; an environment error says why there is none.
  [[nodiscard]] virtual Result<EnergyMeter*> energy_meter() = 0;

 protected:
  Oracle* drawer_ = nullptr;
};

}  // namespace kernelpro
