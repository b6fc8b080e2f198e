//! Recurrences that evaluate a polynomial of an operator on a block of columns, for every place where blocks can be.
//!
//! A basis of polynomials with p_0 = 1 and
//!
//! p_k(λ) = α_k·λ p_{k−1}(λ) + γ_k·p_{k−2}(λ)
//!
//! gives Σ c_k p_k(S̃) x in two ways. Downwards, by Horner's rule or Clenshaw's,
//!
//! b_k = α_{k+1}·S̃ b_{k+1} + γ_{k+2}·b_{k+2} + c_k x,
//!
//! the sum is b_0. Upwards, the t_k = p_k(S̃) x are computed and added one by one. If the result is wanted on some nodes, the
//! targets, b_k is needed within k steps of them. The adjoint goes from the targets outwards: there t_k is zero beyond k
//! steps. So a filter goes down and its adjoint goes up.

/// The factors of one step, `next` ← scale·S̃ `now` + keep·`next` + θ·x.
#[derive(Clone, Copy)]
pub struct Factors {
    pub scale: f64,
    pub keep: f64,
    pub theta: f64,
}

/// The polynomials p_k of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// λ^k.
    Powers,
    /// T_k(λ).
    Chebyshev,
}

impl Basis {
    /// α_k and γ_k, for k from 1 on.
    pub fn terms(self, k: usize) -> [f64; 2] {
        match (self, k) {
            (Self::Powers, _) | (Self::Chebyshev, 1) => [1.0, 0.0],
            (Self::Chebyshev, _) => [2.0, -1.0],
        }
    }

    /// Factors of the step to t_k = p_k(S̃) x.
    pub fn up(self, k: usize) -> Factors {
        let [scale, keep] = self.terms(k);
        Factors { scale, keep, theta: 0.0 }
    }

    /// Factors of the step to b_k, where b_k is zero above k = `last`.
    fn down(self, k: usize, last: usize, theta: f64) -> Factors {
        let [scale, _] = self.terms(k + 1);
        let [_, keep] = if k + 1 < last { self.terms(k + 2) } else { [0.0; 2] };
        Factors { scale, keep, theta }
    }
}

/// The blocks that a recurrence works in. A step reads `now` and writes over the block before it.
pub(crate) struct Pair<B> {
    pub now: B,
    pub next: B,
}

impl<B> Pair<B> {
    fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

/// S̃ = (S − centre) / half width, or its adjoint, in the place where its blocks are.
pub(crate) trait BlockOperator {
    /// A few columns of all nodes.
    type Block;
    /// Why a step was not made.
    type Error;

    /// `b` ← θ·x on the nodes within so many steps of the targets.
    fn start(
        &mut self,
        theta: f64,
        x: &Self::Block,
        b: &mut Self::Block,
        within: usize,
    ) -> Result<(), Self::Error>;

    /// `next` ← scale·S̃ `now` + keep·`next` + θ·x, from the nodes within some steps of the targets to those within others.
    /// What is not kept is not read; it may be anything.
    fn step(
        &mut self,
        factors: Factors,
        x: Option<&Self::Block>,
        pair: &mut Pair<Self::Block>,
        within: [usize; 2],
    ) -> Result<(), Self::Error>;
}

/// What the way up needs besides.
pub(crate) trait Accumulate: BlockOperator {
    /// `b` ← 0 on all nodes.
    fn clear(&mut self, b: &mut Self::Block) -> Result<(), Self::Error>;

    /// `y` ← `y` + c·t on the nodes within so many steps of the targets.
    fn add(
        &mut self,
        c: f64,
        t: &Self::Block,
        y: &mut Self::Block,
        within: usize,
    ) -> Result<(), Self::Error>;
}

/// Σ c_k p_k(S̃) x into `pair.now`, by Horner's rule or Clenshaw's.
pub(crate) fn down<O: BlockOperator>(
    operator: &mut O,
    (c, basis): (&[f64], Basis),
    x: &O::Block,
    pair: &mut Pair<O::Block>,
) -> Result<(), O::Error> {
    let (highest, rest) = c.split_last().unwrap_or((&0.0, &[]));
    let last = rest.len();
    operator.start(*highest, x, &mut pair.now, last)?;
    for (k, &c) in rest.iter().enumerate().rev() {
        operator.step(basis.down(k, last, c), Some(x), pair, [k + 1, k])?;
        pair.swap();
    }
    Ok(())
}

/// Σ c_k p_k(S̃) x into `y`, on nodes that grow by a step each time.
pub(crate) fn up<O: Accumulate>(
    operator: &mut O,
    (c, basis): (&[f64], Basis),
    x: &O::Block,
    pair: &mut Pair<O::Block>,
    y: &mut O::Block,
) -> Result<(), O::Error> {
    operator.clear(y)?;
    if basis != Basis::Powers {
        // A step keeps more rows than the step before the last has written.
        operator.clear(&mut pair.now)?;
        operator.clear(&mut pair.next)?;
    }
    operator.start(1.0, x, &mut pair.now, 0)?;
    for (k, &c) in c.iter().enumerate() {
        if k > 0 {
            operator.step(basis.up(k), None, pair, [k - 1, k])?;
            pair.swap();
        }
        operator.add(c, &pair.now, y, k)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number λ as an operator on numbers.
    struct Number(f64);

    impl BlockOperator for Number {
        type Block = f64;
        type Error = ();

        fn start(&mut self, theta: f64, x: &f64, b: &mut f64, _: usize) -> Result<(), ()> {
            *b = theta * x;
            Ok(())
        }

        fn step(
            &mut self,
            factors: Factors,
            x: Option<&f64>,
            pair: &mut Pair<f64>,
            _: [usize; 2],
        ) -> Result<(), ()> {
            let Factors { scale, keep, theta } = factors;
            let kept = if keep == 0.0 { 0.0 } else { keep * pair.next };
            pair.next = scale * self.0 * pair.now + kept + x.map_or(0.0, |x| theta * x);
            Ok(())
        }
    }

    impl Accumulate for Number {
        fn clear(&mut self, b: &mut f64) -> Result<(), ()> {
            *b = 0.0;
            Ok(())
        }

        fn add(&mut self, c: f64, t: &f64, y: &mut f64, _: usize) -> Result<(), ()> {
            *y += c * t;
            Ok(())
        }
    }

    /// Both ways against λ^k and cos(k arccos λ), with rubbish in the blocks.
    #[test]
    fn both_ways_sum_the_series() {
        let all = [0.5, -1.5, 0.25, 2.0, -0.75];
        for (basis, terms) in
            [Basis::Powers, Basis::Chebyshev].into_iter().flat_map(|b| (0..=5).map(move |n| (b, n)))
        {
            let (c, lambda, x) = (&all[..terms], 0.3f64, 1.7);
            let value = |k: usize| match basis {
                Basis::Powers => lambda.powi(k as i32),
                Basis::Chebyshev => (k as f64 * lambda.acos()).cos(),
            };
            let exact: f64 = c.iter().enumerate().map(|(k, c)| c * value(k) * x).sum();
            let pair = || Pair { now: f64::NAN, next: f64::NAN };
            let (mut one, mut other, mut y) = (pair(), pair(), f64::NAN);
            down(&mut Number(lambda), (c, basis), &x, &mut one).unwrap();
            up(&mut Number(lambda), (c, basis), &x, &mut other, &mut y).unwrap();
            assert!((one.now - exact).abs() < 1e-14, "{basis:?} {terms}");
            assert!((y - exact).abs() < 1e-14, "{basis:?} {terms}");
        }
    }
}
