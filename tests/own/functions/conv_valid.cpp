#include "conv_types.h"

// Valid convolution of an image with a kernel of its own size.
void convolve(const real_t* image, const real_t* kernel, real_t* out, int h, int w, int kh, int kw) {
  for (int y = 0; y + kh <= h; ++y) {
    for (int x = 0; x + kw <= w; ++x) {
      real_t sum = 0;
      for (int j = 0; j < kh; ++j) {
        for (int i = 0; i < kw; ++i) sum = madd(image[(y + j) * w + x + i], kernel[j * kw + i], sum);
      }
      out[y * (w - kw + 1) + x] = sum;
    }
  }
}
