#include <algorithm>
#include <cstdint>
#include <vector>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double
#define KERNEL __attribute__((noinline))

namespace defects {

namespace {

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr char tool[] = "poor_locality";
const std::vector<std::string> scalar = {"not_vectorized"};
const std::vector<std::string> chain = {"dependent_chain"};
const std::vector<std::string> scalar_chain = {"not_vectorized", "dependent_chain"};

// All numbers below a power of two, each once, in an order of no use to a prefetcher.
class Shuffled {
 public:
  explicit Shuffled(std::uint32_t count) : mask_(count - 1) {}
  std::uint32_t next() {
    state_ = (state_ * 1664525U + 1013904223U) & mask_;
    return state_ ^ (state_ >> 7U);
  }

 private:
  std::uint32_t mask_;
  std::uint32_t state_ = 5;
};

// Buffers of fixed content, no longer than needed: to make them should take little time.
template <typename Value>
Value* field(int which, int count) {
  static std::vector<Value> lists[3];
  std::vector<Value>& one = lists[which];
  if (one.size() < static_cast<std::size_t>(count)) {
    one.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < one.size(); ++i)
      one[i] = static_cast<Value>(1 + (i * 7 + static_cast<std::size_t>(which)) % 13) / 16 + 1;
  }
  return one.data();
}

// A picture turned by a quarter, a row at a time or a tile.
constexpr int wide = 1500;
constexpr int high = 1100;
CASE turn_by_rows() {
  const auto* from = reinterpret_cast<const std::uint32_t*>(field<float>(0, wide * high));
  auto* to = reinterpret_cast<std::uint32_t*>(field<float>(1, wide * high));
  for (int i = 0; i < high; ++i)
    for (int j = 0; j < wide; ++j) to[j * high + high - 1 - i] = from[i * wide + j];
  return to[77];
}
CASE turn_by_tiles() {
  const auto* from = reinterpret_cast<const std::uint32_t*>(field<float>(0, wide * high));
  auto* to = reinterpret_cast<std::uint32_t*>(field<float>(1, wide * high));
  for (int ib = 0; ib < high; ib += 44)
    for (int jb = 0; jb < wide; jb += 60)
      for (int j = jb; j < jb + 60; ++j)
        for (int i = ib; i < ib + 44; ++i) to[j * high + high - 1 - i] = from[i * wide + j];
  return to[77];
}

// Orders with all that is known of them, of which a question needs two fields.
struct Order {
  std::int64_t number;
  char customer[88];
  std::int32_t status;
  std::int32_t cents;
  char note[24];
};
constexpr std::size_t order_count = 1U << 17U;
std::int32_t status_of(std::size_t i) {
  return static_cast<std::int32_t>(i * 7 % 5);
}
std::int32_t cents_of(std::size_t i) {
  return static_cast<std::int32_t>(i * 31 % 10007);
}
CASE orders_whole() {
  static const auto orders = [] {
    std::vector<Order> list(order_count);
    for (std::size_t i = 0; i < order_count; ++i) {
      list[i].status = status_of(i);
      list[i].cents = cents_of(i);
    }
    return list;
  }();
  std::int64_t sum = 0;
  for (int wanted = 1; wanted < 4; ++wanted)
    for (const Order& one : orders)
      if (one.status == wanted) sum += one.cents * wanted;
  return static_cast<double>(sum);
}
CASE orders_split() {
  struct Part {
    std::int32_t status;
    std::int32_t cents;
  };
  static const auto parts = [] {
    std::vector<Part> list(order_count);
    for (std::size_t i = 0; i < order_count; ++i) list[i] = {status_of(i), cents_of(i)};
    return list;
  }();
  std::int64_t sum = 0;
  for (int wanted = 1; wanted < 4; ++wanted)
    for (const Part& one : parts)
      if (one.status == wanted) sum += one.cents * wanted;
  return static_cast<double>(sum);
}

// Few rows by a large matrix: all of it for each row, or a block of it for all rows.
template <int Deep, int Across>
CASE product() {
  constexpr int n = 1024;
  constexpr int count = 16;
  const float *a = field<float>(0, count * n), *b = field<float>(1, n * n);
  float* c = field<float>(2, count * n);
  std::fill(c, c + count * n, 0.f);
  for (int jb = 0; jb < n; jb += Across)
    for (int kb = 0; kb < n; kb += Deep)
      for (int i = 0; i < count; ++i)
        for (int k = kb; k < kb + Deep; k += 4)
          for (int j = jb; j < jb + Across; ++j)
            c[i * n + j] += a[i * n + k] * b[k * n + j] + a[i * n + k + 1] * b[(k + 1) * n + j] +
                            a[i * n + k + 2] * b[(k + 2) * n + j] +
                            a[i * n + k + 3] * b[(k + 3) * n + j];
  return c[1234];
}

// Four steps for each pixel, a picture at a time or a strip.
template <int Strip>
CASE steps() {
  constexpr int count = 3 << 20;
  const float* x = field<float>(0, count);
  float* y = field<float>(1, count);
  for (int from = 0; from < count; from += Strip) {
    for (int i = from; i < from + Strip; ++i) y[i] = x[i] * 0.75f + 0.125f;
    for (int i = from; i < from + Strip; ++i) y[i] = std::min(y[i], 1.f);
    for (int i = from; i < from + Strip; ++i) y[i] = y[i] * y[i];
    for (int i = from; i < from + Strip; ++i) y[i] = 1 - y[i];
  }
  return y[9] + y[count - 1];
}

// Heat along a rod, eight steps of time: each over all of it, or all eight over a piece that is a
// little longer.
constexpr int rod = 1 << 20;
constexpr int times = 8;
KERNEL void heat_step(const float* x, float* y, int count) {
  for (int i = 1; i < count - 1; ++i) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
}
CASE heat_by_steps() {
  const float* x = field<float>(0, rod);
  float* y[2] = {field<float>(1, rod), field<float>(2, rod)};
  heat_step(x, y[0], rod);
  for (int t = 1; t < times; ++t) heat_step(y[(t + 1) % 2] + t, y[t % 2] + t, rod - 2 * t);
  const float* last = y[(times - 1) % 2];
  return last[times] + last[rod / 2] + last[rod - 1 - times];
}
CASE heat_by_pieces() {
  constexpr int piece = 2048;
  const float* x = field<float>(0, rod);
  float* to = field<float>(1, rod);
  static float part[2][piece + 2 * times];
  for (int from = times; from < rod - times; from += piece) {
    const int count = std::min(piece, rod - times - from) + 2 * times;
    heat_step(x + from - times, part[0], count);
    for (int t = 1; t < times - 1; ++t)
      heat_step(part[(t + 1) % 2] + t, part[t % 2] + t, count - 2 * t);
    const float* last = part[times % 2];
    for (int i = times; i < count - times; ++i)
      to[from - times + i] = 0.25f * last[i - 1] + 0.5f * last[i] + 0.25f * last[i + 1];
  }
  return to[times] + to[rod / 2] + to[rod - 1 - times];
}

// The first and the last direction of a volume exchanged.
constexpr int planes = 112;
constexpr int lines = 96;
constexpr int points = 144;
CASE volume_plain() {
  const float* x = field<float>(0, planes * lines * points);
  float* y = field<float>(1, planes * lines * points);
  for (int i = 0; i < planes; ++i)
    for (int j = 0; j < lines; ++j)
      for (int k = 0; k < points; ++k)
        y[(k * lines + j) * planes + i] = x[(i * lines + j) * points + k];
  return y[4321];
}
CASE volume_tiles() {
  const float* x = field<float>(0, planes * lines * points);
  float* y = field<float>(1, planes * lines * points);
  for (int j = 0; j < lines; ++j)
    for (int ib = 0; ib < planes; ib += 16)
      for (int kb = 0; kb < points; kb += 16)
        for (int k = kb; k < kb + 16; ++k)
          for (int i = ib; i < ib + 16; ++i)
            y[(k * lines + j) * planes + i] = x[(i * lines + j) * points + k];
  return y[4321];
}

// Keys are looked up in a large table of places, as they come or as their places follow.
struct Place {
  std::uint32_t key;
  std::uint32_t value;
};
constexpr std::uint32_t place_count = 1U << 20U;
const std::vector<Place>& places() {
  static const auto list = [] {
    std::vector<Place> made(place_count, Place{0, 0});
    Shuffled keys(place_count / 2);
    for (std::uint32_t i = 0; i < place_count / 2; ++i) {
      const std::uint32_t key = 2 * keys.next() + 1;
      std::uint32_t at = key * 2654435769U >> 12U;
      while (made[at].key != 0) at = (at + 1) % place_count;
      made[at] = {key, i % 1000};
    }
    return made;
  }();
  return list;
}
std::vector<std::uint32_t> join_keys(bool sorted) {
  std::vector<std::uint32_t> list;
  Shuffled keys(place_count / 2);
  for (std::uint32_t i = 0; i < place_count / 2; ++i) list.push_back(2 * keys.next() + 1);
  if (sorted) {
    list.clear();
    for (const Place& one : places())
      if (one.key != 0) list.push_back(one.key);
  }
  return list;
}
template <bool Sorted>
CASE join() {
  static const auto keys = join_keys(Sorted);
  const std::vector<Place>& table = places();
  std::uint64_t sum = 0;
  for (const std::uint32_t key : keys) {
    std::uint32_t at = key * 2654435769U >> 12U;
    while (table[at].key != key) at = (at + 1) % place_count;
    sum += table[at].value;
  }
  return static_cast<double>(sum);
}

// Sums along a line of planes that are a power of two apart, so that all share a few places of each
// cache; or with a gap behind each plane.
template <int Pitch>
CASE planes_along() {
  constexpr int count = 128;
  constexpr int across = 32;
  static const auto volume = [] {
    std::vector<float> made(static_cast<std::size_t>(count) * Pitch);
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < across; ++j)
        made[static_cast<std::size_t>(k * Pitch + j)] = static_cast<float>(k * 5 % 17 + j * 3 % 7);
    return made;
  }();
  const float *x = volume.data(), *weights = field<float>(0, 1000);
  float* y = field<float>(1, 700 * across);
  for (int turn = 0; turn < 700; ++turn) {
    vec8 sum[across / 8] = {};
    for (int k = 0; k < count; ++k)
      for (int u = 0; u < across / 8; ++u)
        sum[u] += weights[turn + k] * *reinterpret_cast<const vec8*>(x + k * Pitch + 8 * u);
    for (int u = 0; u < across / 8; ++u)
      *reinterpret_cast<vec8*>(y + turn * across + 8 * u) = sum[u];
  }
  return y[100];
}

