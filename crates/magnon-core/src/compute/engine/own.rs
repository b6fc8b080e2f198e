//! What an operation is given, as the chosen engine's own.

use super::{Buffer, Map};
use crate::compute::attention::{Attention, AttentionGradient};
use crate::compute::chains::ChainMaps;
use crate::compute::joined_channels::{JoinedChannels, JoinedGradient};
use crate::compute::operands::Factor;
use crate::compute::{Cpu, EngineError, cpu};

#[cfg(feature = "cuda")]
use crate::compute::cuda::{self, Cuda};

/// What an operation was given, as the engine's own.
pub(super) trait Own {
    type Cpu;
    fn cpu(self) -> Result<Self::Cpu, EngineError>;
    type Double;
    fn double(self) -> Result<Self::Double, EngineError>;
    #[cfg(feature = "cuda")]
    type Cuda;
    #[cfg(feature = "cuda")]
    fn cuda(self) -> Result<Self::Cuda, EngineError>;
}

pub(super) fn foreign() -> EngineError {
    EngineError::Unsupported("a matrix of another engine".to_owned())
}

/// A variant of an enum as the engine's own.
macro_rules! own {
    ($given:ty, $cpu:ty, $double:ty, $cuda:ty, $enum:ident) => {
        impl<'a> Own for $given {
            type Cpu = $cpu;
            fn cpu(self) -> Result<$cpu, EngineError> {
                if let $enum::Cpu(own) = self { Ok(own) } else { Err(foreign()) }
            }
            type Double = $double;
            fn double(self) -> Result<$double, EngineError> {
                if let $enum::Double(own) = self { Ok(own) } else { Err(foreign()) }
            }
            #[cfg(feature = "cuda")]
            type Cuda = $cuda;
            #[cfg(feature = "cuda")]
            fn cuda(self) -> Result<$cuda, EngineError> {
                if let $enum::Cuda(own) = self { Ok(own) } else { Err(foreign()) }
            }
        }
    };
}

own!(&'a Buffer, &'a Vec<f32>, &'a Vec<f64>, &'a cuda::Buffer, Buffer);
own!(&'a mut Buffer, &'a mut Vec<f32>, &'a mut Vec<f64>, &'a mut cuda::Buffer, Buffer);
own!(&'a Map, &'a cpu::Map<f32>, &'a cpu::Map<f64>, &'a cuda::Map, Map);

/// Something with a part that the engine has to own.
macro_rules! with_own {
    ([$($life:tt)*] $given:ty, $cpu:ty, $double:ty, $cuda:ty, |$it:ident, $own:ident| $body:expr) => {
        impl<$($life)*> Own for $given {
            type Cpu = $cpu;
            fn cpu(self) -> Result<$cpu, EngineError> {
                let $it = self;
                macro_rules! $own { ($part:expr) => { Own::cpu($part)? } }
                Ok($body)
            }
            type Double = $double;
            fn double(self) -> Result<$double, EngineError> {
                let $it = self;
                macro_rules! $own { ($part:expr) => { Own::double($part)? } }
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

with_own!(['a, T] (&'a Buffer, T), (&'a Vec<f32>, T), (&'a Vec<f64>, T), (&'a cuda::Buffer, T), |it, own| (own!(it.0), it.1));
with_own!(['a, T] (&'a mut Buffer, T), (&'a mut Vec<f32>, T), (&'a mut Vec<f64>, T), (&'a mut cuda::Buffer, T), |it, own| (own!(it.0), it.1));
with_own!(['a] Option<&'a Buffer>, Option<&'a Vec<f32>>, Option<&'a Vec<f64>>, Option<&'a cuda::Buffer>, |it, own| match it {
    Some(buffer) => Some(own!(buffer)),
    None => None,
});
with_own!(['a] Factor<'a, Buffer>, Factor<'a, Vec<f32>>, Factor<'a, Vec<f64>>, Factor<'a, cuda::Buffer>, |it, own| Factor {
    buffer: own!(it.buffer),
    shape: it.shape,
    adjoint: it.adjoint,
});
with_own!(['a] &Attention<'a>, Attention<'a, Cpu<f32>>, Attention<'a, Cpu<f64>>, Attention<'a, Cuda>, |it, own| Attention {
    edges: own!(it.edges),
    features: own!(it.features),
    source: own!(it.source),
    target: own!(it.target),
    heads: it.heads,
    rows: it.rows,
    slope: it.slope,
    dropout: it.dropout,
});
with_own!(['a] AttentionGradient<'a>, AttentionGradient<'a, Cpu<f32>>, AttentionGradient<'a, Cpu<f64>>, AttentionGradient<'a, Cuda>, |it, own| {
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
    ($given:ty, $cpu:ty, $double:ty, $cuda:ty) => {
        with_own!(['a] Vec<$given>, Vec<$cpu>, Vec<$double>, Vec<$cuda>, |it, own| {
            let mut owned = Vec::with_capacity(it.len());
            for part in it {
                owned.push(own!(part));
            }
            owned
        });
    };
}

list_of_own!(&'a Buffer, &'a Vec<f32>, &'a Vec<f64>, &'a cuda::Buffer);
list_of_own!(&'a mut Buffer, &'a mut Vec<f32>, &'a mut Vec<f64>, &'a mut cuda::Buffer);
list_of_own!(&'a Map, &'a cpu::Map<f32>, &'a cpu::Map<f64>, &'a cuda::Map);
list_of_own!(ChainMaps<'a>, ChainMaps<'a, Cpu<f32>>, ChainMaps<'a, Cpu<f64>>, ChainMaps<'a, Cuda>);

with_own!(['a] ChainMaps<'a>, ChainMaps<'a, Cpu<f32>>, ChainMaps<'a, Cpu<f64>>, ChainMaps<'a, Cuda>, |it, own| ChainMaps {
    tail: own!(it.tail),
    heads: own!(it.heads),
});
with_own!(['a] &JoinedChannels<'a>, JoinedChannels<'a, Cpu<f32>>, JoinedChannels<'a, Cpu<f64>>, JoinedChannels<'a, Cuda>, |it, own| JoinedChannels {
    biases: own!(it.biases.clone()),
    weights: own!(it.weights),
    normalize: it.normalize,
    dropout: it.dropout,
    readout: own!(it.readout),
});
with_own!(['a] JoinedGradient<'a>, JoinedGradient<'a, Cpu<f32>>, JoinedGradient<'a, Cpu<f64>>, JoinedGradient<'a, Cuda>, |it, own| {
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
