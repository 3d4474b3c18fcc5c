#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double
#define KERNEL __attribute__((noinline))

namespace defects {

namespace {

constexpr char tool[] = "not_vectorized";
const std::vector<std::string> chain = {"dependent_chain"};
const std::vector<std::string> divisions = {"slow_math"};
constexpr int length = 2048;  // of a row: two of them and what comes of them stay in L1

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

const std::uint8_t* scene() {
  static const auto list = drawn<std::uint8_t>(6 * length, 256);
  return list.data();
}

const float* row(int turn) {
  return singles() + (turn & 1) * length;
}

// Bytes may be anything, the image itself too: all of it is read again for each pixel.
struct Image {
  std::uint8_t* pixels;
  int count;
  int gain;
  int bias;
};
KERNEL void brighten_members(Image* image, const std::uint8_t* from) {
  for (int i = 0; i < image->count; ++i)
    image->pixels[i] =
        static_cast<std::uint8_t>(std::min(((from[i] * image->gain) >> 6) + image->bias, 255));
}
KERNEL void brighten_locals(Image* image, const std::uint8_t* from) {
  std::uint8_t* const pixels = image->pixels;
  const int count = image->count;
  const int gain = image->gain;
  const int bias = image->bias;
  for (int i = 0; i < count; ++i)
    pixels[i] = static_cast<std::uint8_t>(std::min(((from[i] * gain) >> 6) + bias, 255));
}
template <void (*Brighten)(Image*, const std::uint8_t*)>
CASE brightness() {
  static const auto from = drawn<std::uint8_t>(4 * length, 256);
  static std::vector<std::uint8_t> to(4 * length);
  double sum = 0;
  for (int turn = 0; turn < 400; ++turn) {
    Image image{to.data(), 4 * length, 50 + turn % 8, 20};
    Brighten(&image, from.data());
    sum += to[static_cast<std::size_t>(turn)];
  }
  return sum;
}

// A curve for each material, asked for each element or for a row.
class Curve {
 public:
  virtual ~Curve() = default;
  virtual float at(float x) const = 0;
  virtual void all(const float* x, float* y) const = 0;
};
template <int Kind>
class Polynomial final : public Curve {
 public:
  float at(float x) const override { return x * (0.5f + x * (0.25f + x * Kind)) + 1; }
  void all(const float* x, float* y) const override {
    for (int i = 0; i < length; ++i) y[i] = x[i] * (0.5f + x[i] * (0.25f + x[i] * Kind)) + 1;
  }
};
KERNEL const Curve& curve(int kind) {
  static const Polynomial<1> one;
  static const Polynomial<2> two;
  static const Polynomial<3> three;
  const Curve* all[] = {&one, &two, &three};
  return *all[kind % 3];
}
CASE curves_by_element() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 900; ++turn) {
    const Curve& used = curve(turn);
    const float* x = row(turn);
    for (int i = 0; i < length; ++i) y[i] = used.at(x[i]);
    sum += y[turn];
  }
  return sum;
}
CASE curves_by_row() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 900; ++turn) {
    curve(turn).all(row(turn), y);
    sum += y[turn];
  }
  return sum;
}

CASE radiation_pow() {
  double* y = reals(1);
  double sum = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const double* x = reals() + (turn & 1) * length;
    for (int i = 0; i < length; ++i) y[i] = 0.25 * (std::pow(x[i], 4) - 1);
    sum += y[turn];
  }
  return sum;
}
CASE radiation_squares() {
  double* y = reals(1);
  double sum = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const double* x = reals() + (turn & 1) * length;
    for (int i = 0; i < length; ++i) {
      const double square = x[i] * x[i];
      y[i] = 0.25 * (square * square - 1);
    }
    sum += y[turn];
  }
  return sum;
}

// A ring: the place of each is a remainder, or both pieces are straight.
KERNEL void delay_remainder(const float* ring, float* to, unsigned begin, unsigned size) {
  for (unsigned i = 0; i < length; ++i) to[i] = ring[(begin + i) % size] * 0.5f + 1;
}
KERNEL void delay_pieces(const float* ring, float* to, unsigned begin, unsigned size) {
  const unsigned first = std::min<unsigned>(size - begin, length);
  for (std::size_t i = 0; i < first; ++i) to[i] = ring[begin + i] * 0.5f + 1;
  for (std::size_t i = first; i < length; ++i) to[i] = ring[i - first] * 0.5f + 1;
}
template <void (*Delay)(const float*, float*, unsigned, unsigned)>
CASE delays() {
  double sum = 0;
  for (unsigned turn = 0; turn < 900; ++turn) {
    Delay(singles(), singles(1), 7 * turn % 3000, 3000);
    sum += singles(1)[turn];
  }
  return sum;
}

