//! How rough a signal is.

use super::DenoiseError;
use crate::matrix::Matrix;
use crate::operator::{MagneticOperator, Normalize};
use num_complex::Complex64;

/// Dirichlet energy of every column,
///
/// S_p(x) = (1/p) Σ_u ‖∇_u x‖^p,  ‖∇_u x‖² = Σ_v |A_s(u,v)|·|y(u) − s(u,v)·T_q(u,v)·y(v)|²,
///
/// where s is the sign of A_s, y = D^{-1/2}x under the symmetric normalisation and y = x otherwise.
/// S₂(x) is x*L_q x, apart from nodes without edges, which have no gradient. This is the paper's
/// definition with the phase of L_q in it; its last line, a sum over edges of |·|^p, is the same for
/// p = 2 only.
pub fn dirichlet_energy(
    operator: &MagneticOperator,
    signal: &Matrix<Complex64>,
    p: f64,
) -> Result<Vec<f64>, DenoiseError> {
    let nodes = operator.nodes();
    if signal.rows() != nodes {
        return Err(DenoiseError::Shape { rows: signal.rows(), nodes });
    }
    if !(p >= 1.0 && p.is_finite()) {
        return Err(DenoiseError::Power(p));
    }
    if operator.config().normalize == Normalize::Directed {
        return Ok(directed_energy(operator, signal, p));
    }
    let symmetric = operator.config().normalize == Normalize::Symmetric;
    let factor = |u: usize| match operator.degrees()[u] {
        degree if symmetric && degree > 0.0 => degree.sqrt().recip(),
        _ => 1.0,
    };
    let mut energies = vec![0.0; signal.cols()];
    let mut squares = vec![0.0; signal.cols()];
    for u in 0..nodes {
        squares.fill(0.0);
        for (v, forward, back) in operator.pattern().row(u).filter(|&(v, ..)| v != u) {
            let weight = operator.symmetric(forward, back);
            let (cos, sin) = operator.turn(forward, back);
            let turn = Complex64::new(cos, sin) * factor(v).copysign(weight);
            for (j, square) in squares.iter_mut().enumerate() {
                let step = factor(u) * signal.row(u)[j] - turn * signal.row(v)[j];
                *square += weight.abs() * step.norm_sqr();
            }
        }
        add_power(&mut energies, &squares, p);
    }
    Ok(energies)
}

/// Adds ‖∇_u x‖^p / p to every column's energy.
fn add_power(energies: &mut [f64], squares: &[f64], p: f64) {
    energies.iter_mut().zip(squares).for_each(|(energy, &square)| {
        *energy += if p == 2.0 { square } else { square.max(0.0).powf(0.5 * p) } / p;
    });
}

/// The same where degrees out and in are divided out: an edge u → v compares a(u)x(u) with
/// e^{i2πq}b(v)x(v), a = D_out^{-1/2} and b = D_in^{-1/2}, and counts half at either end.
fn directed_energy(operator: &MagneticOperator, signal: &Matrix<Complex64>, p: f64) -> Vec<f64> {
    let (cos, sin) = operator.turn(1.0, 0.0);
    let turn = Complex64::new(cos, sin);
    let loops = f64::from(u8::from(operator.config().self_loops));
    let mut energies = vec![0.0; signal.cols()];
    let mut squares = vec![0.0; signal.cols()];
    for u in 0..operator.nodes() {
        squares.fill(0.0);
        let own = (loops != 0.0).then_some((u, loops, loops));
        for (v, out, back) in operator.pattern().row(u).chain(own) {
            let ends = [(u, v, out, turn), (v, u, back, turn)].map(|(from, to, weight, turn)| {
                let (a, b) = operator.ends(from, to);
                (from, to, weight, a, turn * b.copysign(weight))
            });
            for (from, to, weight, a, b) in ends {
                for (j, square) in squares.iter_mut().enumerate() {
                    let step = a * signal.row(from)[j] - b * signal.row(to)[j];
                    *square += 0.5 * weight.abs() * step.norm_sqr();
                }
            }
        }
        add_power(&mut energies, &squares, p);
    }
    energies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::operator::{Charge, Kind, OperatorConfig};

    /// S₂ is the quadratic form; other p by hand on two edges.
    #[test]
    fn energies_follow_their_definition() {
        let number = |i: usize| ((i * 37 + 11) % 101) as f64 / 50.0 - 1.0;
        let cells = (0..180).map(|i| Complex64::new(number(i), number(3 * i + 7)));
        let x = Matrix::from_vec(60, 3, cells.collect()).unwrap();
        let config = GeneratorConfig { nodes: 60, density: 0.15, ..Default::default() };
        let plain = generate(&config, 2).unwrap().graph;
        let sign = |u: u32, v: u32| if (3 * u + v).is_multiple_of(4) { -1.0 } else { 1.0 };
        let weight = |u: u32, v: u32| sign(u, v) * ((u + 2 * v) % 5 + 1) as f32 / 2.0;
        let edges = plain.iter().map(|(u, v)| (u, v, weight(u, v)));
        let graph = GraphBuilder::new(60).weighted_edges(edges).build().unwrap().graph;
        let charge = Charge::fraction(1, 5).unwrap();
        for normalize in [Normalize::Symmetric, Normalize::None, Normalize::Directed] {
            let operator_config =
                OperatorConfig { normalize, charge, kind: Kind::Laplacian, ..Default::default() };
            let operator = MagneticOperator::new(&graph, &operator_config).unwrap();
            let energies = dirichlet_energy(&operator, &x, 2.0).unwrap();
            for (j, energy) in energies.iter().enumerate() {
                let form: Complex64 = (0..60)
                    .flat_map(|u| operator.row(u).map(move |(v, l)| (u, v, l)))
                    .map(|(u, v, l)| x.row(u)[j].conj() * l * x.row(v)[j])
                    .sum();
                assert!((form.re - energy).abs() < 1e-10 * energy && form.im.abs() < 1e-10);
            }
        }
        let path = GraphBuilder::new(3).edges([(0, 1), (1, 2)]).build().unwrap().graph;
        let plain = OperatorConfig { normalize: Normalize::None, ..Default::default() };
        let operator = MagneticOperator::new(&path, &plain).unwrap();
        let cells = [0.0, 3.0, 7.0].map(Complex64::from).to_vec();
        let x = Matrix::from_vec(3, 1, cells).unwrap();
        // Gradients 3, 5 and 4.
        assert!((dirichlet_energy(&operator, &x, 1.0).unwrap()[0] - 12.0).abs() < 1e-12);
        assert!((dirichlet_energy(&operator, &x, 3.0).unwrap()[0] - 72.0).abs() < 1e-12);
        assert_eq!(dirichlet_energy(&operator, &x, 0.5), Err(DenoiseError::Power(0.5)));
    }
}
