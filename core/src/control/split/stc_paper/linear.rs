//! Small systems of linear equations.

use alloc::vec;
use alloc::vec::Vec;

/// Largest condition number with which a system is solved. The coefficients are estimates, good to some parts in a hundred at
/// best, and the error of the solution can be so many times that.
const MOST_CONDITION: f64 = 1e6;

/// The solution `x` of `matrix * x = right` (the matrix square, row by row), by LU decomposition with partial pivoting.
///
/// `None` if the system is too near to one without a unique solution for the result to mean anything: if the condition
/// number in the 1-norm is above 10^6, or anything is infinite or undefined. The number is exact, as the inverse of a
/// matrix this small costs nothing.
pub(super) fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let n = right.len();
    let lu = Lu::new(matrix, n)?;
    let inverse_norm = (0..n).map(|column| norm(&lu.solve(&unit(n, column)))).fold(0.0, f64::max);
    let condition = column_norm(matrix, n) * inverse_norm;
    // Also false if it is no number.
    let is_sound = condition <= MOST_CONDITION;
    is_sound.then(|| lu.solve(right)).filter(|x| x.iter().all(|x| x.is_finite()))
}

/// A matrix, rows exchanged, as the product of a lower and an upper triangle; both in one square, row by row.
struct Lu {
    n: usize,
    lu: Vec<f64>,
    /// Which row of the matrix each row comes from.
    rows: Vec<usize>,
}

impl Lu {
    /// `None` if a column has no entry left to divide by.
    fn new(matrix: &[f64], n: usize) -> Option<Self> {
        let mut it = Self { n, lu: matrix.to_vec(), rows: (0..n).collect() };
        for k in 0..n {
            let largest = (k..n).max_by(|&i, &j| it.at(i, k).abs().total_cmp(&it.at(j, k).abs()))?;
            it.exchange(k, largest);
            let pivot = it.at(k, k);
            if pivot == 0.0 || !pivot.is_finite() {
                return None;
            }
            for i in k + 1..n {
                it.eliminate(i, k, it.at(i, k) / pivot);
            }
        }
        Some(it)
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.lu[i * self.n + j]
    }

    fn exchange(&mut self, i: usize, j: usize) {
        self.rows.swap(i, j);
        for column in 0..self.n {
            self.lu.swap(i * self.n + column, j * self.n + column);
        }
    }

    /// Takes `factor` times row `k` from row `i`, and keeps the factor where the entry it makes zero was.
    fn eliminate(&mut self, i: usize, k: usize, factor: f64) {
        for j in k + 1..self.n {
            self.lu[i * self.n + j] -= factor * self.at(k, j);
        }
        self.lu[i * self.n + k] = factor;
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.rows.iter().map(|&row| right[row]).collect();
        for i in 0..self.n {
            x[i] -= (0..i).map(|j| self.at(i, j) * x[j]).sum::<f64>();
        }
        for i in (0..self.n).rev() {
            x[i] -= (i + 1..self.n).map(|j| self.at(i, j) * x[j]).sum::<f64>();
            x[i] /= self.at(i, i);
        }
        x
    }
}

fn unit(n: usize, at: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    out[at] = 1.0;
    out
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

/// The largest sum of magnitudes of a column.
fn column_norm(matrix: &[f64], n: usize) -> f64 {
    let sum = |column: usize| matrix.iter().skip(column).step_by(n).map(|x| x.abs()).sum::<f64>();
    (0..n).map(sum).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Draw, mix};
    use nalgebra::{DMatrix, DVector};

    #[track_caller]
    fn check(matrix: &[f64], right: &[f64], want: Option<&[f64]>) {
        assert_eq!(solve(matrix, right).as_deref(), want, "solution of {matrix:?} x = {right:?}");
    }

    #[test]
    fn small_systems_are_solved() {
        check(&[2.0], &[6.0], Some(&[3.0]));
        check(&[1.0, 2.0, 3.0, 4.0], &[5.0, 11.0], Some(&[1.0, 2.0]));
        // Only with rows exchanged.
        check(&[0.0, 1.0, 2.0, 0.0], &[3.0, 8.0], Some(&[4.0, 3.0]));
    }

    #[test]
    fn what_has_no_sound_solution_gets_none() {
        check(&[0.0], &[1.0], None);
        check(&[1.0, 2.0, 2.0, 4.0], &[1.0, 2.0], None);
        check(&[1.0, 1.0, 1.0, 1.0 + 1e-10], &[1.0, 2.0], None);
        check(&[f64::NAN, 0.0, 0.0, 1.0], &[1.0, 1.0], None);
        check(&[1.0, f64::NAN, 0.0, 1.0], &[1.0, 1.0], None);
        check(&[1.0, 0.0, f64::INFINITY, 1.0], &[1.0, 1.0], None);
        check(&[1.0], &[f64::NAN], None);
    }

    #[test]
    fn solutions_are_those_of_a_matrix_library() {
        let mut solved = 0;
        for seed in 0..500_u64 {
            let random = |n: u64| Draw::from_bits(mix(seed ^ mix(n))).get() - 0.5;
            let n = 1 + (seed % 9) as usize;
            let matrix: Vec<f64> = (0..(n * n) as u64).map(random).collect();
            let right: Vec<f64> = (0..n as u64).map(|i| random(1_000 + i)).collect();
            let Some(got) = solve(&matrix, &right) else { continue };
            let want = DMatrix::from_row_slice(n, n, &matrix).lu().solve(&DVector::from_vec(right));
            let want = want.expect("it was solved by us");
            let off = (DVector::from_vec(got) - &want).amax();
            assert!(off < 1e-9 * want.amax().max(1.0), "seed {seed}, {n} unknowns: off by {off:e}");
            solved += 1;
        }
        assert!(solved > 480, "only {solved} of 500 were solved");
    }
}