// A sorted list is searched by halves, or by a tree of nodes that are a line each.
constexpr int sorted_count = 1 << 21;
constexpr int asked_count = 1 << 15;
int asked(int i) {
  return static_cast<int>((static_cast<std::uint32_t>(i) * 2654435769U) >> 9U);
}
CASE search_halves() {
  static const auto list = [] {
    std::vector<int> made(sorted_count);
    for (int i = 0; i < sorted_count; ++i) made[static_cast<std::size_t>(i)] = 4 * i + 1;
    return made;
  }();
  std::int64_t sum = 0;
  for (int i = 0; i < asked_count; ++i) {
    const int key = asked(i);
    const int* from = list.data();
    for (int half = sorted_count / 2; half > 0; half /= 2) from += from[half - 1] < key ? half : 0;
    sum += from - list.data();
  }
  return static_cast<double>(sum);
}
// Each level has the last key of each sixteen of the level below.
CASE search_nodes() {
  static const auto levels = [] {
    std::vector<std::vector<int>> made(1);
    for (int i = 0; i < sorted_count; ++i) made[0].push_back(4 * i + 1);
    while (made.back().size() > 16) {
      std::vector<int> above;
      for (std::size_t i = 15; i < made.back().size(); i += 16) above.push_back(made.back()[i]);
      made.push_back(above);
    }
    made.back().resize(16, 1 << 30);
    return made;
  }();
  std::int64_t sum = 0;
  for (int i = 0; i < asked_count; ++i) {
    const int key = asked(i);
    int node = 0;
    for (std::size_t level = levels.size(); level-- > 0;) {
      const int* keys = levels[level].data() + 16 * node;
      int below = 0;
      for (int k = 0; k < 16; ++k) below += static_cast<int>(keys[k] < key);
      node = 16 * node + std::min(below, 15);
    }
    sum += node;
  }
  return static_cast<double>(sum);
}

