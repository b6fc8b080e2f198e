// What all kernels share. Every matrix may hold several lanes, one after the other: the same
// computation with other seeds. A lane is a slice of the grid's z axis, its numbers lie `lane` numbers
// behind the first lane's, and what is common to all lanes has a distance of 0. No sum crosses lanes
// and no launch is cut by their number, so a lane's bits do not depend on its neighbours.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct Matrix {
    float *at;
    i64 lane;
    __device__ float *here() const { return at + blockIdx.z * lane; }
};

struct Given {
    const float *at;
    i64 lane;
    __device__ const float *here() const { return at + blockIdx.z * lane; }
};

// What random draws are a function of. While steps are replayed, the epoch is where the clock stands.
struct Key {
    u64 seed;
    u32 epoch, batch, site, unused;
    const u32 *clock;
    const u64 *seeds;
    const u32 *places; // that rows have in the draws, where those are others than here
    i64 places_lane;
    const uint4 *rates; // of lanes with dropouts of their own: thresholds of 32 and 16 bits, what is kept
    __device__ u32 now() const { return clock ? *clock : epoch; }
    __device__ u64 lane_seed() const { return seeds ? seeds[blockIdx.z] : seed; }
    __device__ i64 place(i64 row) const { return places ? (i64)places[blockIdx.z * places_lane + row] : row; }
    __device__ u32 threshold(u32 common) const { return rates ? rates[blockIdx.z].x : common; }
    __device__ u32 short_threshold(u32 common) const { return rates ? rates[blockIdx.z].y : common; }
    __device__ float kept(float common) const { return rates ? __uint_as_float(rates[blockIdx.z].z) : common; }
};

__device__ __forceinline__ i64 index() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 stride() { return (i64)gridDim.x * blockDim.x; }

template <class T> __device__ __forceinline__ T warp_sum(T x) {
    for (int far = 16; far > 0; far >>= 1) x += __shfl_xor_sync(0xffffffffu, x, far);
    return x;
}

__device__ __forceinline__ float warp_max(float x) {
    for (int far = 16; far > 0; far >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, x, far);
        x = other > x ? other : x;
    }
    return x;
}

// The sum over a block of up to 1024 threads, in thread 0.
template <class T> __device__ T block_sum(T x) {
    __shared__ T sums[32];
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < (blockDim.x + 31) / 32 ? sums[threadIdx.x] : T(0);
    return threadIdx.x < 32 ? warp_sum(x) : x;
}

// Philox 4x32-10.
__device__ __forceinline__ uint4 philox(uint4 words, uint2 key) {
    for (int round = 0; round < 10; round++) {
        u32 a_low = words.x * 0xD2511F53u, a_high = __umulhi(words.x, 0xD2511F53u);
        u32 b_low = words.z * 0xCD9E8D57u, b_high = __umulhi(words.z, 0xCD9E8D57u);
        words = make_uint4(b_high ^ words.y ^ key.x, b_low, a_high ^ words.w ^ key.y, a_low);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return words;
}

// The finisher of SplitMix64.
__device__ __forceinline__ u64 mix(u64 x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}
