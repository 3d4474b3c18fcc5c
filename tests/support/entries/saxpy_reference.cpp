// What launch_saxpy must compute.
void launch_saxpy(const float* x, float* y, int n, float a) {
  for (int i = 0; i < n; ++i) {
    y[i] = a * x[i] + y[i];
  }
}
