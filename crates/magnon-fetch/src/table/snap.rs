//! Graphs without features, most of them from SNAP, which publishes no checksums.

use super::entries;

macro_rules! github {
    () => {
        "https://raw.githubusercontent.com/"
    };
}

macro_rules! snap {
    () => {
        "https://snap.stanford.edu/data/"
    };
}

entries! {
    "wiki-Vote" [] (7115 103_689)
    "SNAP: votes of 7115 users on who administers Wikipedia."
    from github "networkit/networkit/17427915b5b8d39fdd602e5247cd96bb8138d79c/input/" {
        ("wiki-Vote.txt" 1_095_061 "d2afbedf262126f820c6b3dd9f39a6d68e6f5ea839c0508297032ca77578b28a")
    }
    ;

    "p2p-Gnutella31" [] (62586 147_892)
    "SNAP: 62586 hosts of the Gnutella network."
    from github "thuhujin/826project/3fedff639cacd497608a648b9a71c5456d5c4ad1/data/" {
        ("p2p-Gnutella31.txt" 1_852_859 "e46d75c091153b9d2c9c0060b0e439dcd63468e1d3beb465283bb2a3733b6cbe")
    }
    ;

    "soc-Epinions1" [] (75879 508_837)
    "SNAP: who trusts whom among 75879 users of Epinions."
    from github "sgmq0/CIS-2450-Final-Project/6c68f6b0bc71a5fbebdbe9129838e7832d82d7be/data/" {
        ("soc-Epinions1.txt.zip" at "soc-Epinions1.txt" 1_631_533 "e0582df5f923c47789f8b99dbe89e78de82034a7141a355c125544e514f269e4")
    }
    ;

    "cnr-2000" [] (325_557 3_216_152)
    "Links among 325557 pages of the Italian research council in 2000."
    from github "vigna/webgraph/2ffd9d9a7144c7024974e92379a05978fb97a8b5/slow/it/unimi/dsi/webgraph/" {
        ("cnr-2000.graph-txt.gz" 1_937_441 "ad05bc0dc8f826532a186a56279878eb34bbdd8ae8176e3cb0681bb571110f0a")
    }
    ;

    "cit-HepPh" [] (34546 421_578)
    "SNAP: citations of papers on high-energy physics phenomenology."
    from snap "" {
        ("cit-HepPh.txt.gz" unknown)
    }
    ;

    "cit-HepTh" [] (27770 352_807)
    "SNAP: citations of papers on high-energy physics theory."
    from snap "" {
        ("cit-HepTh.txt.gz" unknown)
    }
    ;

    "cit-Patents" [] (3_774_768 16_518_948)
    "SNAP: citations of patents of the United States."
    from snap "" {
        ("cit-Patents.txt.gz" unknown)
    }
    ;

    "email-EuAll" [] (265_214 420_045)
    "SNAP: mail of a European research institution."
    from snap "" {
        ("email-EuAll.txt.gz" unknown)
    }
    ;

    "soc-LiveJournal1" [] (4_847_571 68_993_773)
    "SNAP: friends on LiveJournal."
    from snap "" {
        ("soc-LiveJournal1.txt.gz" unknown)
    }
    ;

    "soc-Slashdot0902" [] (82168 948_464)
    "SNAP: friends and foes on Slashdot."
    from snap "" {
        ("soc-Slashdot0902.txt.gz" unknown)
    }
    ;

    "soc-pokec-relationships" [] (1_632_803 30_622_564)
    "SNAP: friends on Pokec."
    from snap "" {
        ("soc-pokec-relationships.txt.gz" unknown)
    }
    ;

    "web-BerkStan" [] (685_230 7_600_595)
    "SNAP: links among pages of Berkeley and Stanford."
    from snap "" {
        ("web-BerkStan.txt.gz" unknown)
    }
    ;

    "web-Google" [] (875_713 5_105_039)
    "SNAP: links among pages that Google gave out."
    from snap "" {
        ("web-Google.txt.gz" unknown)
    }
    ;

    "web-NotreDame" [] (325_729 1_497_134)
    "SNAP: links among pages of Notre Dame."
    from snap "" {
        ("web-NotreDame.txt.gz" unknown)
    }
    ;

    "web-Stanford" [] (281_903 2_312_497)
    "SNAP: links among pages of Stanford."
    from snap "" {
        ("web-Stanford.txt.gz" unknown)
    }
    ;

    "wiki-Talk" [] (2_394_385 5_021_410)
    "SNAP: who wrote on whose talk page of Wikipedia."
    from snap "" {
        ("wiki-Talk.txt.gz" unknown)
    }
    ;
}