// A sparse matrix of a mesh: its points numbered by chance, or along the mesh.
constexpr std::uint32_t mesh_points = 1U << 18U;
constexpr int neighbors = 6;
struct Mesh {
  std::vector<std::uint32_t> columns;
  std::vector<float> weights;
};
Mesh mesh(bool along) {
  std::vector<std::uint32_t> number(mesh_points);
  Shuffled order(mesh_points);
  for (std::uint32_t i = 0; i < mesh_points; ++i) number[i] = along ? i : order.next();
  constexpr std::uint32_t steps[neighbors] = {mesh_points - 512, mesh_points - 1, 0, 1, 2, 512};
  Mesh made;
  made.columns.resize(mesh_points * neighbors);
  made.weights.assign(mesh_points * neighbors, 0.125f);
  for (std::uint32_t i = 0; i < mesh_points; ++i)
    for (std::uint32_t k = 0; k < neighbors; ++k)
      made.columns[number[i] * neighbors + k] = number[(i + steps[k]) % mesh_points];
  return made;
}
template <bool Along>
CASE mesh_product() {
  static const Mesh used = mesh(Along);
  const double* x = field<double>(0, mesh_points);
  double* y = field<double>(1, mesh_points);
  double all = 0;
  for (std::size_t i = 0; i < mesh_points; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < neighbors; ++k)
      sum +=
          static_cast<double>(used.weights[i * neighbors + k]) * x[used.columns[i * neighbors + k]];
    y[i] = sum;
    all += sum;
  }
  return all;
}

