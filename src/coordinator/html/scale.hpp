// From values to places in a picture.
#pragma once

#include <string>
#include <vector>

namespace kernelpro::html {

// Maps [low, high] to [from, to]; logarithmic ones need 0 < low < high. What lies outside is put on
// the edge.
class Scale {
 public:
  enum class Kind { linear, logarithmic };
  Scale(Kind kind, double low, double high, double from, double to)
      : kind_(kind), low_(low), high_(high), from_(from), to_(to) {}

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  // Round values within the range, at most about `most` of them; of a logarithmic one 1, 2, 5, 10 …
  // or powers of ten where the range is wide.
  [[nodiscard]] std::vector<double> ticks(int most) const;

 private:
  Kind kind_;
  double low_;
  double high_;
  double from_;
  double to_;
};

// `places` in their order, moved as little as needed to be `gap` apart and within [low, high]. They
// must be sorted, and fit.
[[nodiscard]] std::vector<double> spread(std::vector<double> places, double gap, double low,
                                         double high);

// A value on an axis: "0.05", "20", "1000".
[[nodiscard]] std::string tick_text(double value);

}  // namespace kernelpro::html
