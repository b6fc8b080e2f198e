//! What the paper prints.

/// The data sets of the paper, in its order.
pub(super) const NAMES: [&str; 7] =
    ["corar", "citeseerr", "pubmed", "cornell", "texas", "washington", "wisconsin"];

/// Their names as the paper writes them.
pub(super) const TITLES: [&str; 7] =
    ["CoRAR", "CiteSeerR", "PubMed", "Cornell", "Texas", "Washington", "Wisconsin"];

/// Nodes, edges, features and classes.
pub(super) const STATISTICS: [[usize; 4]; 7] = [
    [2680, 5148, 302, 7],
    [3191, 4172, 768, 6],
    [19717, 44101, 500, 3],
    [195, 250, 1703, 5],
    [187, 199, 1703, 5],
    [230, 342, 1703, 5],
    [265, 382, 1703, 5],
];

/// Accuracies of the main table in per cent; `None` where the paper ran out of memory.
pub(super) const ACCURACY: [(&str, [Option<f64>; 7]); 11] = [
    ("chebynet", all([69.51, 63.40, 82.93, 70.51, 81.58, 73.91, 77.36])),
    ("gcn", all([73.08, 68.04, 84.44, 42.31, 47.37, 56.52, 49.06])),
    ("sgc", all([73.83, 67.75, 78.92, 41.03, 55.26, 59.78, 50.00])),
    ("ppnp", all([78.74, 67.91, 84.79, 70.51, 80.26, 80.43, 76.41])),
    ("appnp", all([77.77, 67.87, 85.15, 66.67, 77.63, 79.35, 76.42])),
    ("gdc-ppr", all([78.87, 68.66, 82.83, 65.38, 73.68, 80.43, 74.53])),
    (
        "gdc-hkpr",
        [Some(77.97), Some(69.67), None, Some(46.15), Some(55.26), Some(56.52), Some(50.94)],
    ),
    ("s2gc", all([80.29, 68.56, 80.36, 41.03, 57.89, 54.35, 58.49])),
    ("digcn", [Some(74.07), Some(68.06), None, Some(55.84), Some(63.16), Some(52.17), Some(55.68)]),
    ("magnet", all([73.52, 66.34, 84.37, 71.79, 72.37, 68.48, 55.66])),
    ("mgc", all([79.83, 68.47, 85.51, 79.49, 84.21, 83.70, 83.02])),
];

const fn all(values: [f64; 7]) -> [Option<f64>; 7] {
    let mut out = [None; 7];
    let mut k = 0;
    while k < 7 {
        out[k] = Some(values[k]);
        k += 1;
    }
    out
}

/// The charge that the paper gives MagNet on each data set.
pub(super) const MAGNET_CHARGES: [&str; 7] = ["0", "0", "0", "0.2", "0.25", "0.2", "0.15"];

/// Orders of the comparison of filters.
pub(super) const ORDERS: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];

/// Accuracies of the linear classifier: data set, filter, one figure for each order.
pub(super) const BY_ORDER: [(&str, &str, [f64; 8]); 6] = [
    ("corar", "markov", [70.85, 74.84, 77.42, 79.26, 80.27, 79.26, 74.75, 65.15]),
    ("corar", "linear-rank", [57.91, 64.31, 71.15, 76.68, 78.87, 80.18, 78.56, 74.18]),
    ("citeseerr", "markov", [66.88, 67.73, 69.17, 68.91, 69.06, 67.36, 67.84, 66.77]),
    ("citeseerr", "linear-rank", [61.22, 64.95, 67.80, 68.43, 68.72, 68.13, 67.28, 67.36]),
    ("pubmed", "markov", [79.39, 78.32, 76.67, 74.61, 72.72, 71.97, 71.29, 65.40]),
    ("pubmed", "linear-rank", [80.94, 80.66, 79.70, 77.63, 75.00, 72.85, 72.04, 71.20]),
];

/// Accuracies of MGC at q = 0 and at the charge of its preset.
pub(super) const BY_CHARGE: [(&str, [f64; 2]); 4] = [
    ("cornell", [76.92, 79.49]),
    ("texas", [76.32, 86.84]),
    ("washington", [78.26, 82.61]),
    ("wisconsin", [75.47, 83.02]),
];
