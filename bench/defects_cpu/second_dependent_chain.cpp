#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double
#define KERNEL __attribute__((noinline))

namespace defects {

namespace {

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr char tool[] = "dependent_chain";
const std::vector<std::string> scalar = {"not_vectorized"};
const std::vector<std::string> divisions = {"slow_math"};
const std::vector<std::string> scalar_divisions = {"not_vectorized", "slow_math"};
constexpr int length = 2048;

// Numbers without order, the same in every run.
template <typename Value>
std::vector<Value> drawn(int count, std::uint32_t below, int add = 0) {
  std::vector<Value> list;
  std::uint32_t state = 7;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    list.push_back(static_cast<Value>(static_cast<int>((state >> 8U) % below) + add));
  }
  return list;
}

// Small buffers of fixed content, which take no time to make.
template <typename Value>
Value* numbers(int which) {
  static std::vector<Value> lists[3];
  std::vector<Value>& one = lists[which];
  if (one.empty()) {
    one.resize(1U << 16U);
    for (std::size_t i = 0; i < one.size(); ++i)
      one[i] = static_cast<Value>(1 + (i * 7 + static_cast<std::size_t>(which)) % 13) / 16 + 1;
  }
  return one.data();
}
float* singles(int which = 0) {
  return numbers<float>(which);
}
double* reals(int which = 0) {
  return numbers<double>(which);
}

// One polynomial of high degree at one place: its coefficients in turn, or each sixteenth apart.
template <int Parts>
CASE long_polynomial() {
  const double* c = reals();
  double all = 0;
  for (int point = 0; point < 600; ++point) {
    const double x = 0.9 + point * 0.00015;
    double power = 1;
    for (int u = 0; u < Parts; ++u) power *= x;
    double part[Parts] = {};
    for (int i = length - Parts; i >= 0; i -= Parts)
      for (int u = 0; u < Parts; ++u) part[u] = part[u] * power + c[i + u];
    double value = 0;
    for (int u = Parts - 1; u >= 0; --u) value = value * x + part[u];
    all += value;
  }
  return all;
}

// What has come in until each day: in one go, or for eight periods beside each other, which are
// then put together.
KERNEL void totals_in_turn(const double* x, double* y) {
  double sum = 0;
  for (int i = 0; i < length; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
KERNEL void totals_by_periods(const double* x, double* y) {
  constexpr int period = length / 8;
  double sum[8] = {};
  for (int i = 0; i < period; ++i)
    for (int u = 0; u < 8; ++u) {
      sum[u] += x[u * period + i];
      y[u * period + i] = sum[u];
    }
  double before = 0;
  for (int u = 1; u < 8; ++u) {
    before += sum[u - 1];
    for (int i = 0; i < period; ++i) y[u * period + i] += before;
  }
}
template <void (*Totals)(const double*, double*)>
CASE totals() {
  double all = 0;
  for (int turn = 0; turn < 200; ++turn) {
    Totals(reals() + turn, reals(1));
    all += reals(1)[length - 1];
  }
  return all;
}

// Random numbers of one generator; with more lanes, each lane leaps over the others.
template <int Lanes>
KERNEL std::uint64_t draw(std::uint32_t* to, std::uint64_t seed) {
  constexpr std::uint64_t factor = 6364136223846793005ULL;
  constexpr std::uint64_t step = 1442695040888963407ULL;
  std::uint64_t state[Lanes];
  std::uint64_t leap = 1;
  std::uint64_t leap_step = 0;
  for (int u = 0; u < Lanes; ++u) {
    seed = seed * factor + step;
    state[u] = seed;
    leap_step = leap_step * factor + step;
    leap *= factor;
  }
  for (int i = 0; i < length; i += Lanes)
    for (int u = 0; u < Lanes; ++u) {
      to[i + u] = static_cast<std::uint32_t>(state[u] >> 33U);
      state[u] = state[u] * leap + leap_step;
    }
  return state[0];
}
template <int Lanes>
CASE random_numbers() {
  static std::vector<std::uint32_t> to(length);
  double all = 0;
  for (std::uint64_t turn = 0; turn < 200; ++turn) {
    draw<Lanes>(to.data(), turn);
    all += to[turn] + to[length - 1];
  }
  return all;
}

// A moving average: each from the last, or eight from the eighth before.
KERNEL double smooth_each(const double* x, double* y) {
  double state = 0;
  for (int i = 0; i < length; ++i) {
    state = 0.75 * state + x[i];
    y[i] = state;
  }
  return state;
}
KERNEL double smooth_ahead(const double* x, double* y) {
  constexpr double a = 0.75;
  constexpr double power[8] = {a,
                               a * a,
                               a * a * a,
                               a * a * a * a,
                               a * a * a * a * a,
                               a * a * a * a * a * a,
                               a * a * a * a * a * a * a,
                               a * a * a * a * a * a * a * a};
  double state = 0;
  for (int i = 0; i < length; i += 8) {
    double part = 0;
    for (int k = 0; k < 8; ++k) {
      part = a * part + x[i + k];
      y[i + k] = part + power[k] * state;
    }
    state = part + power[7] * state;
  }
  return state;
}
template <double (*Smooth)(const double*, double*)>
CASE smoothing() {
  double all = 0;
  for (int turn = 0; turn < 300; ++turn) all += Smooth(reals() + turn, reals(1));
  return all;
}

// Powers of many numbers by one modulus, without divisions: one at a time, or eight.
template <int Together>
CASE powers() {
  static const auto bases = drawn<std::uint32_t>(512, 1U << 24U, 3);
  constexpr std::uint32_t modulus = 4294967291U;
  std::uint32_t inverse = modulus;
  for (int i = 0; i < 4; ++i) inverse *= 2 - modulus * inverse;
  double all = 0;
  for (std::size_t from = 0; from < 6 * bases.size(); from += Together) {
    const std::size_t start = from % bases.size();
    std::uint64_t value[Together];
    for (std::size_t u = 0; u < Together; ++u) value[u] = bases[start + u] + from / bases.size();
    for (int bit = 0; bit < 64; ++bit)
      for (std::size_t u = 0; u < Together; ++u) {
        const std::uint64_t square = value[u] * value[u];
        const std::uint64_t times = static_cast<std::uint32_t>(square) * inverse;
        const std::uint64_t taken =
            (static_cast<std::uint32_t>(times) * std::uint64_t{modulus}) >> 32U;
        const std::uint64_t high = square >> 32U;
        value[u] = high >= taken ? high - taken : high + modulus - taken;
      }
    for (const std::uint64_t one : value) all += static_cast<double>(one);
  }
  return all;
}

// The best stretch of each series of gains.
template <int Together>
CASE best_stretch() {
  static const auto gains = drawn<float>(8 * length, 41, -20);
  double all = 0;
  for (int turn = 0; turn < 20; ++turn)
    for (int series = 0; series < 8; series += Together) {
      const float* x = gains.data() + series * length;
      float now[Together] = {};
      float best[Together] = {};
      const float fee = static_cast<float>(turn) * 0.125f;
      for (int i = 0; i < length; ++i)
        for (int u = 0; u < Together; ++u) {
          now[u] = std::max(now[u] + x[u * length + i] - fee, 0.f);
          best[u] = std::max(best[u], now[u]);
        }
      for (const float one : best) all += one;
    }
  return all;
}

// A checksum by one table, or by eight that take eight bytes at once.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
const Tables& crc_tables() {
  static const Tables tables = [] {
    Tables made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) * 0xEDB88320U);
      made[0][i] = value;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i)
        made[k][i] = (made[k - 1][i] >> 8U) ^ made[0][made[k - 1][i] & 255U];
    return made;
  }();
  return tables;
}
KERNEL std::uint32_t crc_by_bytes(const std::uint8_t* x) {
  const Tables& t = crc_tables();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (int i = 0; i < 8 * length; ++i) crc = (crc >> 8U) ^ t[0][(crc ^ x[i]) & 255U];
  return crc;
}
KERNEL std::uint32_t crc_by_words(const std::uint8_t* x) {
  const Tables& t = crc_tables();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (int i = 0; i < 8 * length; i += 8) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, x + i, 4);
    std::memcpy(&high, x + i + 4, 4);
    low ^= crc;
    crc = t[7][low & 255U] ^ t[6][(low >> 8U) & 255U] ^ t[5][(low >> 16U) & 255U] ^
          t[4][low >> 24U] ^ t[3][high & 255U] ^ t[2][(high >> 8U) & 255U] ^
          t[1][(high >> 16U) & 255U] ^ t[0][high >> 24U];
  }
  return crc;
}
template <std::uint32_t (*Crc)(const std::uint8_t*)>
CASE checksum() {
  static const auto x = drawn<std::uint8_t>(9 * length, 256);
  double all = 0;
  for (int turn = 0; turn < 40; ++turn) all += Crc(x.data() + turn);
  return all;
}

