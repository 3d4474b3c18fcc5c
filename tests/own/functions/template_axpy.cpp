template <typename T>
void axpy(long n, T alpha, const T* __restrict x, T* __restrict y) {
  for (long i = 0; i < n; ++i) {
    y[i] += alpha * x[i];
  }
}

template void axpy<double>(long, double, const double*, double*);