// A text that ends with a 0.
const char* text() {
  static const std::vector<char> list = [] {
    auto made = drawn<char>(4 * length, 90, 32);
    made.back() = 0;
    return made;
  }();
  return list.data();
}
KERNEL int upper_until_end(const char* from, char* to) {
  int i = 0;
  for (; from[i] != 0; ++i) {
    const char c = from[i];
    to[i] = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return i;
}
KERNEL int upper_counted(const char* from, char* to) {
  const int count = static_cast<int>(std::strlen(from));
  for (int i = 0; i < count; ++i) {
    const char c = from[i];
    to[i] = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return count;
}
template <int (*Upper)(const char*, char*)>
CASE upper_case() {
  static std::vector<char> to(4 * length);
  double sum = 0;
  for (int turn = 0; turn < 500; ++turn) {
    sum += Upper(text() + turn, to.data());
    sum += to[static_cast<std::size_t>(turn)];
  }
  return sum;
}

// The first of the largest.
KERNEL int peak_at_once(const int* x) {
  int most = x[0];
  int at = 0;
  for (int i = 1; i < length; ++i)
    if (x[i] > most) {
      most = x[i];
      at = i;
    }
  return at;
}
KERNEL int peak_then_place(const int* x) {
  int most = x[0];
  for (int i = 1; i < length; ++i) most = std::max(most, x[i]);
  for (int i = 0; i < length; i += 64) {
    int any = 0;
    for (int k = 0; k < 64; ++k) any |= x[i + k] == most;
    if (any != 0) {
      while (x[i] != most) ++i;
      return i;
    }
  }
  return 0;
}
template <int (*Peak)(const int*)>
CASE peaks() {
  static const auto x = drawn<int>(2 * length, 1U << 24U);
  double sum = 0;
  for (int turn = 0; turn < 1500; ++turn) sum += Peak(x.data() + turn);
  return sum;
}

// A sampled curve: the parameter is added up, or made from the index.
CASE ramp_added() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 600; ++turn) {
    float t = static_cast<float>(turn);
    for (int i = 0; i < length; ++i) {
      y[i] = t * (3 - t * (2 - t * 0.25f));
      t += 0.015625f;
    }
    sum += y[turn];
  }
  return sum;
}
CASE ramp_multiplied() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 600; ++turn) {
    const float begin = static_cast<float>(turn);
    for (int i = 0; i < length; ++i) {
      const float t = begin + static_cast<float>(i) * 0.015625f;
      y[i] = t * (3 - t * (2 - t * 0.25f));
    }
    sum += y[turn];
  }
  return sum;
}

// The standard's product looks for values that are no numbers.
CASE spectrum_complex() {
  const auto* x = reinterpret_cast<const std::complex<float>*>(singles());
  const auto* y = reinterpret_cast<const std::complex<float>*>(singles(1));
  auto* z = reinterpret_cast<std::complex<float>*>(singles(2));
  double sum = 0;
  for (int turn = 0; turn < 500; ++turn) {
    const int from = (turn & 1) * 1024;
    for (int i = 0; i < 1024; ++i) z[i] = x[from + i] * y[i];
    sum += z[turn].real();
  }
  return sum;
}
CASE spectrum_parts() {
  const float *x = singles(), *y = singles(1);
  float* __restrict z = singles(2);
  double sum = 0;
  for (int turn = 0; turn < 500; ++turn) {
    const int from = (turn & 1) * 2048;
    for (int i = 0; i < 1024; ++i) {
      const float real = x[from + 2 * i];
      const float imaginary = x[from + 2 * i + 1];
      z[2 * i] = real * y[2 * i] - imaginary * y[2 * i + 1];
      z[2 * i + 1] = real * y[2 * i + 1] + imaginary * y[2 * i];
    }
    sum += z[2 * turn];
  }
  return sum;
}