// A sum whose errors are carried along.
template <int Parts>
CASE careful_sum() {
  double all = 0;
  for (int turn = 0; turn < 150; ++turn) {
    const double* x = reals() + turn;
    double sum[Parts] = {};
    double lost[Parts] = {};
    for (int i = 0; i < length; i += Parts)
      for (int u = 0; u < Parts; ++u) {
        const double part = x[i + u] - lost[u];
        const double next = sum[u] + part;
        lost[u] = (next - sum[u]) - part;
        sum[u] = next;
      }
    for (const double one : sum) all += one;
  }
  return all;
}

// Records of one length through a table of states: one at a time, or several.
template <int Together>
CASE automaton() {
  static const auto x = drawn<std::uint8_t>(64 * 256, 256);
  static const auto next = [] {
    auto made = drawn<std::uint8_t>(16 * 256, 16);
    return made;
  }();
  double all = 0;
  for (int turn = 0; turn < 40; ++turn)
    for (int record = 0; record < 64; record += Together) {
      unsigned state[Together];
      for (unsigned& one : state) one = static_cast<unsigned>(turn % 16);
      for (int i = 0; i < 256; ++i)
        for (int u = 0; u < Together; ++u)
          state[u] = next[state[u] * 256 + x[static_cast<std::size_t>((record + u) * 256 + i)]];
      for (const unsigned one : state) all += one;
    }
  return all;
}

