// Kernels as users write them, for the tests of tnr_kernel: this file is the source that they
// compile, user_kernels.ptx is what nvcc made of it, and user_kernels.cpp compiles it for the host.
//
//   nvcc --ptx -arch=compute_80 -fmad=false -o user_kernels.ptx user_kernels.cu

// The parameter of a kernel for a view of up to kRank axes.
template <class T, int kRank>
struct View {
  T* data;
  long long shape[kRank];
  long long strides[kRank];
};

// The kernel of docs/cuda.md: out = frame[row.., col..] where the mask is set, and 0 elsewhere.
extern "C" __global__ void masked_crop(View<const unsigned char, 3> frame,
                                       View<const unsigned char, 2> mask, long long row,
                                       long long col, View<unsigned char, 3> out) {
  const long long x = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long y = blockIdx.y * static_cast<long long>(blockDim.y) + threadIdx.y;
  if (y >= out.shape[0] || x >= out.shape[1]) return;
  // Added without signs, so that a place which overflows is one before 0.
  const long long from_y = static_cast<long long>(static_cast<unsigned long long>(row) + y);
  const long long from_x = static_cast<long long>(static_cast<unsigned long long>(col) + x);
  const bool is_set = from_y >= 0 && from_x >= 0 && from_y < frame.shape[0] &&
                      from_x < frame.shape[1] && from_y < mask.shape[0] &&
                      from_x < mask.shape[1] &&
                      mask.data[from_y * mask.strides[0] + from_x * mask.strides[1]] != 0;
  for (long long c = 0; c < out.shape[2]; ++c) {
    const bool is_there = is_set && c < frame.shape[2];
    out.data[y * out.strides[0] + x * out.strides[1] + c * out.strides[2]] =
        is_there ? frame.data[from_y * frame.strides[0] + from_x * frame.strides[1] +
                              c * frame.strides[2]]
                 : 0;
  }
}

// Takes only addresses: y = alpha x + y, each operation rounded.
extern "C" __global__ void axpy(float alpha, const float* x, float* y, long long count) {
  const long long threads = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += threads) {
    y[i] = alpha * x[i] + y[i];
  }
}

// The kernel of the Rust documentation: y += alpha x, of any strides.
extern "C" __global__ void add_scaled(float alpha, View<const float, 1> x, View<float, 1> y) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < x.shape[0] && i < y.shape[0]) {
    y.data[i * y.strides[0]] += alpha * x.data[i * x.strides[0]];
  }
}

// The parameter for `in`: extents, then strides.
extern "C" __global__ void describe(View<const float, 3> in, long long* out) {
  if (threadIdx.x >= 3) return;
  out[threadIdx.x] = in.shape[threadIdx.x];
  out[3 + threadIdx.x] = in.strides[threadIdx.x];
}

// Where each thread is, in a row of its own.
extern "C" __global__ void places(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int* const row = out + 6 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
  row[0] = static_cast<int>(blockIdx.x);
  row[1] = static_cast<int>(blockIdx.y);
  row[2] = static_cast<int>(blockIdx.z);
  row[3] = static_cast<int>(threadIdx.x);
  row[4] = static_cast<int>(threadIdx.y);
  row[5] = static_cast<int>(threadIdx.z);
}

extern "C" __global__ void nothing() {}

// One element per thread; compiled for each type that a program names.
template <class T>
__global__ void scale(View<T, 1> values, T factor) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < values.shape[0]) values.data[i * values.strides[0]] *= factor;
}
