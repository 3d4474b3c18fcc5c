#include <cstdio>

void triad(float* a, const float* b, const float* c, float s, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    a[i] = b[i] + s * c[i];
  }
}

int main() {
  float a[4], b[4] = {1, 2, 3, 4}, c[4] = {1, 1, 1, 1};
  triad(a, b, c, 2.0f, 4);
  std::printf("%f\n", a[3]);
}