// How often each mark occurs in each of 64 questions, from sheets that lie one after the other.
constexpr int sheets = 1 << 16;
constexpr int questions = 64;
CASE marks_by_question() {
  const unsigned char* x = field<unsigned char>(0, sheets * questions);
  static std::uint32_t counts[questions][16];
  for (int q = 0; q < questions; ++q) {
    std::fill(std::begin(counts[q]), std::end(counts[q]), 0U);
    for (int s = 0; s < sheets; ++s) ++counts[q][(x[s * questions + q] + s) & 15];
  }
  return counts[3][1] + counts[17][2];
}
CASE marks_by_sheet() {
  const unsigned char* x = field<unsigned char>(0, sheets * questions);
  static std::uint32_t counts[questions][16];
  for (auto& one : counts) std::fill(std::begin(one), std::end(one), 0U);
  for (int s = 0; s < sheets; ++s)
    for (int q = 0; q < questions; ++q) ++counts[q][(x[s * questions + q] + s) & 15];
  return counts[3][1] + counts[17][2];
}

// How many of many words have all marks of a pattern, for each of some patterns: all words for
// each, or a piece of them for all.
KERNEL int matching(const std::uint32_t* x, int count, std::uint32_t pattern) {
  int found = 0;
  for (int i = 0; i < count; ++i) found += static_cast<int>((x[i] & pattern) == pattern);
  return found;
}
template <int Piece>
CASE patterns() {
  constexpr int count = 1 << 20;
  constexpr int some = 24;
  static const auto words = [] {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < count; ++i) list.push_back(i * 2654435769U ^ i >> 9U);
    return list;
  }();
  const std::uint32_t* x = words.data();
  int found[some] = {};
  for (int from = 0; from < count; from += Piece)
    for (int s = 0; s < some; ++s) found[s] += matching(x + from, Piece, 5U << s);
  double all = 0;
  for (const int one : found) all += one;
  return all;
}

// Prime numbers: each strikes its multiples through all of the list, or through a piece.
constexpr int odds = 1 << 22;  // 1, 3, 5, …
std::vector<std::uint8_t>& sieve() {
  static std::vector<std::uint8_t> list(odds);
  return list;
}
std::vector<int> small_primes() {
  std::vector<int> list;
  for (int p = 3; p * p < 2 * odds; p += 2)
    if (std::none_of(list.begin(), list.end(), [p](int q) { return p % q == 0; }))
      list.push_back(p);
  return list;
}
template <int Piece>
CASE primes() {
  static const std::vector<int> small_ones = small_primes();
  std::vector<std::uint8_t>& composite = sieve();
  static std::vector<int> next;
  next.clear();
  for (const int p : small_ones) next.push_back(p * p / 2);
  int count = 0;
  for (int from = 0; from < odds; from += Piece) {
    std::fill_n(composite.begin() + from, Piece, std::uint8_t{0});
    std::uint8_t* const marks = composite.data();
    for (std::size_t k = 0; k < small_ones.size(); ++k) {
      int at = next[k];
      for (; at < from + Piece; at += small_ones[k]) marks[at] = 1;
      next[k] = at;
    }
    for (int i = from; i < from + Piece; ++i) count += 1 - marks[i];
  }
  return count;
}