// What is hidden keeps its value: written where it shows, or written anyhow.
KERNEL void paint_where(std::uint8_t* to, const std::uint8_t* from, const std::uint8_t* depth,
                        int nearer) {
  for (int i = 0; i < 4 * length; ++i)
    if (depth[i] < nearer) to[i] = from[i];
}
KERNEL void paint_all(std::uint8_t* to, const std::uint8_t* from, const std::uint8_t* depth,
                      int nearer) {
  for (int i = 0; i < 4 * length; ++i) {
    const auto mask = static_cast<std::uint8_t>(depth[i] < nearer ? 255 : 0);
    to[i] = static_cast<std::uint8_t>((from[i] & mask) | (to[i] & ~mask));
  }
}
template <void (*Paint)(std::uint8_t*, const std::uint8_t*, const std::uint8_t*, int)>
CASE painting() {
  static const auto depth = drawn<std::uint8_t>(4 * length, 256);
  static std::vector<std::uint8_t> to;
  to.assign(4 * length, 0);
  double sum = 0;
  for (int turn = 0; turn < 200; ++turn) {
    Paint(to.data(), scene() + turn, depth.data(), 40 + turn);
    sum += to[static_cast<std::size_t>(turn)];
  }
  return sum;
}

// A threshold and a gain, from a table or as they are.
KERNEL void levels_by_table(const std::uint8_t* from, std::uint8_t* to, const std::uint8_t* table) {
  for (int i = 0; i < 4 * length; ++i) to[i] = table[from[i]];
}
KERNEL void levels_by_arithmetic(const std::uint8_t* from, std::uint8_t* to, int black) {
  const auto least = static_cast<std::uint8_t>(black);
  for (int i = 0; i < 4 * length; ++i) {
    const auto above = static_cast<std::uint8_t>(std::max(from[i], least) - least);
    const auto kept = std::min<std::uint8_t>(above, 170);
    to[i] = static_cast<std::uint8_t>(kept + (kept >> 1));
  }
}
CASE levels_table() {
  static std::vector<std::uint8_t> to(4 * length);
  double sum = 0;
  for (int turn = 0; turn < 800; ++turn) {
    std::uint8_t table[256];
    for (int v = 0; v < 256; ++v)
      table[v] = static_cast<std::uint8_t>(std::min(std::max(v - turn % 64, 0) * 3 / 2, 255));
    levels_by_table(scene(), to.data(), table);
    sum += to[static_cast<std::size_t>(turn)];
  }
  return sum;
}
CASE levels_arithmetic() {
  static std::vector<std::uint8_t> to(4 * length);
  double sum = 0;
  for (int turn = 0; turn < 800; ++turn) {
    levels_by_arithmetic(scene(), to.data(), turn % 64);
    sum += to[static_cast<std::size_t>(turn)];
  }
  return sum;
}

// How far it is, for another thread to show.
volatile int progress = 0;
CASE progress_by_element() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    const float* x = row(turn);
    for (int i = 0; i < length; ++i) {
      y[i] = x[i] * x[i] * 0.5f - x[i];
      progress = progress + 1;
    }
    sum += y[turn];
  }
  progress = 0;
  return sum;
}
CASE progress_by_row() {
  float* y = singles(1);
  double sum = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    const float* x = row(turn);
    for (int i = 0; i < length; ++i) y[i] = x[i] * x[i] * 0.5f - x[i];
    progress = progress + length;
    sum += y[turn];
  }
  progress = 0;
  return sum;
}

// Which cell a coordinate is in, and where in it: below 2^24, so that doubles are exact enough.
KERNEL void cells_by_division(const int* x, int* cell, int* rest, int side) {
  for (int i = 0; i < length; ++i) {
    cell[i] = x[i] / side;
    rest[i] = x[i] % side;
  }
}
KERNEL void cells_by_reciprocal(const int* x, int* cell, int* rest, int side) {
  const double inverse = 1.0 / side;
  for (int i = 0; i < length; ++i) {
    const int at = static_cast<int>((x[i] + 0.5) * inverse);
    cell[i] = at;
    rest[i] = x[i] - at * side;
  }
}
template <void (*Cells)(const int*, int*, int*, int)>
CASE cells() {
  static const auto x = drawn<int>(length, 1U << 24U);
  static std::vector<int> cell(length);
  static std::vector<int> rest(length);
  double sum = 0;
  for (std::size_t turn = 0; turn < 150; ++turn) {
    Cells(x.data(), cell.data(), rest.data(), static_cast<int>(turn) + 37);
    sum += cell[turn] + rest[turn];
  }
  return sum;
}

