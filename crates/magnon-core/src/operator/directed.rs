//! Degrees out and in, divided out apart.
//!
//! With P = D_out^{-1/2} A D_in^{-1/2}, where degrees are sums of |A|, and θ = 2πq,
//!
//! S_q = ½(e^{iθ}P + e^{−iθ}Pᵀ).
//!
//! - **Hermitian**: P is real, so (e^{iθ}P)ᴴ = e^{−iθ}Pᵀ.
//! - **Spectrum within \[−1, 1\]**: by Cauchy and Schwarz
//!   |x*Py| ≤ Σ |A(u,v)|·|x(u)|/√d_out(u) · |y(v)|/√d_in(v) ≤ ‖x‖·‖y‖, so ‖P‖ ≤ 1 and ‖S_q‖ ≤ ½(‖P‖ + ‖Pᵀ‖) ≤ 1.
//! - **Two charges span all**: S_q = cos θ·S_0 + sin θ·S_¼ with S_0 = ½(P + Pᵀ) and S_¼ = (i/2)(P − Pᵀ).
//!   P = S_0 − iS_¼ and Pᵀ = S_0 + iS_¼, so polynomials in both reach every word of steps out and in.
//!   Charges mixed along a word tell PPᵀ from PᵀP: S_0·S_¼ = (i/4)(P² − PPᵀ + PᵀP − PᵀPᵀ).
//! - **Reversing all edges conjugates**: A becomes Aᵀ, out and in change places, P becomes Pᵀ, and S_q its conjugate.
//! - **Edges both ways** (2-cycles) are ½(e^{iθ}P(u,v) + e^{−iθ}P(v,u)). Where both weigh the same that is
//!   cos θ·P(u,v): it fades as the charge nears ¼, where the other normalisations keep it whole. An added self loop is such
//!   a 2-cycle with itself. A symmetric graph has S_q = cos θ·P, so its charges differ by a factor, and only by that.
//!
//! Weights count in P, with their sign; the phase is that of the direction.

use super::MagneticOperator;
use crate::compute::pattern::{BACKWARD, BOTH, FORWARD, PADDING, Weights};
use crate::compute::tile::{CoefficientStore, Real};

impl MagneticOperator {
    /// ½(e^{iθ}P(u,v) + e^{−iθ}P(v,u)) from A(u,v) and A(v,u).
    pub(super) fn directed_entry(&self, u: usize, v: usize, out: f64, back: f64) -> [f64; 2] {
        let (cos, sin) = self.config().charge.phase(1.0);
        let out = out * self.left(u) * self.right(v);
        let back = back * self.left(v) * self.right(u);
        [0.5 * cos * (out + back), 0.5 * sin * (out - back)]
    }

    /// 1/√d_out of one node and 1/√d_in of another; 0 where there is no degree.
    pub(crate) fn ends(&self, from: usize, to: usize) -> (f64, f64) {
        (self.left(from), self.right(to))
    }