// Counts of values that are nearly all the same: each waits for the last in memory.
template <int Tables>
KERNEL int count_values(const std::uint8_t* x) {
  std::uint32_t counts[Tables][256] = {};
  for (int i = 0; i < 8 * length; i += Tables)
    for (int u = 0; u < Tables; ++u) ++counts[u][x[i + u]];
  std::uint32_t all = 0;
  for (int u = 0; u < Tables; ++u) all += counts[u][0] * 3 + counts[u][5];
  return static_cast<int>(all);
}
template <int Tables>
CASE dark_histogram() {
  static const auto x = [] {
    auto made = drawn<std::uint8_t>(9 * length, 256);
    for (std::uint8_t& one : made) one = one < 250 ? 0 : one % 8;
    return made;
  }();
  double all = 0;
  for (int turn = 0; turn < 20; ++turn) all += count_values<Tables>(x.data() + turn);
  return all;
}

// Symbols of different lengths in streams of bits: where one begins, the one before says.
struct Symbol {
  std::uint8_t value;
  std::uint8_t bits;
};
template <int Together>
CASE bit_streams() {
  static const auto x = drawn<std::uint8_t>(4 * 2100, 256);
  static const auto table = [] {
    std::array<Symbol, 256> made{};
    for (unsigned i = 0; i < 256; ++i) {
      const unsigned ones = static_cast<unsigned>(std::countr_one(i));
      made[i] = {static_cast<std::uint8_t>(ones),
                 static_cast<std::uint8_t>(std::min(ones + 1, 8U))};
    }
    return made;
  }();
  double all = 0;
  for (unsigned turn = 0; turn < 12; ++turn)
    for (int stream = 0; stream < 4; stream += Together) {
      unsigned at[Together];
      unsigned sum[Together] = {};
      for (unsigned& one : at) one = turn;
      for (int i = 0; i < 4000; ++i)
        for (int u = 0; u < Together; ++u) {
          std::uint32_t word = 0;
          std::memcpy(&word, x.data() + (stream + u) * 2100 + (at[u] >> 3U), 4);
          const Symbol symbol = table[(word >> (at[u] & 7U)) & 255U];
          sum[u] = sum[u] * 3 + symbol.value;
          at[u] += symbol.bits;
        }
      for (int u = 0; u < Together; ++u) all += sum[u] % 4096 + at[u];
    }
  return all;
}

