//! Citation graphs in the forms that are most used.

use super::entries;

macro_rules! shchur {
    () => {
        concat!(
            "https://raw.githubusercontent.com/shchur/gnn-benchmark/",
            "1e72912a0810cdf27ae54fd589a3b43358a2b161/data/npz/"
        )
    };
}

macro_rules! linqs {
    () => {
        concat!(
            "https://raw.githubusercontent.com/LUOyk1999/DAGformer/",
            "a8be0672eb09f5cfc31677d644b584474011ff7e/Node_classification_citation/"
        )
    };
}

macro_rules! planetoid {
    () => {
        concat!(
            "https://raw.githubusercontent.com/kimiyoung/planetoid/",
            "af6abf468a772cc055bec88c52e4d6f51b7c37e3/data/"
        )
    };
}

macro_rules! ppnp {
    () => {
        concat!(
            "https://raw.githubusercontent.com/klicperajo/ppnp/",
            "394425a9eeffbd95c09d68d6f0e1473ac9c2fd4a/ppnp/data/"
        )
    };
}

macro_rules! graphsage {
    () => {
        concat!(
            "https://raw.githubusercontent.com/williamleif/graphsage-simple/",
            "d3105e5223e9602ba3ef2dd27e343d044fe4bb5f/pubmed-data/"
        )
    };
}

entries! {
    "cora_ml" [] (2995 8416)
    "Cora ML: 2995 papers on machine learning with 2879 words in 7 classes."
    note "Upstream does not say which way its edges point."
    from ppnp "" {
        ("cora_ml.npz" 1_622_234 "e3439bfd32c4a962d5c56a4f313793baee39181c208c90a3915b61183d3e1cda")
    }
    ;

    "cora" [] (2708 5429)
    "Cora: 2708 papers with 1433 words in 7 classes, directed."
    note "Upstream stores cited -> citing; the reader turns the edges."
    from shchur "" {
        ("cora.npz" 540_580 "068e22d90c3849b4057dfb05851741428992af058efcd4e7ebb4186f3d581de2")
    }
    ;

    "citeseer" [] (3312 4715)
    "CiteSeer: 3312 papers with 3703 words in 6 classes, directed."
    note "Upstream stores cited -> citing; the reader turns the edges."
    from shchur "" {
        ("citeseer.npz" 1_348_784 "280278b21b434c047922e8389518861416fb3ad39389c27865ff0e6bbb0aaab7")
    }
    ;

    "linqs_cora" [] (2708 5429)
    "Cora as LINQS gave it out: 2708 papers, content and citations."
    from linqs "" {
        ("cora.tgz" 168_052 "0d4ed463d1627bb7f3e8420effe8f5545fd492ae8f88dab44ce86cee7b26d7e8")
    }
    ;

    "linqs_citeseer" [] (3312 4715)
    "CiteSeer as LINQS gave it out: 3312 papers, content and citations."
    note "17 further citations name papers that the archive does not hold."
    from linqs "" {
        ("citeseer.tgz" 359_425 "b02ee7b5d83130f8fd45b59017a76fdae3e998629a1904c2c5e07343a9664685")
    }
    ;

    "planetoid_cora" [] (2708 _)
    "Planetoid: Cora, undirected, with its fixed split."
    from planetoid "" {
        ("ind.cora.x" 22119 "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab")
        ("ind.cora.y" 4054 "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1")
        ("ind.cora.tx" 148_025 "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a")
        ("ind.cora.ty" 28135 "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad")
        ("ind.cora.allx" 257_305 "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543")
        ("ind.cora.ally" 47959 "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71")
        ("ind.cora.graph" 59847 "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d")
        ("ind.cora.test.index" 5000 "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875")
    }
    ;

    "planetoid_citeseer" [] (3327 _)
    "Planetoid: CiteSeer, undirected, with its fixed split."
    note "15 papers have neither features nor a label."
    from planetoid "" {
        ("ind.citeseer.x" 31087 "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6")
        ("ind.citeseer.y" 3014 "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924")
        ("ind.citeseer.tx" 260_321 "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21")
        ("ind.citeseer.ty" 24135 "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce")
        ("ind.citeseer.allx" 595_021 "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668")
        ("ind.citeseer.ally" 55623 "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95")
        ("ind.citeseer.graph" 61987 "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7")
        ("ind.citeseer.test.index" 5000 "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4")
    }
    ;

    "pubmed-citations" [] (19717 44338)
    "PubMed: the directed citations of LINQS, without features or labels."
    note "Nodes are numbered by paper, not in the order of pubmed."
    from graphsage "" {
        ("Pubmed-Diabetes.DIRECTED.cites.tab" 1_639_007 "5f8d710649f2808b2ffe73dfe9ab9ce7b06da2ccfe3fd3d6660520a8e4ae2141")
    }
    ;
}
