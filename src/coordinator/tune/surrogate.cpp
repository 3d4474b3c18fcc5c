#include "coordinator/tune/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace kernelpro {

namespace {

// Before anything is known: values are alike over the whole of their list and beyond, so that a
// parameter has to show that it matters; three factors of two are a long way; and a hundredth of
// the variance is noise. All chosen on landscapes, as bench/search/README.md says.
const double first_reach = std::log(2.0);
const double first_twos_reach = std::log(3.0);
const double first_noise = std::log(1e-2);
const double least_noise = std::log(1e-4);
const double most_noise = std::log(0.3);
constexpr double prior_spread = 1.0;  // of the logarithms around these
constexpr double longest_step = 1.6;  // of a logarithm, in one try

// Matérn 5/2: smooth, but less so than a bell, as times are.
double matern(double distance) {
  const double scaled = std::sqrt(5.0) * distance;
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

// How often two divides a value; 0 for what is no positive number.
double twos_of(const std::string& value) {
  constexpr int most = 8;
  std::int64_t number = std::atoll(value.c_str());
  int twos = 0;
  while (number > 0 && number % 2 == 0 && twos < most) {
    number /= 2;
    ++twos;
  }
  return twos;
}

// Nothing where they rise with the values: then they say nothing new.
std::vector<double> telling_twos(const TuneParameter& parameter) {
  std::vector<double> twos;
  twos.reserve(parameter.values.size());
  for (const std::string& value : parameter.values) {
    twos.push_back(twos_of(value));
  }
  const bool rise = std::is_sorted(twos.begin(), twos.end());
  return parameter.ordinal && !rise ? twos : std::vector<double>();
}

std::size_t row_start(std::size_t row) {
  return row * (row + 1) / 2;
}

// In four sums, so that additions need not wait for each other.
double dot(const double* one, const double* other, std::size_t count) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    sums[0] += one[i] * other[i];
    sums[1] += one[i + 1] * other[i + 1];
    sums[2] += one[i + 2] * other[i + 2];
    sums[3] += one[i + 3] * other[i + 3];
  }
  for (; i < count; ++i) {
    sums[0] += one[i] * other[i];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

double squares(const std::vector<double>& values) {
  return dot(values.data(), values.data(), values.size());
}

// Solves L x = b in place.
void solve_lower(const std::vector<double>& factor, std::vector<double>& b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double* row = &factor[row_start(i)];
    b[i] = (b[i] - dot(row, b.data(), i)) / row[i];
  }
}

// Solves L' x = b in place.
void solve_upper(const std::vector<double>& factor, std::vector<double>& b) {
  for (std::size_t i = b.size(); i-- > 0;) {
    const double* row = &factor[row_start(i)];
    b[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) {
      b[k] -= row[k] * b[i];
    }
  }
}

}  // namespace

Surrogate::Surrogate(const TuneSpace& space) {
  for (std::size_t i = 0; i < space.axes(); ++i) {
    const TuneParameter& parameter = space.parameters()[i];
    if (parameter.values.size() > 1) {
      axes_.push_back({i, parameter.values.size(), parameter.ordinal, telling_twos(parameter)});
    }
  }
  first_.assign(axes_.size(), first_reach);
  first_.resize(2 * axes_.size(), first_twos_reach);
  first_.push_back(first_noise);
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const bool is_twos = i >= axes_.size() && i + 1 < first_.size();
    if (!is_twos || !axes_[i - axes_.size()].twos.empty()) {
      tunable_.push_back(i);
    }
  }
  model_.reach = first_;
}

Places Surrogate::places(const TuneSpace& space, Code code) const {
  Places out;
  for (const Axis& axis : axes_) {
    out.push_back(static_cast<std::uint16_t>(space.value(code, axis.index)));
  }
  return out;
}

