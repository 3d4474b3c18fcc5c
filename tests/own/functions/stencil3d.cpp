// Seven-point Laplacian on a cube with one size.
#define AT(x, y, z) (((x) * n + (y)) * n + (z))

void laplace3d(const float* u, float* out, int n) {
  for (int x = 1; x < n - 1; ++x)
    for (int y = 1; y < n - 1; ++y)
      for (int z = 1; z < n - 1; ++z)
        out[AT(x, y, z)] = u[AT(x - 1, y, z)] + u[AT(x + 1, y, z)] + u[AT(x, y - 1, z)] +
                           u[AT(x, y + 1, z)] + u[AT(x, y, z - 1)] + u[AT(x, y, z + 1)] -
                           6.0f * u[AT(x, y, z)];
}