    /// The coefficients of the whole product: on a graph without weights two factors for each node and the class of
    /// an entry, so that an entry stays one `u32`.
    pub(super) fn directed_coefficients<T: Real>(&self) -> CoefficientStore<T> {
        let nodes = 0..self.nodes();
        if let Weights::Unit = self.pattern.weights {
            let mut classes = [[T::ZERO; 2]; 4];
            let one = T::from_f64(1.0);
            classes[BOTH as usize] = [one, one];
            classes[FORWARD as usize] = [one, T::ZERO];
            classes[BACKWARD as usize] = [T::ZERO, one];
            let (cos, sin) = self.config().charge.phase(1.0);
            let turn = [T::from_f64(0.5 * cos), T::from_f64(0.5 * sin)];
            let factors = nodes.map(|u| [self.left(u), self.right(u)].map(T::from_f64)).collect();
            return CoefficientStore::Degrees { classes, factors, turn };
        }
        let entry = |u: usize, (v, out, back)| self.entry(u, v, out, back).map(T::from_f64);
        let rows = nodes.flat_map(|u| self.pattern.row(u).map(move |found| entry(u, found)));
        let mut values: Vec<[T; 2]> = rows.collect();
        values.resize(values.len() + PADDING, [T::ZERO; 2]);
        CoefficientStore::Entries(values)
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::graph::{DiGraph, GraphBuilder};
    use crate::operator::{Charge, Kind, MagneticOperator, Normalize, OperatorConfig};
    use faer::Mat;
    use num_complex::Complex64;

    fn matrix(graph: &DiGraph, charge: (u32, u32), self_loops: bool) -> Mat<Complex64> {
        let charge = match charge.0 {
            0 => Charge::ZERO,
            p => Charge::fraction(p, charge.1).unwrap(),
        };
        let normalize = Normalize::Directed;
        let config = OperatorConfig { charge, normalize, self_loops, ..Default::default() };
        let operator = MagneticOperator::new(graph, &config).unwrap();
        let mut dense = Mat::zeros(graph.nodes(), graph.nodes());
        for u in 0..graph.nodes() {
            operator.row(u).for_each(|(v, value)| dense[(u, v)] = value);
        }
        dense
    }

    /// P by its definition, from the graph alone.
    fn steps(graph: &DiGraph, self_loops: bool) -> Mat<Complex64> {
        let n = graph.nodes();
        let mut a = Mat::<f64>::zeros(n, n);
        for u in 0..n {
            for (k, &v) in graph.targets(u).iter().enumerate() {
                a[(u, v as usize)] = graph.weights(u).map_or(1.0, |w| f64::from(w[k]));
            }
            a[(u, u)] += f64::from(u8::from(self_loops));
        }
        let out: Vec<f64> = (0..n).map(|u| (0..n).map(|v| a[(u, v)].abs()).sum()).collect();
        let back: Vec<f64> = (0..n).map(|v| (0..n).map(|u| a[(u, v)].abs()).sum()).collect();
        Mat::from_fn(n, n, |u, v| {
            let product: f64 = out[u] * back[v];
            Complex64::from(if product == 0.0 { 0.0 } else { a[(u, v)] / product.sqrt() })
        })
    }

    fn far(a: &Mat<Complex64>, b: &Mat<Complex64>) -> f64 {
        (a - b).norm_max()
    }

    fn graphs() -> Vec<DiGraph> {
        let config = GeneratorConfig { nodes: 40, density: 0.1, ..Default::default() };
        let drawn = generate(&config, 3).unwrap().graph;
        let edges =
            [(0, 1, 2.0), (1, 0, -0.5), (1, 2, 1.5), (3, 1, 1.0), (2, 4, -3.0), (4, 4, 2.0)];
        let builder = GraphBuilder::new(6).self_loops(crate::graph::SelfLoops::Keep);
        vec![drawn, builder.weighted_edges(edges).build().unwrap().graph]
    }

    #[test]
    fn entries_follow_the_definition() {
        for graph in graphs() {
            for self_loops in [false, true] {
                let p = steps(&graph, self_loops);
                for charge in [(0, 1), (1, 7), (1, 4), (1, 2)] {
                    let turn = Complex64::cis(
                        std::f64::consts::TAU * f64::from(charge.0) / f64::from(charge.1),
                    );
                    let n = graph.nodes();
                    let expected = Mat::from_fn(n, n, |u, v| {
                        0.5 * (turn * p[(u, v)] + turn.conj() * p[(v, u)])
                    });
                    let built = matrix(&graph, charge, self_loops);
                    assert!(far(&built, &expected) < 1e-15);
                    assert!(far(&built, &built.adjoint().to_owned()) < 1e-16);
                    let values = built.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
                    assert!(values.iter().all(|value| value.abs() < 1.0 + 1e-12));
                }
            }
        }
    }

    /// P = S_0 − iS_¼, and a word of both charges is the difference of words of steps.
    #[test]
    fn two_charges_span_all_words() {
        for graph in graphs() {
            let p = steps(&graph, false);
            let back = p.transpose().to_owned();
            let (zero, quarter) = (matrix(&graph, (0, 1), false), matrix(&graph, (1, 4), false));
            let i = faer::Scale(Complex64::I);
            assert!(far(&(&zero - i * &quarter), &p) < 1e-15);
            assert!(far(&(&zero + i * &quarter), &back) < 1e-15);
            let words = &p * &p - &p * &back + &back * &p - &back * &back;
            let words = faer::Scale(Complex64::new(0.0, 0.25)) * words;
            assert!(far(&(&zero * &quarter), &words) < 1e-15);
        }
    }

    #[test]
    fn reversing_conjugates() {
        for graph in graphs() {
            let reversed = matrix(&graph.transpose(), (1, 5), true);
            assert!(far(&reversed, &matrix(&graph, (1, 5), true).conjugate().to_owned()) < 1e-15);
        }
    }

    #[test]
    fn weights_are_no_phase() {
        let graph = &graphs()[1];
        let phase = crate::operator::Phase::Weight;
        let config = OperatorConfig { phase, normalize: Normalize::Directed, ..Default::default() };
        let refused = MagneticOperator::new(graph, &config).unwrap_err();
        assert!(refused.to_string().contains("weights cannot be its phase"));
    }

    /// The tile kernel, the rows and the Laplacian tell the same.
    #[test]
    fn products_are_those_of_the_rows() {
        for graph in graphs() {
            for kind in [Kind::Adjacency, Kind::NegatedAdjacency, Kind::Laplacian] {
                let charge = Charge::fraction(1, 6).unwrap();
                let normalize = Normalize::Directed;
                let config = OperatorConfig { charge, normalize, kind, ..Default::default() };
                let operator = MagneticOperator::new(&graph, &config).unwrap();
                let n = graph.nodes();
                let number = |i: usize| ((i * 29) % 97) as f32 / 48.0 - 1.0;
                let values =
                    (0..n * 9).map(|i| num_complex::Complex32::new(number(i), number(3 * i + 1)));
                let x = crate::matrix::Matrix::from_vec(n, 9, values.collect()).unwrap();
                let product = operator.apply(&x);
                for u in 0..n {
                    for j in 0..9 {
                        let wide =
                            |z: num_complex::Complex32| Complex64::new(z.re.into(), z.im.into());
                        let sum: Complex64 =
                            operator.row(u).map(|(v, s)| s * wide(x.row(v)[j])).sum();
                        assert!((sum - wide(product.row(u)[j])).norm() < 1e-5);
                    }
                }
            }
        }
    }
}