// A tone: each sample turns the last by an angle, or sixteen samples turn by sixteen.
template <int Lanes>
CASE tone() {
  double all = 0;
  float* y = singles(1);
  for (int turn = 0; turn < 200; ++turn) {
    const double angle = 0.01 + 0.001 * turn;
    double real[Lanes];
    double imaginary[Lanes];
    for (int u = 0; u < Lanes; ++u) {
      real[u] = std::cos(angle * u);
      imaginary[u] = std::sin(angle * u);
    }
    const double c = std::cos(angle * Lanes);
    const double s = std::sin(angle * Lanes);
    for (int i = 0; i < length; i += Lanes)
      for (int u = 0; u < Lanes; ++u) {
        y[i + u] = static_cast<float>(real[u]);
        const double turned = real[u] * c - imaginary[u] * s;
        imaginary[u] = imaginary[u] * c + real[u] * s;
        real[u] = turned;
      }
    all += y[turn] + y[length - 1];
  }
  return all;
}

// Fractions in fractions, from the innermost: a division each.
template <int Together>
KERNEL void fraction(const double* x, const double* points, double* to) {
  double value[Together];
  for (double& one : value) one = 1;
  for (int i = 0; i < 400; ++i)
    for (int u = 0; u < Together; ++u) value[u] = x[i] + points[u] / value[u];
  for (int u = 0; u < Together; ++u) to[u] = value[u];
}
template <int Together>
CASE fractions() {
  double all = 0;
  for (int point = 0; point < 640; point += Together) {
    double value[Together];
    fraction<Together>(reals(), reals() + point, value);
    for (const double one : value) all += one;
  }
  return all;
}

// A text's hash by bytes, or by eight bytes with powers of the factor.
KERNEL std::uint32_t text_hash_bytes(const std::uint8_t* x) {
  std::uint32_t hash = 5381;
  for (int i = 0; i < 4 * length; ++i) hash = hash * 31 + x[i];
  return hash;
}
KERNEL std::uint32_t text_hash_words(const std::uint8_t* x) {
  constexpr std::uint32_t p2 = 31U * 31U;
  constexpr std::uint32_t p4 = p2 * p2;
  constexpr std::uint32_t p8 = p4 * p4;
  std::uint32_t hash = 5381;
  for (int i = 0; i < 4 * length; i += 8) {
    const std::uint32_t a = x[i] * 31U + x[i + 1];
    const std::uint32_t b = x[i + 2] * 31U + x[i + 3];
    const std::uint32_t c = x[i + 4] * 31U + x[i + 5];
    const std::uint32_t d = x[i + 6] * 31U + x[i + 7];
    hash = hash * p8 + ((a * p2 + b) * p4 + (c * p2 + d));
  }
  return hash;
}
template <std::uint32_t (*Hash)(const std::uint8_t*)>
CASE text_hash() {
  static const auto x = drawn<std::uint8_t>(5 * length, 256);
  double all = 0;
  for (int turn = 0; turn < 100; ++turn) all += Hash(x.data() + turn);
  return all;
}

// Rods that cool down, an implicit step each: a system with three diagonals for each rod.
template <int Together>
CASE rods() {
  constexpr int cells = 128;
  constexpr int count = 8;
  const double* heat = reals();
  static double ratio[count][cells];
  static double value[count][cells];
  double all = 0;
  for (int turn = 0; turn < 120; ++turn)
    for (int rod = 0; rod < count; rod += Together) {
      double last_ratio[Together] = {};
      double last_value[Together] = {};
      for (int i = 0; i < cells; ++i)
        for (int u = 0; u < Together; ++u) {
          const double diagonal = 1 + 2 * heat[(rod + u) * cells + i + turn];
          const double pivot = 1 / (diagonal + last_ratio[u]);
          last_ratio[u] = -pivot;
          last_value[u] = (heat[(rod + u) * cells + i] + last_value[u]) * pivot;
          ratio[rod + u][i] = last_ratio[u];
          value[rod + u][i] = last_value[u];
        }
      double next[Together] = {};
      for (int i = cells - 1; i >= 0; --i)
        for (int u = 0; u < Together; ++u) {
          next[u] = value[rod + u][i] - ratio[rod + u][i] * next[u];
          value[rod + u][i] = next[u];
        }
      for (const double one : next) all += one;
    }
  return all;
}