// What fits into a bag: the table of all steps is kept, or the last two.
template <int Kept>
CASE knapsack() {
  constexpr int room = 1 << 15;
  constexpr int things = 64;
  static std::vector<int> table;
  table.assign(room * static_cast<std::size_t>(Kept), 0);
  for (int t = 1; t <= things; ++t) {
    const int* before = table.data() + static_cast<std::ptrdiff_t>((t - 1) % Kept) * room;
    int* now = table.data() + static_cast<std::ptrdiff_t>(t % Kept) * room;
    const int weight = 100 + t * 37 % 211;
    const int value = 50 + t * 53 % 97;
    std::copy(before, before + weight, now);
    for (int w = weight; w < room; ++w) now[w] = std::max(before[w], before[w - weight] + value);
  }
  return table[static_cast<std::size_t>(things % Kept) * room + room - 1];
}

// Which numbers have been seen: a word for each, or a bit.
constexpr std::uint32_t numbers = 1U << 21U;
std::uint32_t number_seen(std::uint32_t i) {
  return (i * 2654435769U ^ (i >> 3U)) >> 11U;
}
CASE seen_words() {
  static std::vector<std::uint32_t> seen(numbers);
  static std::uint32_t mark = 0;
  ++mark;
  int count = 0;
  for (std::uint32_t i = 0; i < numbers / 4; ++i) {
    const std::uint32_t n = number_seen(i);
    count += static_cast<int>(seen[n] != mark);
    seen[n] = mark;
  }
  return count;
}
CASE seen_bits() {
  static std::vector<std::uint32_t> seen(numbers / 32);
  std::fill(seen.begin(), seen.end(), 0U);
  int count = 0;
  for (std::uint32_t i = 0; i < numbers / 4; ++i) {
    const std::uint32_t n = number_seen(i);
    const std::uint32_t bit = 1U << (n % 32);
    count += static_cast<int>((seen[n / 32] & bit) == 0);
    seen[n / 32] |= bit;
  }
  return count;
}

// Columns, of matrices that are all in L1.
CASE small_products() {
  constexpr int n = 40;
  const float *a = field<float>(0, n * n), *b = field<float>(1, n * n);
  float* c = field<float>(2, n * n);
  for (int turn = 0; turn < 12; ++turn)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        c[i * n + j] = sum + static_cast<float>(turn);
      }
  return c[123];
}

// Pages without order, and each of them from its begin to its end.
CASE pages_in_no_order() {
  const float* x = field<float>(0, 4096 * 1024);
  Shuffled pages(4096);
  constexpr int page = 1024;
  std::int64_t sum = 0;
  for (int i = 0; i < 4096; ++i) {
    const auto* at = reinterpret_cast<const std::int32_t*>(x + pages.next() * page);
    int part = 0;
    for (int k = 0; k < page; ++k) part += at[k] >> 20;
    sum += part;
  }
  return static_cast<double>(sum);
}

// Blocks of 8 by 8 pixels, as pictures are packed: rows are left after half a line, and the other
// half is next.
CASE picture_blocks() {
  constexpr int side = 1200;
  const float* x = field<float>(0, side * side);
  float* y = field<float>(1, side * side);
  for (int ib = 0; ib < side; ib += 8)
    for (int jb = 0; jb < side; jb += 8)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
          y[(ib * side + jb * 8) + i * 8 + j] = x[(ib + i) * side + jb + j] * 0.5f - 1;
  return y[777];
}

// From the end to the begin.
CASE backwards() {
  constexpr int count = 3 << 20;
  const float* x = field<float>(0, count);
  float* y = field<float>(1, count);
  for (int i = 0; i < count; ++i) y[i] = x[count - 1 - i];
  return y[5];
}

// Neighbors above and below, which are still in the cache.
CASE five_points() {
  constexpr int side = 1500;
  const float* x = field<float>(0, side * side);
  float* y = field<float>(1, side * side);
  for (int i = 1; i < side - 1; ++i)
    for (int j = 1; j < side - 1; ++j)
      y[i * side + j] = 0.2f * (x[i * side + j] + x[i * side + j - 1] + x[i * side + j + 1] +
                                x[(i - 1) * side + j] + x[(i + 1) * side + j]);
  return y[3 * side + 5];
}

