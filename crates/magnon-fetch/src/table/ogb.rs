//! Node sets of the Open Graph Benchmark. It publishes no checksums.

use super::entries;

macro_rules! ogb {
    () => {
        "https://snap.stanford.edu/ogb/data/nodeproppred/"
    };
}

entries! {
    "ogbn-arxiv" ["arxiv"] (169_343 1_166_243)
    "OGB: 169343 papers on computer science, citing -> cited, 128 features, 40 classes."
    from ogb "" {
        ("arxiv.zip" unknown)
    }
    ;

    "ogbn-products" ["products"] (2_449_029 61_859_140)
    "OGB: 2449029 products bought together, undirected, 100 features, 47 classes."
    note "About 1.4 GB."
    from ogb "" {
        ("products.zip" unknown)
    }
    ;

    "ogbn-mag" ["mag"] (1_939_743 21_111_007)
    "OGB: papers, authors, institutions and fields of the Microsoft Academic Graph."
    note "It has several kinds of nodes; Magnon has no reader for it."
    from ogb "" {
        ("mag.zip" unknown)
    }
    ;

    "ogbn-papers100M" ["papers100M"] (111_059_956 1_615_685_872)
    "OGB: 111 million papers, citing -> cited, 128 features, 172 classes."
    note "About 57 GB, above the limit that is set by default, as binary arrays; Magnon has no \
          reader for these."
    from ogb "" {
        ("papers100M-bin.zip" unknown)
    }
    ;
}