// Each access is checked, or the two ends before the loop.
KERNEL void blend_checked(const std::vector<float>& x, std::vector<float>& y, std::size_t begin) {
  for (std::size_t i = 0; i < length; ++i) y.at(i) = 0.75f * x.at(begin + i) + 0.25f;
}
KERNEL void blend_plain(const std::vector<float>& x, std::vector<float>& y, std::size_t begin) {
  (void)x.at(begin + length - 1);
  (void)y.at(length - 1);
  const float* from = &x[begin];
  float* to = y.data();
  for (std::size_t i = 0; i < length; ++i) to[i] = 0.75f * from[i] + 0.25f;
}
template <void (*Blend)(const std::vector<float>&, std::vector<float>&, std::size_t)>
CASE blends() {
  static const auto x = drawn<float>(2 * length, 1000);
  static std::vector<float> y(length);
  double sum = 0;
  for (std::size_t turn = 0; turn < 1200; ++turn) {
    Blend(x, y, turn);
    sum += y[turn];
  }
  return sum;
}

// To 16 bits: the rounding of the library, or what one instruction does.
CASE quantize_calls() {
  static std::vector<short> y(length);
  double sum = 0;
  for (std::size_t turn = 0; turn < 700; ++turn) {
    const float* x = row(static_cast<int>(turn));
    for (std::size_t i = 0; i < length; ++i) y[i] = static_cast<short>(std::lround(x[i] * 1000));
    sum += y[turn];
  }
  return sum;
}
CASE quantize_conversion() {
  static std::vector<short> y(length);
  double sum = 0;
  for (std::size_t turn = 0; turn < 700; ++turn) {
    const float* x = row(static_cast<int>(turn));
    for (std::size_t i = 0; i < length; ++i)
      y[i] = static_cast<short>(static_cast<int>(x[i] * 1000 + 0.5f));
    sum += y[turn];
  }
  return sum;
}

// The second is not to be read where the first says no; or both are.
KERNEL int marked_short(const std::uint8_t* x, const std::uint8_t* y, int level) {
  int count = 0;
  for (int i = 0; i < 4 * length; ++i)
    if (x[i] > level && y[i] > level) ++count;
  return count;
}
KERNEL int marked_both(const std::uint8_t* x, const std::uint8_t* y, int level) {
  int count = 0;
  for (int i = 0; i < 4 * length; ++i)
    count += static_cast<int>(x[i] > level) & static_cast<int>(y[i] > level);
  return count;
}
template <int (*Marked)(const std::uint8_t*, const std::uint8_t*, int)>
CASE marked() {
  double sum = 0;
  for (int turn = 0; turn < 200; ++turn)
    sum += Marked(scene(), scene() + length + turn, 100 + turn % 50);
  return sum;
}

// Where in its period a wave is: the rest of a division by the library, or by hand.
CASE phases_calls() {
  float* y = singles(2);
  double sum = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const float* x = row(turn);
    for (int i = 0; i < length; ++i) y[i] = std::fmod(x[i] * 5, 1.0f);
    sum += y[turn];
  }
  return sum;
}
CASE phases_conversion() {
  float* y = singles(2);
  double sum = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const float* x = row(turn);
    for (int i = 0; i < length; ++i) {
      const float phase = x[i] * 5;
      y[i] = phase - static_cast<float>(static_cast<int>(phase));
    }
    sum += y[turn];
  }
  return sum;
}

// A bit for each, or a byte.
template <typename Flags>
KERNEL int masked_sum(const int* x, const Flags& flags) {
  int sum = 0;
  for (std::size_t i = 0; i < length; ++i)
    if (flags[i]) sum += x[i];
  return sum;
}
template <typename Flags>
CASE flagged() {
  static const auto x = drawn<int>(2 * length, 1000);
  static const Flags flags = [] {
    const auto made = drawn<int>(length, 2);
    Flags list(length);
    for (std::size_t i = 0; i < length; ++i) list[i] = made[i] != 0;
    return list;
  }();
  double sum = 0;
  for (int turn = 0; turn < 900; ++turn) sum += masked_sum(x.data() + turn, flags);
  return sum;
}

