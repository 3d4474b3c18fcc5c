// A model of how fast configurations are that nobody measured: a Gaussian process over the places
// of their values.
//
// Two configurations are alike by the product over parameters of how alike their values are. Those
// of an ordinal one are by their distance in the list, and by how often two divides them: hardware
// works in powers of two, so that 96 may be more like 32 than like 100. Names are alike or not. How
// far each of that reaches is learned from what was measured.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/tune/space.hpp"

namespace kernelpro {

struct Prediction {
  double mean = 0;
  double deviation = 0;
};

// The places of a configuration's values, one for each parameter that varies.
using Places = std::vector<std::uint16_t>;

class Surrogate {
 public:
  explicit Surrogate(const TuneSpace& space);

  // Models these values, two or more; what it modeled before is forgotten, but not how far
  // parameters reach. Tries `tries` other reaches and keeps what explains the values better.
  void fit(std::vector<Places> points, std::vector<double> values, Random& random, int tries);

  [[nodiscard]] Places places(const TuneSpace& space, Code code) const;
  // What follows needs a fit. How alike two are, from 0 to 1; and how alike one is to each modeled.
  [[nodiscard]] double similarity(const Places& one, const Places& other) const;
  [[nodiscard]] std::vector<double> alike(const Places& one) const;
  [[nodiscard]] double mean(const std::vector<double>& alike) const;
  [[nodiscard]] Prediction predict(const std::vector<double>& alike) const;
  // How far values lie from their center.
  [[nodiscard]] double scale() const { return model_.scale; }

 private:
  // A parameter with more than one value.
  struct Axis {
    std::size_t index = 0;
    std::size_t count = 0;
    bool ordinal = true;
    std::vector<double> twos;  // how often two divides each value; empty: it says nothing
  };
  // All that follows from the reaches.
  struct Model {
    std::vector<double> reach;  // logarithms: of each axis, of its twos, and of the noise
    std::vector<std::vector<double>> tables;  // one an axis: how alike its values are
    std::vector<double> factor;               // Cholesky's, the lower triangle row by row
    std::vector<double> weights;              // the inverse times values less their center
    double center = 0;
    double scale = 1;
    double evidence = 0;
  };
  [[nodiscard]] Model model_with(std::vector<double> reach) const;
  [[nodiscard]] std::vector<double> table(std::size_t which,
                                          const std::vector<double>& reach) const;
  [[nodiscard]] double alike_by(const Model& model, const Places& one, const Places& other) const;
  [[nodiscard]] bool factorize(Model& model) const;
  void weigh(Model& model) const;

  std::vector<Axis> axes_;
  std::vector<double> first_;         // reaches before anything is known
  std::vector<std::size_t> tunable_;  // which of them act
  std::vector<Places> points_;
  std::vector<double> values_;
  Model model_;
};

}  // namespace kernelpro
