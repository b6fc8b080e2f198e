//! Which vector instructions the processor has, asked once at run time.

/// A set of instructions to compile hot loops for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Whatever the target guarantees.
    Portable,
    /// 256-bit vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors, with the byte, double-word and short-vector extensions that every processor
    /// for data centres has had with them.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Whether a fused multiply-add is one instruction wherever this target runs.
pub const FUSED_EVERYWHERE: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

impl Instructions {
    /// The best that this processor has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if wide && is_x86_feature_detected!("fma") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Every set that this processor has.
    #[cfg(test)]
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let all = [Self::Portable, Self::Avx2, Self::Avx512];
        #[cfg(not(target_arch = "x86_64"))]
        let all = [Self::Portable];
        let best = Self::detect();
        let count = all.iter().position(|&set| set == best).map_or(1, |at| at + 1);
        all[..count].to_vec()
    }

    /// Runs `work` compiled for these instructions: it is inlined where they are allowed.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        match self {
            Self::Portable => work(),
            // SAFETY: sets come from `detect` and `available`, which have asked the processor. Tested by
            // `instruction_sets_agree` of the filters, which runs each set that is there.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512(work) },
        }
    }
}

/// A loop and what it works on. Unlike a closure, its `run` can be marked `#[inline(always)]`, so
/// that it is certain to be compiled for the instructions that it runs under.
pub trait Kernel {
    /// What it gives.
    type Output;
    /// Runs it; to be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

impl Instructions {
    /// Runs a kernel compiled for these instructions.
    #[inline(always)]
    pub fn compute<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable => kernel.run(),
            // SAFETY: as for `run`.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2_kernel(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512_kernel(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2_kernel<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn avx512_kernel<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}