// An account: the balance is fetched back from memory each time, as the other store might be it.
KERNEL void balance_in_memory(const int* amount, int* balance, int* fees) {
  balance[0] = amount[0];
  for (int i = 1; i < length; ++i) {
    balance[i] = balance[i - 1] + amount[i];
    fees[i] = amount[i] >> 4;
  }
}
KERNEL void balance_in_register(const int* __restrict amount, int* __restrict balance,
                                int* __restrict fees) {
  int now = 0;
  for (int i = 0; i < length; ++i) {
    const int moved = amount[i];
    now += moved;
    balance[i] = now;
    fees[i] = moved >> 4;
  }
}
template <void (*Balance)(const int*, int*, int*)>
CASE balances() {
  static const auto amount = drawn<int>(2 * length, 1000, -400);
  static std::vector<int> balance(length);
  static std::vector<int> fees(length);
  double all = 0;
  for (std::size_t turn = 0; turn < 300; ++turn) {
    Balance(amount.data() + turn, balance.data(), fees.data());
    all += balance[length - 1] + fees[turn + 1];
  }
  return all;
}

// A logarithm takes longer than the sum waits.
CASE log_likelihood() {
  const double* x = reals();
  double sum = 0;
  for (int i = 0; i < 24 * length; ++i) sum += std::log(x[i]);
  return sum;
}

// Four tables one behind the other: a chain for each address, and none from one to the next.
CASE routes() {
  static const auto addresses = drawn<std::uint32_t>(length, 1U << 24U);
  static const auto table = drawn<std::uint8_t>(4 * 256, 256);
  double all = 0;
  for (unsigned turn = 0; turn < 60; ++turn) {
    std::uint32_t sum = 0;
    for (const std::uint32_t one : addresses) {
      const std::uint32_t key = one + turn;
      const std::uint32_t first = table[key & 255U];
      const std::uint32_t second = table[256 + ((first ^ (key >> 8U)) & 255U)];
      const std::uint32_t third = table[512 + ((second ^ (key >> 16U)) & 255U)];
      sum += table[768 + third];
    }
    all += sum;
  }
  return all;
}

// Quotients take longer than their sums wait.
CASE quotients() {
  double all = 0;
  for (int turn = 0; turn < 500; ++turn) {
    const float *x = singles() + turn, *y = singles(1);
    vec8 sum[2] = {};
    for (int i = 0; i < length; i += 16)
      for (int u = 0; u < 2; ++u)
        sum[u] += *reinterpret_cast<const vec8*>(x + i + 8 * u) /
                  *reinterpret_cast<const vec8*>(y + i + 8 * u);
    for (int k = 0; k < 8; ++k) all += sum[0][k] + sum[1][k];
  }
  return all;
}

// Where the next goes, the last says, and that is one addition.
CASE compaction() {
  static const auto x = drawn<int>(3 * length, 1000);
  static std::vector<int> kept(length + 1);
  double all = 0;
  for (int turn = 0; turn < 150; ++turn) {
    const int* from = x.data() + turn;
    int* to = kept.data();
    int count = 0;
    for (int i = 0; i < length; ++i) {
      to[count] = from[i];
      count += static_cast<int>(from[i] < 500);
    }
    all += count;
  }
  return all;
}

