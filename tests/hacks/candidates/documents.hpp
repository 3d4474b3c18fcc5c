// The task maxsim, token by token in lanes, from documents that kp_prepare turned.
#include <kernelpro/candidate.h>

#include <cmath>
#include <cstring>

namespace {

constexpr int64_t lanes = 16;
typedef float Lanes __attribute__((vector_size(64)));
typedef int32_t Masks __attribute__((vector_size(64)));

int64_t tokens_in_lanes(const kp_context* context) {
  return (context->axes[2] + lanes - 1) / lanes * lanes;
}

// The largest product of `query` with the tokens of one document, turned and filled up with copies
// of its last token. From `least`.
inline void largest_products(int64_t queries, int64_t tokens, int64_t d, const float* query,
                             const float* turned, float least, float* out) {
  constexpr int64_t at_once = 8;
  for (int64_t q = 0; q < queries; q += at_once) {
    const float* rows[at_once];
    Lanes largest[at_once];
    for (int64_t r = 0; r < at_once; ++r) {
      rows[r] = query + (q + r < queries ? q + r : queries - 1) * d;
      largest[r] = Lanes{} + least;
    }
    for (int64_t t = 0; t < tokens; t += lanes) {
      Lanes sums[at_once] = {};
      for (int64_t j = 0; j < d; ++j) {
        Lanes token;
        std::memcpy(&token, turned + j * tokens + t, sizeof token);
        for (int64_t r = 0; r < at_once; ++r) {
          sums[r] += token * rows[r][j];
        }
      }
      for (int64_t r = 0; r < at_once; ++r) {
        const Masks above = sums[r] > largest[r];
        largest[r] = above ? sums[r] : largest[r];
      }
    }
    for (int64_t r = 0; r < at_once && q + r < queries; ++r) {
      float one = largest[r][0];
      for (int64_t l = 1; l < lanes; ++l) {
        one = largest[r][l] > one ? largest[r][l] : one;
      }
      out[q + r] = one;
    }
  }
}

}  // namespace
