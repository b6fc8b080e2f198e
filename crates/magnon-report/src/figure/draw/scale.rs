//! Axes: from values to pixels, and round numbers between.

use super::number;

/// The values that an axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub low: f64,
    pub high: f64,
}

impl Domain {
    /// From the lowest to the highest value; widened where they are one, or as good as one.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        let size = low.abs().max(high.abs());
        // Below this, rounding would give all ticks one label.
        if high - low <= 1e-9 * size {
            let half = if size == 0.0 { 0.5 } else { 0.1 * size };
            return Self { low: low - half, high: high + half };
        }
        Self { low, high }
    }

    /// A little air above and below, so that no line runs along the frame.
    pub fn airy(self) -> Self {
        let air = 0.04 * (self.high - self.low);
        Self { low: self.low - air, high: self.high + air }
    }

    /// Round numbers inside, about `wanted` of them, with their labels.
    pub fn ticks(self, wanted: usize) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let rough = span / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|&step| step >= 0.999 * rough)
            .unwrap_or(10.0 * power);
        let first = (self.low / step - 1e-6).ceil();
        let last = (self.high / step + 1e-6).floor();
        if !(step > 0.0 && first.is_finite() && last - first < 100.0) {
            return Vec::new();
        }
        let steps = (last - first).max(0.0) as usize;
        let values = (0..=steps).map(|index| (first + index as f64) * step);
        let largest = self.low.abs().max(self.high.abs());
        // Digits that tell two neighbours apart.
        let decimals = (0..9).find(|&d| {
            let scaled = step * 10f64.powi(d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        values
            .map(|value| {
                let label = match decimals {
                    _ if value.abs() < 1e-9 * step => "0".to_owned(),
                    Some(decimals) if largest < 1e6 && step >= 1e-5 => {
                        number::fixed(value, decimals as usize)
                    }
                    _ => {
                        let digits = (value.abs() / step).log10().max(0.0).ceil() as usize + 1;
                        number::scientific(value, digits.min(12))
                    }
                };
                (value, label)
            })
            .collect()
    }

    /// Where a value lies on a stretch of pixels.
    pub fn place(self, value: f64, [start, end]: [f64; 2]) -> f64 {
        start + (value - self.low) / (self.high - self.low) * (end - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        Domain { low, high }.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-1.0, 1.0), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(0.0, 0.5), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(3.0, 17.0), ["5", "10", "15"]);
        assert_eq!(labels(0.0, 1e-8)[1], "2×10⁻⁹");
        assert_eq!(labels(0.0, 4e12)[1], "10¹²");
    }

    #[test]
    fn ticks_are_inside_distinct_and_few_at_any_range() {
        let ends = [-1e300, -1e9, -3.3, -1e-12, 0.0, 1e-300, 1e-7, 0.1, 1.0, 99.9, 1e6, 1e300];
        for (place, &low) in ends.iter().enumerate() {
            for &high in &ends[place..] {
                let domain = Domain::of([low, high]);
                let ticks = domain.ticks(5);
                assert!(ticks.len() <= 12, "{domain:?} {ticks:?}");
                let slack = 1e-6 * (domain.high - domain.low);
                for window in ticks.windows(2) {
                    assert!(window[0].0 < window[1].0 && window[0].1 != window[1].1, "{ticks:?}");
                }
                for (value, _) in ticks {
                    assert!(value >= domain.low - slack && value <= domain.high + slack);
                }
            }
        }
    }

    #[test]
    fn one_value_and_none_get_room() {
        assert_eq!(Domain::of([0.0]), Domain { low: -0.5, high: 0.5 });
        assert_eq!(Domain::of([]), Domain { low: 0.0, high: 1.0 });
        let near = Domain::of([1e9, 1e9 + 1e-6]);
        assert!(near.low < 1e9 && near.high > 1e9 + 1.0);
    }
}