// A tile of a product: twelve sums that wait, and as many that are ready.
CASE tile() {
  const float *a = singles(), *b = singles(1);
  vec8 sum[6][2] = {};
  for (int turn = 0; turn < 500; ++turn)
    for (int k = 0; k < 256; ++k) {
      const vec8 left = *reinterpret_cast<const vec8*>(b + 16 * k);
      const vec8 right = *reinterpret_cast<const vec8*>(b + 16 * k + 8);
      for (int r = 0; r < 6; ++r) {
        sum[r][0] += a[6 * k + r] * left;
        sum[r][1] += a[6 * k + r] * right;
      }
    }
  double all = 0;
  for (const auto& line : sum) all += line[0][3] + line[1][5];
  return all;
}

// Counts of values in no order: two in a row are seldom the same.
CASE mixed_histogram() {
  static const auto x = drawn<std::uint8_t>(9 * length, 256);
  double all = 0;
  for (int turn = 0; turn < 40; ++turn) all += count_values<1>(x.data() + turn);
  return all;
}

// A generator of its own for each lane: each lane waits, and there are enough of them.
CASE many_generators() {
  std::uint32_t state[64];
  static std::vector<std::uint32_t> to(64);
  for (std::uint32_t i = 0; i < 64; ++i) state[i] = i + 1;
  for (int turn = 0; turn < 40000; ++turn)
    for (std::uint32_t& one : state) {
      one ^= one << 13U;
      one ^= one >> 17U;
      one ^= one << 5U;
    }
  std::copy(std::begin(state), std::end(state), to.begin());
  return to[5];
}

// Numbered words: a long mixing of each, and a sum that hardly waits.
CASE mixing() {
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    std::uint64_t word = i * 0x9E3779B97F4A7C15ULL;
    word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27U)) * 0x94D049BB133111EBULL;
    all = std::rotl(all, 1) + (word ^ (word >> 31U));
  }
  return static_cast<double>(all >> 20U);
}

}  // namespace

void add_second_dependent_chain() {
  add_pair(tool, "second_polynomial_f64", long_polynomial<1>, long_polynomial<16>, scalar, scalar);
  add_pair(tool, "second_totals_f64", totals<totals_in_turn>, totals<totals_by_periods>, scalar,
           scalar);
  add_pair(tool, "second_random_u64", random_numbers<1>, random_numbers<8>);
  add_pair(tool, "second_smoothing_f64", smoothing<smooth_each>, smoothing<smooth_ahead>, {},
           scalar);
  add_pair(tool, "second_powers_u32", powers<1>, powers<8>, scalar, scalar);
  add_pair(tool, "second_stretch_f32", best_stretch<1>, best_stretch<8>, scalar, scalar);
  add_pair(tool, "second_checksum_u8", checksum<crc_by_bytes>, checksum<crc_by_words>);
  add_pair(tool, "second_careful_sum_f64", careful_sum<1>, careful_sum<16>, scalar, scalar);
  add_pair(tool, "second_automaton_u8", automaton<1>, automaton<8>);
  add_pair(tool, "second_histogram_u8", dark_histogram<1>, dark_histogram<8>);
  add_pair(tool, "second_bit_streams", bit_streams<1>, bit_streams<4>);
  add_pair(tool, "second_tone_f64", tone<1>, tone<16>, scalar);
  add_pair(tool, "second_fractions_f64", fractions<1>, fractions<8>, scalar_divisions, divisions);
  add_pair(tool, "second_text_hash_u8", text_hash<text_hash_bytes>, text_hash<text_hash_words>,
           scalar, scalar);
  add_pair(tool, "second_rods_f64", rods<1>, rods<4>, scalar_divisions, scalar_divisions);
  add_pair(tool, "second_balances_i32", balances<balance_in_memory>, balances<balance_in_register>,
           scalar, scalar);
  add_clean(tool, "second_log_likelihood_f64", log_likelihood, scalar);
  add_clean(tool, "second_routes", routes);
  add_clean(tool, "second_quotients_f32", quotients, divisions);
  add_clean(tool, "second_compaction_i32", compaction, scalar);
  add_clean(tool, "second_tile_f32", tile);
  add_clean(tool, "second_mixed_histogram_u8", mixed_histogram);
  add_clean(tool, "second_generators_u32", many_generators);
  add_clean(tool, "second_mixing_u64", mixing, scalar);
}

}  // namespace defects