// Two sorted lists into one: branches, but all in order.
CASE merge_sorted() {
  constexpr int count = 1 << 20;
  static const auto lists = [] {
    std::vector<int> made(2 * count);
    for (int i = 0; i < count; ++i) {
      made[static_cast<std::size_t>(i)] = 3 * i;
      made[static_cast<std::size_t>(count + i)] = 3 * i + i % 5;
    }
    return made;
  }();
  static std::vector<int> to(2 * count);
  const int* a = lists.data();
  const int* b = a + count;
  const int* a_end = b;
  const int* b_end = b + count;
  int* at = to.data();
  while (a < a_end && b < b_end) {
    const bool first = *a <= *b;
    *at++ = first ? *a : *b;
    a += first ? 1 : 0;
    b += first ? 0 : 1;
  }
  return to[12345];
}

// Places in a table of 8 KiB, drawn for each of many numbers.
CASE small_lookups() {
  const float* table = field<float>(0, 2048);
  double* y = field<double>(1, 1024);
  std::uint32_t state = 1;
  for (int i = 0; i < 1 << 18; ++i) {
    state = state * 1664525U + 1013904223U;
    y[i & 1023] = table[state >> 21U];
  }
  return y[5];
}

// A list in L1 whose order is none.
CASE small_list() {
  struct Node {
    std::uint32_t next;
    std::uint32_t value;
  };
  static const auto nodes = [] {
    std::vector<Node> list(1024);
    Shuffled order(1024);
    std::vector<std::uint32_t> way;
    for (int i = 0; i < 1024; ++i) way.push_back(order.next());
    for (std::size_t i = 0; i < 1024; ++i)
      list[way[i]] = {way[(i + 1) % 1024], static_cast<std::uint32_t>(i)};
    return list;
  }();
  std::uint32_t at = 0;
  std::uint32_t sum = 0;
  for (int i = 0; i < 300 * 1024; ++i) {
    sum += nodes[at].value;
    at = nodes[at].next;
  }
  return sum;
}

}  // namespace

void add_second_poor_locality() {
  add_pair(tool, "second_quarter_turn_u32", turn_by_rows, turn_by_tiles, scalar, scalar);
  add_pair(tool, "second_orders", orders_whole, orders_split, scalar);
  add_pair(tool, "second_product_f32", product<1024, 1024>, product<64, 256>);
  add_pair(tool, "second_steps_f32", steps<3 << 20>, steps<2048>);
  add_pair(tool, "second_heat_f32", heat_by_steps, heat_by_pieces);
  add_pair(tool, "second_volume_f32", volume_plain, volume_tiles, scalar, scalar);
  add_pair(tool, "second_join_u32", join<false>, join<true>);
  add_pair(tool, "second_pitch_f32", planes_along<16384>, planes_along<16384 + 16>, chain, chain);
  add_pair(tool, "second_search_i32", search_halves, search_nodes, chain, scalar_chain);
  add_pair(tool, "second_mesh_f64", mesh_product<false>, mesh_product<true>, scalar_chain,
           scalar_chain);
  add_pair(tool, "second_marks_u8", marks_by_question, marks_by_sheet);
  add_pair(tool, "second_patterns_u32", patterns<1 << 20>, patterns<4096>);
  add_pair(tool, "second_primes_u8", primes<odds>, primes<1 << 14>);
  add_pair(tool, "second_knapsack_i32", knapsack<65>, knapsack<2>);
  add_pair(tool, "second_seen_u32", seen_words, seen_bits);
  add_clean(tool, "second_small_products_f32", small_products, scalar_chain);
  add_clean(tool, "second_pages_i32", pages_in_no_order);
  add_clean(tool, "second_blocks_f32", picture_blocks);
  add_clean(tool, "second_backwards_f32", backwards);
  add_clean(tool, "second_five_points_f32", five_points);
  add_clean(tool, "second_merge_i32", merge_sorted, scalar_chain);
  add_clean(tool, "second_lookups_f32", small_lookups, scalar_chain);
  add_clean(tool, "second_list_u32", small_list, chain);
}

}  // namespace defects