// 16 bits for a color, by the names of the parts or by masks.
struct Color {
  std::uint16_t blue : 5;
  std::uint16_t green : 6;
  std::uint16_t red : 5;
};
KERNEL void gray_by_names(const Color* x, std::uint8_t* y) {
  for (int i = 0; i < length; ++i)
    y[i] =
        static_cast<std::uint8_t>((x[i].red * 2 * 77 + x[i].green * 151 + x[i].blue * 2 * 28) >> 7);
}
KERNEL void gray_by_masks(const Color* colors, std::uint8_t* y) {
  static std::uint16_t x[length];
  std::memcpy(x, colors, sizeof x);
  for (int i = 0; i < length; ++i) {
    const int red = (x[i] >> 11) * 2;
    const int green = (x[i] >> 5) & 63;
    const int blue = (x[i] & 31) * 2;
    y[i] = static_cast<std::uint8_t>((red * 77 + green * 151 + blue * 28) >> 7);
  }
}
template <void (*Gray)(const Color*, std::uint8_t*)>
CASE gray() {
  static const auto x = drawn<std::uint16_t>(2 * length, 1U << 16U);
  static std::vector<std::uint8_t> y(length);
  double sum = 0;
  for (std::size_t turn = 0; turn < 500; ++turn) {
    Gray(reinterpret_cast<const Color*>(x.data() + turn), y.data());
    sum += y[turn];
  }
  return sum;
}

// Words into a table where each may find its place taken: one after the other.
CASE hash_insertions() {
  static const auto words = drawn<std::uint32_t>(length, 1U << 12U, 1);
  static std::uint32_t slots[2 * length];
  static std::uint32_t counts[2 * length];
  double sum = 0;
  for (int turn = 0; turn < 60; ++turn) {
    std::fill(std::begin(slots), std::end(slots), 0U);
    for (const std::uint32_t word : words) {
      std::uint32_t at = (word * 2654435769U) >> 20U;
      while (slots[at] != 0 && slots[at] != word) at = (at + 1) % (2 * length);
      slots[at] = word;
      ++counts[at];
    }
    sum += slots[turn];
  }
  return sum;
}

// Numbers of seven bits a byte: where one begins is known when the last has ended.
CASE varints() {
  static const auto coded = drawn<std::uint8_t>(4 * length, 256);
  double sum = 0;
  for (int turn = 0; turn < 30; ++turn) {
    const std::uint8_t* at = coded.data() + turn;
    const std::uint8_t* end = coded.data() + 4 * length - 16;
    std::uint64_t all = 0;
    while (at < end) {
      std::uint64_t value = 0;
      unsigned shift = 0;
      while (*at >= 128 && shift < 56) {
        value |= static_cast<std::uint64_t>(*at++ & 127U) << shift;
        shift += 7;
      }
      value |= static_cast<std::uint64_t>(*at++) << shift;
      all ^= value;
    }
    sum += static_cast<double>(all & 0xFFFFU);
  }
  return sum;
}

// The carry of a long number goes through all of it.
CASE long_addition() {
  static const auto x = drawn<std::uint64_t>(length, 1U << 20U, -4096);
  static std::vector<std::uint64_t> y(length, 5);
  double sum = 0;
  for (int turn = 0; turn < 200; ++turn) {
    unsigned long long carry = 0;
    for (std::size_t i = 0; i < length; ++i) {
      unsigned long long part = 0;
      const bool first = __builtin_add_overflow(y[i], x[i], &part);
      const bool second = __builtin_add_overflow(part, carry, &part);
      y[i] = part;
      carry = static_cast<unsigned long long>(first | second);
    }
    sum += static_cast<double>(carry);
  }
  return sum;
}

// One message: each word is mixed into what those before left.
CASE message_digest() {
  static const auto words = drawn<std::uint32_t>(length, 1U << 24U);
  std::uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (int turn = 0; turn < 60; ++turn) {
    for (const std::uint32_t word : words) {
      const std::uint32_t mixed = a + ((b & c) | (~b & d)) + word + 0x5a827999U;
      a = d;
      d = c;
      c = b;
      b += std::rotl(mixed, 7);
    }
  }
  return static_cast<double>(a ^ b ^ c ^ d);
}

