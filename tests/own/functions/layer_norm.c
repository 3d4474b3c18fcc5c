#include <math.h>

void layer_norm(const float *restrict x, const float *restrict gain, float *restrict y, int rows,
                int width) {
  for (int r = 0; r < rows; r++) {
    float mean = 0, var = 0;
    for (int i = 0; i < width; i++) mean += x[r * width + i];
    mean /= width;
    for (int i = 0; i < width; i++) {
      float d = x[r * width + i] - mean;
      var += d * d;
    }
    float scale = 1.0f / sqrtf(var / width + 1e-5f);
    for (int i = 0; i < width; i++) y[r * width + i] = (x[r * width + i] - mean) * scale * gain[i];
  }
}