std::vector<double> Surrogate::table(std::size_t which, const std::vector<double>& reach) const {
  const Axis& axis = axes_[which];
  const auto last = static_cast<double>(axis.count - 1);
  const double length = last * std::exp(reach[which]);
  const double twos_length = std::exp(reach[axes_.size() + which]);
  std::vector<double> table(axis.count * axis.count);
  for (std::size_t a = 0; a < axis.count; ++a) {
    for (std::size_t b = 0; b < axis.count; ++b) {
      const double steps = std::abs(static_cast<double>(a) - static_cast<double>(b));
      const double apart = axis.ordinal || a == b ? steps : last;
      double& entry = table[a * axis.count + b];
      entry = matern(apart / length);
      if (!axis.twos.empty()) {
        entry *= matern(std::abs(axis.twos[a] - axis.twos[b]) / twos_length);
      }
    }
  }
  return table;
}

double Surrogate::alike_by(const Model& model, const Places& one, const Places& other) const {
  double product = 1;
  for (std::size_t i = 0; i < one.size(); ++i) {
    product *= model.tables[i][one[i] * axes_[i].count + other[i]];
  }
  return product;
}

double Surrogate::similarity(const Places& one, const Places& other) const {
  return alike_by(model_, one, other);
}

// False: not positive definite, which only rounding does.
bool Surrogate::factorize(Model& model) const {
  const double noise = std::exp(model.reach.back());
  model.factor.resize(row_start(points_.size()));
  for (std::size_t i = 0; i < points_.size(); ++i) {
    double* row = &model.factor[row_start(i)];
    for (std::size_t k = 0; k < i; ++k) {
      const double* above = &model.factor[row_start(k)];
      row[k] = (alike_by(model, points_[i], points_[k]) - dot(row, above, k)) / above[k];
    }
    const double rest = 1 + noise - dot(row, row, i);
    if (rest <= 0) {
      return false;
    }
    row[i] = std::sqrt(rest);
  }
  return true;
}

void Surrogate::weigh(Model& model) const {
  const auto count = static_cast<double>(points_.size());
  std::vector<double> ones(points_.size(), 1);
  std::vector<double> centered = values_;
  solve_lower(model.factor, ones);
  solve_lower(model.factor, centered);
  model.center = dot(ones.data(), centered.data(), ones.size()) / squares(ones);
  double logarithms = 0;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    centered[i] -= model.center * ones[i];
    logarithms += std::log(model.factor[row_start(i) + i]);
  }
  // Never zero, so that values that are all the same can be modeled too.
  constexpr double least_variance = 1e-8;
  const double variance = squares(centered) / count + least_variance;
  model.scale = std::sqrt(variance);
  model.evidence = -0.5 * count * std::log(variance) - logarithms;
  for (std::size_t i = 0; i < model.reach.size(); ++i) {
    const double off = (model.reach[i] - first_[i]) / prior_spread;
    model.evidence -= 0.5 * off * off;
  }
  solve_upper(model.factor, centered);
  model.weights = std::move(centered);
}

Surrogate::Model Surrogate::model_with(std::vector<double> reach) const {
  Model model;
  model.reach = std::move(reach);
  model.reach.back() = std::clamp(model.reach.back(), least_noise, most_noise);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    model.tables.push_back(table(axis, model.reach));
  }
  while (!factorize(model)) {
    ++model.reach.back();
  }
  weigh(model);
  return model;
}

void Surrogate::fit(std::vector<Places> points, std::vector<double> values, Random& random,
                    int tries) {
  points_ = std::move(points);
  values_ = std::move(values);
  model_ = model_with(model_.reach);
  for (int i = 0; i < tries; ++i) {
    std::vector<double> reach = model_.reach;
    const double step = longest_step * (random.unit() + random.unit() - 1);
    reach[tunable_[random.below(tunable_.size())]] += step;
    Model other = model_with(std::move(reach));
    if (other.evidence > model_.evidence) {
      model_ = std::move(other);
    }
  }
}

std::vector<double> Surrogate::alike(const Places& one) const {
  std::vector<double> out(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    out[i] = similarity(one, points_[i]);
  }
  return out;
}

double Surrogate::mean(const std::vector<double>& alike) const {
  return model_.center + dot(alike.data(), model_.weights.data(), alike.size());
}

Prediction Surrogate::predict(const std::vector<double>& alike) const {
  constexpr double least_left = 1e-9;
  std::vector<double> part = alike;
  solve_lower(model_.factor, part);
  return {mean(alike), model_.scale * std::sqrt(std::max(1 - squares(part), least_left))};
}

}  // namespace kernelpro
