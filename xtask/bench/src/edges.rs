//! Reading edge lists.

use crate::Places;
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use magnon::data::{LoadConfig, load};
use serde_json::json;

const ROUNDS: usize = 21;

/// File, separator and comment mark, as pandas wants to be told.
const FILES: [(&str, &str, Option<&str>); 3] = [
    ("wiki-Vote.txt", "\t", Some("#")),
    ("p2p-Gnutella31.txt", ",", None),
    ("soc-Epinions1.txt.zip", "\t", Some("#")),
];

pub fn measure(places: &Places, peers: &mut Worker) -> anyhow::Result<Table> {
    let mut table = Table::default();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let config = LoadConfig::default();
    for (name, sep, comment) in FILES {
        let Some(folder) = &places.data else { continue };
        let path = folder.join("large").join(name);
        let request =
            json!({ "task": "pandas_edges", "path": path, "sep": sep, "comment": comment });
        let [mut ours1, mut ours2, mut pandas]: [Times; 3] = Default::default();
        for _ in 0..ROUNDS {
            let (seconds, loaded) = time(|| one.install(|| load(&path, &config)));
            loaded?;
            ours1.push(seconds);
            pandas.push(peers.seconds(&request)?);
            let (seconds, loaded) = time(|| two.install(|| load(&path, &config)));
            loaded?;
            ours2.push(seconds);
        }
        table.row(&format!("{name}, 1 thread"), "pandas C reader", &ours1, &pandas);
        table.row(&format!("{name}, 2 threads"), "pandas C reader", &ours2, &pandas);
    }
    table.note(format!(
        "From the page cache to a finished graph (ids compacted, rows sorted) on our side, to a data \
         frame on pandas'. Medians of {ROUNDS} interleaved rounds."
    ));
    Ok(table)
}
