// Functions of rows, one warp each, and sums over rows, in two stages of fixed cuts.

#define TINY 1e-12f

__device__ __forceinline__ i64 row_of_warp() { return index() / 32; }

__device__ float row_norm(const float *x, i64 width) {
    float sum = 0.0f;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) sum += x[j] * x[j];
    return sqrtf(warp_sum(sum));
}

extern "C" __global__ void normalize_rows(Given given, Matrix result, i64 rows, i64 width) {
    i64 row = row_of_warp();
    if (row >= rows) return;
    const float *x = given.here() + row * width;
    float *y = result.here() + row * width;
    float norm = row_norm(x, width);
    float scale = norm > TINY ? 1.0f / norm : 1.0f;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) y[j] = scale * x[j];
}

extern "C" __global__ void normalize_rows_gradient(Given given, Given result, Given back, Matrix gradient, i64 rows, i64 width) {
    i64 row = row_of_warp();
    if (row >= rows) return;
    const float *x = given.here() + row * width, *y = result.here() + row * width, *dy = back.here() + row * width;
    float *dx = gradient.here() + row * width;
    float norm = row_norm(x, width);
    bool zero = norm <= TINY;
    float along = 0.0f;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) along += y[j] * dy[j];
    along = zero ? 0.0f : warp_sum(along);
    float scale = zero ? 1.0f : 1.0f / norm;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) dx[j] += scale * (dy[j] - along * y[j]);
}

__device__ float row_max(const float *x, i64 width) {
    float top = x[0];
    for (i64 j = threadIdx.x % 32; j < width; j += 32) top = x[j] > top ? x[j] : top;
    return warp_max(top);
}

__device__ float exponentials(const float *x, i64 width, float top) {
    float sum = 0.0f;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) sum += expf(x[j] - top);
    return warp_sum(sum);
}

extern "C" __global__ void softmax(Given given, Matrix result, i64 rows, i64 width) {
    i64 row = row_of_warp();
    if (row >= rows) return;
    const float *x = given.here() + row * width;
    float *y = result.here() + row * width;
    float top = row_max(x, width);
    float scale = 1.0f / exponentials(x, width, top);
    for (i64 j = threadIdx.x % 32; j < width; j += 32) y[j] = scale * expf(x[j] - top);
}

extern "C" __global__ void softmax_gradient(Given result, Given back, Matrix gradient, i64 rows, i64 width) {
    i64 row = row_of_warp();
    if (row >= rows) return;
    const float *y = result.here() + row * width, *dy = back.here() + row * width;
    float *dx = gradient.here() + row * width;
    float along = 0.0f;
    for (i64 j = threadIdx.x % 32; j < width; j += 32) along += y[j] * dy[j];
    along = warp_sum(along);
    for (i64 j = threadIdx.x % 32; j < width; j += 32) dx[j] += y[j] * (dy[j] - along);
}

extern "C" __global__ void log_softmax(Given given, Matrix result, i64 rows, i64 width) {
    i64 row = row_of_warp();
    if (row >= rows) return;
    const float *x = given.here() + row * width;
    float *y = result.here() + row * width;
    float top = row_max(x, width);
    float shift = top + logf(exponentials(x, width, top));
    for (i64 j = threadIdx.x % 32; j < width; j += 32) y[j] = x[j] - shift;
}

extern "C" __global__ void group_dot(Given given, Given weights, Matrix result, i64 rows, i64 cols, i64 groups) {
    const float *x = given.here(), *a = weights.here();
    float *y = result.here();
    i64 width = cols / groups;
    for (i64 i = index(); i < rows * groups; i += stride()) {
        i64 row = i / groups, first = i % groups * width;
        float sum = 0.0f;
        for (i64 j = first; j < first + width; j++) sum += x[row * cols + j] * a[j];
        y[i] = sum;
    }
}

extern "C" __global__ void group_dot_gradient(Given weights, Given back, Matrix gradient, i64 rows, i64 cols, i64 groups) {
    const float *a = weights.here(), *dy = back.here();
    float *dx = gradient.here();
    i64 width = cols / groups;
    for (i64 i = index(); i < rows * cols; i += stride())
        dx[i] += dy[i / cols * groups + i % cols / width] * a[i % cols];
}

// Sums of the columns of y over parts of `part` rows, each row weighted by its group's number where
// there are some: partial[part][column].
extern "C" __global__ void column_parts(Given given, Given weights, int weighted, Matrix partial, i64 rows, i64 cols, i64 groups, i64 part) {
    i64 column = index();
    if (column >= cols) return;
    const float *y = given.here(), *w = weights.here();
    i64 first = blockIdx.y * part, last = min(first + part, rows), width = cols / groups;
    float sum = 0.0f;
    for (i64 i = first; i < last; i++) {
        float value = y[i * cols + column];
        sum += weighted ? value * w[i * groups + column / width] : value;
    }
    partial.here()[blockIdx.y * cols + column] = sum;
}

// The sum of the parts, in order.
extern "C" __global__ void sum_parts(Given partial, Matrix result, int add, i64 n, i64 parts) {
    const float *in = partial.here();
    float *out = result.here();
    for (i64 i = index(); i < n; i += stride()) {
        float sum = 0.0f;
        for (i64 part = 0; part < parts; part++) sum += in[part * n + i];
        out[i] = add ? out[i] + sum : sum;
    }
}

// Sums of products, in double precision: one number for each block, then one in all.
extern "C" __global__ void dot_parts(Given x, Given y, double *partial, i64 n) {
    const float *a = x.here(), *b = y.here();
    double sum = 0.0;
    for (i64 i = index(); i < n; i += stride()) sum += (double)a[i] * b[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.z * gridDim.x + blockIdx.x] = sum;
}

extern "C" __global__ void dot_sum(const double *partial, i64 parts, Matrix out, i64 k, int add) {
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < parts; i += blockDim.x) sum += partial[blockIdx.z * parts + i];
    sum = block_sum(sum);
    float *to = out.here() + k;
    if (threadIdx.x == 0) *to = (add ? *to : 0.0f) + (float)sum;
}

// For every column of a block of rows of `cols` entries with `parts` numbers: sum of a·b in double.
extern "C" __global__ void column_dots(Given x, Given y, double *result, i64 rows, i64 cols, int parts) {
    const float *a = x.here(), *b = y.here();
    i64 column = blockIdx.x;
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < rows; i += blockDim.x)
        for (int part = 0; part < parts; part++) {
            i64 at = (i * cols + column) * parts + part;
            sum += (double)a[at] * b[at];
        }
    sum = block_sum(sum);
    if (threadIdx.x == 0) result[blockIdx.z * cols + column] = sum;
}

// y = first·x + second·y, with a number for every column: sign·a/b, or 0 where b is not above 0.
extern "C" __global__ void column_update(Given x, Matrix y, const double *a, const double *b, float sign, int keep, i64 cols, int parts, i64 n) {
    const float *in = x.here();
    float *out = y.here();
    const double *top = a + blockIdx.z * cols, *under = b + blockIdx.z * cols;
    for (i64 i = index(); i < n; i += stride()) {
        i64 column = i / parts % cols;
        float factor = under[column] > 0.0 ? (float)(sign * top[column] / under[column]) : 0.0f;
        out[i] = keep ? in[i] + factor * out[i] : out[i] + factor * in[i];
    }
}
