//! What an operation is given, as the chosen engine's own.

use super::{AnyBuffer, AnyEngine, AnyMap};
use crate::nn::attention::{Attention, AttentionGradient};
use crate::nn::chains::ChainMaps;
use crate::nn::engine::Factor;
use crate::nn::join::{JoinedChannels, JoinedGradient};
use crate::nn::{Cpu, EngineError, cpu};

#[cfg(feature = "cuda")]
use crate::nn::cuda::{self, Cuda};

/// What an operation was given, as the engine's own.
pub(super) trait Own {
    type Cpu;
    fn cpu(self) -> Result<Self::Cpu, EngineError>;
    #[cfg(feature = "cuda")]
    type Cuda;
    #[cfg(feature = "cuda")]
    fn cuda(self) -> Result<Self::Cuda, EngineError>;
}

#[cfg(feature = "cuda")]
pub(super) fn foreign() -> EngineError {
    EngineError::Unsupported("a matrix of another engine".to_owned())
}

/// A variant of an enum as the engine's own.
macro_rules! own {
    ($given:ty, $cpu:ty, $cuda:ty, $enum:ident) => {
        impl<'a> Own for $given {
            type Cpu = $cpu;
            fn cpu(self) -> Result<$cpu, EngineError> {
                match self {
                    $enum::Cpu(own) => Ok(own),
                    #[cfg(feature = "cuda")]
                    $enum::Cuda(_) => Err(foreign()),
                }
            }
            #[cfg(feature = "cuda")]
            type Cuda = $cuda;
            #[cfg(feature = "cuda")]
            fn cuda(self) -> Result<$cuda, EngineError> {
                match self {
                    $enum::Cuda(own) => Ok(own),
                    $enum::Cpu(_) => Err(foreign()),
                }
            }
        }
    };
}

own!(&'a AnyBuffer, &'a Vec<f32>, &'a cuda::Buffer, AnyBuffer);
own!(&'a mut AnyBuffer, &'a mut Vec<f32>, &'a mut cuda::Buffer, AnyBuffer);
own!(&'a AnyMap, &'a cpu::Map<f32>, &'a cuda::Map, AnyMap);

/// Something with a part that the engine has to own.
macro_rules! with_own {
    ([$($life:tt)*] $given:ty, $cpu:ty, $cuda:ty, |$it:ident, $own:ident| $body:expr) => {
        impl<$($life)*> Own for $given {
            type Cpu = $cpu;
            fn cpu(self) -> Result<$cpu, EngineError> {
                let $it = self;
                macro_rules! $own { ($part:expr) => { Own::cpu($part)? } }
                Ok($body)
            }
            #[cfg(feature = "cuda")]
            type Cuda = $cuda;
            #[cfg(feature = "cuda")]
            fn cuda(self) -> Result<$cuda, EngineError> {
                let $it = self;
                macro_rules! $own { ($part:expr) => { Own::cuda($part)? } }
                Ok($body)
            }
        }
    };
}

with_own!(['a, T] (&'a AnyBuffer, T), (&'a Vec<f32>, T), (&'a cuda::Buffer, T), |it, own| (own!(it.0), it.1));
with_own!(['a, T] (&'a mut AnyBuffer, T), (&'a mut Vec<f32>, T), (&'a mut cuda::Buffer, T), |it, own| (own!(it.0), it.1));
with_own!(['a] Option<&'a AnyBuffer>, Option<&'a Vec<f32>>, Option<&'a cuda::Buffer>, |it, own| match it {
    Some(buffer) => Some(own!(buffer)),
    None => None,
});
with_own!(['a] Factor<'a, AnyBuffer>, Factor<'a, Vec<f32>>, Factor<'a, cuda::Buffer>, |it, own| Factor {
    buffer: own!(it.buffer),
    shape: it.shape,
    adjoint: it.adjoint,
});
with_own!(['a] &Attention<'a, AnyEngine>, Attention<'a, Cpu<f32>>, Attention<'a, Cuda>, |it, own| Attention {
    edges: own!(it.edges),
    features: own!(it.features),
    source: own!(it.source),
    target: own!(it.target),
    heads: it.heads,
    rows: it.rows,
    slope: it.slope,
    dropout: it.dropout,
});
with_own!(['a] AttentionGradient<'a, AnyEngine>, AttentionGradient<'a, Cpu<f32>>, AttentionGradient<'a, Cuda>, |it, own| {
    AttentionGradient {
        norms: own!(it.norms),
        out: own!(it.out),
        dy: own!(it.dy),
        features: own!(it.features),
        source: own!(it.source),
        target: own!(it.target),
    }
});

/// A list of parts that the engine has to own.
macro_rules! list_of_own {
    ($given:ty, $cpu:ty, $cuda:ty) => {
        with_own!(['a] Vec<$given>, Vec<$cpu>, Vec<$cuda>, |it, own| {
            let mut owned = Vec::with_capacity(it.len());
            for part in it {
                owned.push(own!(part));
            }
            owned
        });
    };
}

list_of_own!(&'a AnyBuffer, &'a Vec<f32>, &'a cuda::Buffer);
list_of_own!(&'a mut AnyBuffer, &'a mut Vec<f32>, &'a mut cuda::Buffer);
list_of_own!(&'a AnyMap, &'a cpu::Map<f32>, &'a cuda::Map);
list_of_own!(ChainMaps<'a, AnyEngine>, ChainMaps<'a, Cpu<f32>>, ChainMaps<'a, Cuda>);

with_own!(['a] ChainMaps<'a, AnyEngine>, ChainMaps<'a, Cpu<f32>>, ChainMaps<'a, Cuda>, |it, own| ChainMaps {
    tail: own!(it.tail),
    heads: own!(it.heads),
});
with_own!(['a] &JoinedChannels<'a, AnyEngine>, JoinedChannels<'a, Cpu<f32>>, JoinedChannels<'a, Cuda>, |it, own| JoinedChannels {
    biases: own!(it.biases.clone()),
    weights: own!(it.weights),
    normalize: it.normalize,
    dropout: it.dropout,
    readout: own!(it.readout),
});
with_own!(['a] JoinedGradient<'a, AnyEngine>, JoinedGradient<'a, Cpu<f32>>, JoinedGradient<'a, Cuda>, |it, own| {
    let [weight, bias] = it.readout;
    JoinedGradient {
        kept: own!(it.kept),
        dy: own!(it.dy),
        x: own!(it.x),
        biases: own!(it.biases),
        weights: own!(it.weights),
        readout: [own!(weight), own!(bias)],
    }
});
