#include <cmath>
#include <complex>

using cfloat = std::complex<float>;

// One radix-2 stage over blocks of `half` pairs.
void butterfly(cfloat* data, const cfloat* twiddle, int blocks, int half) {
  for (int b = 0; b < blocks; ++b) {
    for (int k = 0; k < half; ++k) {
      const cfloat even = data[b * 2 * half + k];
      const cfloat odd = data[b * 2 * half + half + k] * twiddle[k];
      data[b * 2 * half + k] = even + odd;
      data[b * 2 * half + half + k] = even - odd;
    }
  }
}
