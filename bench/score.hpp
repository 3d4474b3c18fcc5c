// Right and wrong findings counted, with intervals.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace kernelpro {

struct Score {
  int right = 0;   // found, and there
  int wrong = 0;   // found, and not there
  int missed = 0;  // there, and not found
  int quiet = 0;   // neither

  Score& operator+=(const Score& other) {
    right += other.right;
    wrong += other.wrong;
    missed += other.missed;
    quiet += other.quiet;
    return *this;
  }
};

// Wilson's interval of 95 %.
inline std::pair<double, double> interval(int hits, int of) {
  if (of == 0) {
    return {0, 1};
  }
  constexpr double z = 1.96;
  const double n = of;
  const double p = hits / n;
  const double center = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return {std::max(0.0, center - half), std::min(1.0, center + half)};
}

inline nlohmann::json rate(int hits, int of) {
  const auto [low, high] = interval(hits, of);
  return {{"value", of == 0 ? nlohmann::json() : nlohmann::json(static_cast<double>(hits) / of)},
          {"low", low},
          {"high", high},
          {"of", of}};
}

inline nlohmann::json to_json(const Score& score) {
  return {{"right", score.right},
          {"wrong", score.wrong},
          {"missed", score.missed},
          {"quiet", score.quiet},
          {"precision", rate(score.right, score.right + score.wrong)},
          {"recall", rate(score.right, score.right + score.missed)}};
}

inline void count(Score& score, bool there, bool found) {
  ++(there ? (found ? score.right : score.missed) : (found ? score.wrong : score.quiet));
}

inline double rank_correlation(const std::vector<std::pair<double, double>>& pairs) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<double> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      double below = 0;
      double equal = 0;
      for (const double value : values) {
        below += value < values[i] ? 1 : 0;
        equal += value == values[i] ? 1 : 0;
      }
      out[i] = below + (equal + 1) / 2;
    }
    return out;
  };
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [a, b] : pairs) {
    first.push_back(a);
    second.push_back(b);
  }
  const std::vector<double> x = ranks(first);
  const std::vector<double> y = ranks(second);
  const double mean = (static_cast<double>(pairs.size()) + 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace kernelpro
