//! Formats that are recognised, but not read: what they are, and what to do.

/// A format by its look.
struct UnreadFormat {
    name: &'static str,
    endings: &'static [&'static str],
    /// How files of it start, where that is telling.
    start: &'static [u8],
    advice: &'static str,
}

const EDGES: &str = "write its edges to a csv file with the columns source and target";
const TABLE: &str = "save the sheet as csv";

const KNOWN: &[UnreadFormat] = &[
    UnreadFormat { name: "Pajek", endings: &["net", "paj"], start: b"*Vertices", advice: EDGES },
    UnreadFormat { name: "Graphviz", endings: &["dot", "gv"], start: b"digraph", advice: EDGES },
    UnreadFormat { name: "METIS", endings: &["metis"], start: b"\0", advice: EDGES },
    UnreadFormat {
        name: "an Excel sheet",
        endings: &["xlsx", "xls", "ods"],
        start: b"\0",
        advice: TABLE,
    },
    UnreadFormat {
        name: "HDF5",
        endings: &["h5", "hdf5", "hdf"],
        start: b"\x89HDF",
        advice: EDGES,
    },
    UnreadFormat {
        name: "a SQLite database",
        endings: &["sqlite", "db"],
        start: b"SQLite format 3",
        advice: EDGES,
    },
    UnreadFormat {
        name: "MATLAB",
        endings: &["mat"],
        start: b"MATLAB 5.0",
        advice: "save the matrix with scipy.sparse.save_npz or as Matrix Market",
    },
    UnreadFormat {
        name: "an R object",
        endings: &["rds", "rdata", "rda"],
        start: b"RDX",
        advice: EDGES,
    },
    UnreadFormat { name: "Avro", endings: &["avro"], start: b"Obj\x01", advice: EDGES },
    UnreadFormat { name: "ORC", endings: &["orc"], start: b"ORC", advice: EDGES },
    UnreadFormat {
        name: "a graph of DGL",
        endings: &["dgl"],
        start: b"\0",
        advice: "save graph.edges() with numpy or as csv",
    },
    UnreadFormat {
        name: "RDF",
        endings: &["nt", "ttl", "nq", "owl", "rdf"],
        start: b"@prefix",
        advice: "write the triples of one predicate to a csv file with source and target",
    },
    UnreadFormat { name: "GraphSON", endings: &["graphson"], start: b"\0", advice: EDGES },
    UnreadFormat {
        name: "a PDF",
        endings: &["pdf"],
        start: b"%PDF",
        advice: "name the data instead",
    },
    UnreadFormat {
        name: "a web page",
        endings: &["html", "htm"],
        start: b"<!DOCTYPE html",
        advice: "fetch the data behind it",
    },
];

/// What a file is, where it is known and has no reader.
pub(crate) fn recognise(name: &str, start: &[u8]) -> Option<String> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let content = start.trim_ascii_start();
    let by_start = |known: &&UnreadFormat| {
        known.start != b"\0"
            && content.get(..known.start.len()).is_some_and(|s| s.eq_ignore_ascii_case(known.start))
    };
    let by_ending = |known: &&UnreadFormat| {
        ending.as_deref().is_some_and(|ending| known.endings.contains(&ending))
    };
    let found = KNOWN.iter().find(by_start).or_else(|| KNOWN.iter().find(by_ending))?;
    Some(format!("this is {}, which is not read here; {}", found.name, found.advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named() {
        let name = |name: &str, start: &[u8]| recognise(name, start).unwrap_or_default();
        assert!(name("g.net", b"*Vertices 3\n").starts_with("this is Pajek"));
        assert!(name("g.txt", b"*vertices 3\n").starts_with("this is Pajek"));
        assert!(name("g.bin", b"\x89HDF\r\n").starts_with("this is HDF5"));
        assert!(name("a.xlsx", b"PK").starts_with("this is an Excel sheet"));
        assert_eq!(recognise("g.txt", b"0 1\n"), None);
        assert_eq!(recognise("g", b""), None);
    }
}
