#include "worker/judge/check_cases.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

namespace {

// Log-uniform between the range's ends, so that small sizes are as likely as large ones.
std::int64_t draw_extent(const AxisRange& range, KeyedRandom& random) {
  const double low = std::log(static_cast<double>(range.low));
  const double high = std::log(static_cast<double>(range.high) + 1.0);
  const auto drawn = static_cast<std::int64_t>(std::exp(low + (high - low) * random.unit()));
  return range.at_most(std::min(drawn, range.high));
}

Axes draw_shape(const Task& task, const Key& master, std::uint64_t index) {
  KeyedRandom random(derive(master, check_shape_purpose, index));
  Axes axes;
  for (const auto& [name, range] : task.held_out) {
    axes[name] = draw_extent(range, random);
  }
  return axes;
}

// `size` moved to where blocks and vectors begin or end: a multiple of a power of two, or beside
// it.
std::int64_t beside_block(const AxisRange& range, std::int64_t size, int beside) {
  std::int64_t block = 64;
  while (block > 2 && block >= range.high) {
    block /= 2;
  }
  const std::int64_t moved = std::max<std::int64_t>(size / block, 1) * block + beside;
  return moved < range.low || moved > range.high ? size : range.at_most(moved);
}

// Moves held-out shape `index` of so many to the corners of its ranges. Each size has its least
// value in one of the first half and its greatest in one of the second, and is one more than a
// multiple of a block in another: what is wrong there is found whatever is drawn. Now and then it
// is such a multiple as well, or one less.
void move_to_corners(const Task& task, const Key& master, int index, int shapes, Axes& axes) {
  const int half = shapes / 2;
  KeyedRandom random(derive(master, check_ends_purpose));
  for (auto& [name, size] : axes) {
    const AxisRange& range = task.held_out.at(name);
    const auto least = static_cast<int>(random.below(static_cast<std::uint64_t>(half)));
    const int next = (least + 1) % half;
    const auto below = static_cast<int>(random.below(4));
    if (index == least) {
      size = range.low;
    } else if (index == half + least) {
      size = range.at_most(range.high);
    } else if (index == next) {
      size = beside_block(range, size, 1);
    } else if (index == half + next && below < 2) {
      size = beside_block(range, size, -below);
    }
  }
}

// The same shape but for one size: what was kept of the one before fits in all others.
Axes neighbor_of(const Axes& shape, const Axes& other, const Key& master) {
  Axes out = shape;
  KeyedRandom random(derive(master, check_neighbor_purpose));
  auto changed = out.begin();
  std::advance(changed, out.empty() ? 0 : static_cast<std::ptrdiff_t>(random.below(out.size())));
  if (changed != out.end()) {
    changed->second = other.at(changed->first);
  }
  return out;
}

// Adds checks to a list, each with fresh values; scalars are drawn anew for each shape, and for the
// repeats.
class CaseList {
 public:
  CaseList(const Task& task, const Key& master) : task_(task), master_(master) {}

  [[nodiscard]] Status add(Stage stage, const Axes& shape,
                           Distribution distribution = Distribution::normal) {
    KP_LET(Axes axes, complete_axes(task_, shape));
    const bool new_shape = cases_.empty() || cases_.back().draw.axes != axes;
    // Once they change at one shape: who keeps what follows from them by its sizes is wrong then.
    scalars_ += new_shape || stage == Stage::repeatability ? 1 : 0;
    CheckCase item;
    item.stage = stage;
    item.draw.axes = std::move(axes);
    item.draw.scalar_key = derive(master_, check_scalars_purpose, scalars_);
    item.draw.values = {derive(master_, check_values_purpose, cases_.size()), distribution};
    cases_.push_back(std::move(item));
    return {};
  }

  std::vector<CheckCase> take() { return std::move(cases_); }

 private:
  const Task& task_;
  Key master_;
  std::uint64_t scalars_ = 0;
  std::vector<CheckCase> cases_;
};

// One shape, and its inputs are drawn in two ways: as the module's author has them, and with random
// signs. Sums of positive numbers hide a lower precision, and what is left out for negative ones.
Result<std::vector<CheckCase>> draw_torch_cases(CaseList list, const Axes& shape) {
  KP_TRY(list.add(Stage::distributions, shape, Distribution::mixed));
  KP_TRY(list.add(Stage::repeatability, shape));
  KP_TRY(list.add(Stage::memory, shape));
  return list.take();
}

}  // namespace

Result<std::vector<CheckCase>> draw_cases(const Task& task, const std::vector<Axes>& timed_shapes,
                                          const Key& master, int held_out_shapes) {
  CaseList list(task, master);
  std::uint64_t shapes = 0;
  // A first small shape; a PyTorch module has no other than the timed one.
  if (!task.reference.torch) {
    KP_TRY(list.add(Stage::smoke, draw_shape(task, master, shapes++)));
  }
  for (const Axes& shape : timed_shapes) {
    KP_TRY(list.add(Stage::timed_shapes, shape));
  }
  if (task.reference.torch) {
    return draw_torch_cases(std::move(list), timed_shapes.front());
  }
  for (int i = 0; i < held_out_shapes; ++i) {
    Axes shape = draw_shape(task, master, shapes++);
    if (held_out_shapes > 1) {
      move_to_corners(task, master, i, held_out_shapes, shape);
    }
    KP_TRY(list.add(Stage::held_out, shape));
  }
  const Axes shared = draw_shape(task, master, shapes++);
  for (const Distribution distribution : all_distributions) {
    KP_TRY(list.add(Stage::distributions, shared, distribution));
  }
  KP_TRY(list.add(Stage::repeatability, shared));
  const Axes other = draw_shape(task, master, shapes++);
  KP_TRY(list.add(Stage::memory, neighbor_of(shared, other, master)));
  return list.take();
}

Result<std::vector<CheckCase>> cases_from_records(const Task& task,
                                                  const std::vector<CheckRecord>& records,
                                                  const Key& master) {
  CaseList list(task, master);
  for (const CheckRecord& record : records) {
    const auto* distribution =
        std::find_if(std::begin(all_distributions), std::end(all_distributions),
                     [&record](Distribution d) { return name_of(d) == record.distribution; });
    if (distribution == std::end(all_distributions)) {
      return make_error(ErrorKind::bad_input,
                        "unknown distribution \"" + record.distribution + "\"", "certificate");
    }
    KP_TRY(list.add(record.stage, record.shape, *distribution));
  }
  std::vector<CheckCase> cases = list.take();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].draw.values.key = records[i].key;
  }
  return cases;
}

}  // namespace kernelpro