// A sum that may be added in any order, because the source says so.
CASE sum_simd() {
  double all = 0;
  for (int turn = 0; turn < 900; ++turn) {
    const float* x = row(turn);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < length; ++i) sum += x[i] * x[i];
    all += sum;
  }
  return all;
}

// A queue by priority: each comparison says where the next is.
CASE priority_queue() {
  static const auto times = drawn<int>(1024, 1U << 20U);
  static std::vector<int> heap;
  double sum = 0;
  for (int turn = 0; turn < 4; ++turn) {
    heap.clear();
    for (const int one : times) {
      heap.push_back(one);
      std::push_heap(heap.begin(), heap.end());
    }
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      sum += heap.back() & 7;
      heap.pop_back();
    }
  }
  return sum;
}

// Vector code by the compiler, on bytes, with a rest of a few.
CASE difference_u8() {
  double all = 0;
  for (int turn = 0; turn < 900; ++turn) {
    const unsigned char *x = scene() + turn, *y = scene();
    unsigned sum = 0;
    for (int i = 0; i < 4 * length - 5; ++i) sum += static_cast<unsigned>(std::abs(x[i] - y[i]));
    all += sum;
  }
  return all;
}

// Turns that each need the last: the rest of a division goes down the digits.
CASE long_division() {
  static const auto digits = drawn<std::uint32_t>(length, 1000000000U);
  static std::vector<std::uint32_t> quotient(length);
  double sum = 0;
  for (std::uint64_t divisor = 3; divisor < 43; ++divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t all = rest * 1000000000U + digits[i];
      quotient[i] = static_cast<std::uint32_t>(all / divisor);
      rest = all % divisor;
    }
    sum += static_cast<double>(rest + quotient[7]);
  }
  return sum;
}

}  // namespace

void add_second_not_vectorized() {
  add_pair(tool, "second_brightness_u8", brightness<brighten_members>, brightness<brighten_locals>);
  add_pair(tool, "second_curves_f32", curves_by_element, curves_by_row);
  add_pair(tool, "second_radiation_f64", radiation_pow, radiation_squares);
  add_pair(tool, "second_delays_f32", delays<delay_remainder>, delays<delay_pieces>, divisions);
  add_pair(tool, "second_upper_case_u8", upper_case<upper_until_end>, upper_case<upper_counted>);
  add_pair(tool, "second_peak_i32", peaks<peak_at_once>, peaks<peak_then_place>, chain, chain);
  add_pair(tool, "second_ramp_f32", ramp_added, ramp_multiplied, chain);
  add_pair(tool, "second_spectrum_c32", spectrum_complex, spectrum_parts);
  add_pair(tool, "second_painting_u8", painting<paint_where>, painting<paint_all>);
  add_pair(tool, "second_levels_u8", levels_table, levels_arithmetic);
  add_pair(tool, "second_progress_f32", progress_by_element, progress_by_row, chain);
  add_pair(tool, "second_cells_i32", cells<cells_by_division>, cells<cells_by_reciprocal>,
           divisions);
  add_pair(tool, "second_checked_f32", blends<blend_checked>, blends<blend_plain>);
  add_pair(tool, "second_quantize_i16", quantize_calls, quantize_conversion);
  add_pair(tool, "second_marked_u8", marked<marked_short>, marked<marked_both>);
  add_pair(tool, "second_phases_f32", phases_calls, phases_conversion);
  add_pair(tool, "second_flagged_i32", flagged<std::vector<bool>>,
           flagged<std::vector<unsigned char>>);
  add_pair(tool, "second_gray_u16", gray<gray_by_names>, gray<gray_by_masks>);
  add_clean(tool, "second_hash_insertions", hash_insertions);
  add_clean(tool, "second_varints_u8", varints, chain);
  add_clean(tool, "second_long_addition_u64", long_addition, chain);
  add_clean(tool, "second_digest_u32", message_digest, chain);
  add_clean(tool, "second_sum_simd_f32", sum_simd, chain);
  add_clean(tool, "second_priority_queue", priority_queue, chain);
  add_clean(tool, "second_difference_u8", difference_u8);
  add_clean(tool, "second_long_division", long_division, {"dependent_chain", "slow_math"});
}

}  // namespace defects
