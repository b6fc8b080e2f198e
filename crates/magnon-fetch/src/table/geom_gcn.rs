//! Geom-GCN's versions of WebKB, each with its ten splits.

use super::entries;

macro_rules! geom {
    () => {
        concat!(
            "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/",
            "f1fc0d14b3b019c562737240d06ec83b07d16a8f/"
        )
    };
}

entries! {
    "geom_gcn_cornell" [] (183 298)
    "Geom-GCN: 183 pages of Cornell with 1703 words in 5 classes and ten splits."
    note "Upstream has the features and labels of Texas here by mistake; only the edges are those \
          of Cornell. Use cornell for Cornell."
    from geom "new_data/cornell/" {
        ("out1_graph_edges.txt" 2001 "c4522a00cc40873c8a04a3a07c49e24a48a507eb284ac9c9f2d3e0590351bbb7")
        ("out1_node_feature_label.txt" 624_308 "cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3")
    }
    from geom "splits/" {
        ("cornell_split_0.6_0.2_0.npz" 704 "14022a1e19ec7fc0a07a2c06a785a2f9dc52809dbcd1c14fc318f7800675d73f")
        ("cornell_split_0.6_0.2_1.npz" 700 "5568fa27e968a724c92211bf97026a36a08893cf94b218043e49b4c973c35cfb")
        ("cornell_split_0.6_0.2_2.npz" 695 "763fc1f423395e4172617fa5b6bc0d7adad2241e5fedd1a4f0a098a67f9dc8e9")
        ("cornell_split_0.6_0.2_3.npz" 701 "4334321cd9ec42de9d51107fb9a6dc310512e0921bc1cff0f390301ee37315fa")
        ("cornell_split_0.6_0.2_4.npz" 759 "2b6b3ef396f4dc7fcdc276fb16b88bb87409b25879dd672b3a506eca844dd8d7")
        ("cornell_split_0.6_0.2_5.npz" 754 "1a40ef8b20aa9e1aa850e1abdaba3efac1f66c98ef2c6a59eadefa21136ece6b")
        ("cornell_split_0.6_0.2_6.npz" 758 "bcddf4ab59eae4c7d47b8a6cec9025a54ec0e6d3f3bdcd7678e201f25ace4642")
        ("cornell_split_0.6_0.2_7.npz" 693 "2b497e12dfc123d7e7c9bb4fc4a82b5bee18409e109a3e3a04da439cacec964d")
        ("cornell_split_0.6_0.2_8.npz" 701 "5c4e110d252d7ad156b2e4cd34b6dbd1cecbcc1755f8d72e932cc2a54f2b643c")
        ("cornell_split_0.6_0.2_9.npz" 704 "80f1531807194d301affbf6f879a4ab4f56a19bdccb62d192e3ecd1b5275f052")
    }
    ;

    "geom_gcn_texas" [] (183 325)
    "Geom-GCN: 183 pages of Texas with 1703 words in 5 classes and ten splits."
    from geom "new_data/texas/" {
        ("out1_graph_edges.txt" 2172 "0fe85183243a78cbee9b85a684f8240963d04d1020d10e9cd2b8cfb25e33b476")
        ("out1_node_feature_label.txt" 624_308 "cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3")
    }
    from geom "splits/" {
        ("texas_split_0.6_0.2_0.npz" 698 "7ba77bf7a8856fcc0ab15623a611b8cdce994e820f577da914123fb4f45272b0")
        ("texas_split_0.6_0.2_1.npz" 701 "21cc244a96e3c51ad7993afb4dd227f90e467d82b964bb42d7d9fc500a6ef87f")
        ("texas_split_0.6_0.2_2.npz" 756 "b9e96a699ccf3a4c31ffbd03e52b25570889833425d20fa44e06c37b327cf61e")
        ("texas_split_0.6_0.2_3.npz" 759 "1a7deeb1285009789d5e6045d7e39f7d019c9223d9a75a2b7ce5e26d33b51f63")
        ("texas_split_0.6_0.2_4.npz" 702 "b5419ff3fe31adcae66fdb085d4f47d0b188e9436ab59f438632af969aafc674")
        ("texas_split_0.6_0.2_5.npz" 691 "68405fd1b9ff6105d99717220ecbd198785e338bf4a73abee722bbc9703d2667")
        ("texas_split_0.6_0.2_6.npz" 756 "8ad78b973164e70e5ac0d282e79adcbc6006e373909fbdfd72a13131e09040b8")
        ("texas_split_0.6_0.2_7.npz" 693 "a84bcbf997365bddf5fdf72ed49dc7e435e475f8c6210f8cdee7c8581a2bd6df")
        ("texas_split_0.6_0.2_8.npz" 762 "65ba65f296f91d40d2d7d3c9369b67415094a7e254c6eee48cd6d6531c586fdf")
        ("texas_split_0.6_0.2_9.npz" 693 "4306981d654ad8835c000c1f73fb6c1e60dfe99e26c13a6073f3b0f4cc3ce6ee")
    }
    ;

    "geom_gcn_wisconsin" [] (251 515)
    "Geom-GCN: 251 pages of Wisconsin with 1703 words in 5 classes and ten splits."
    from geom "new_data/wisconsin/" {
        ("out1_graph_edges.txt" 3606 "ebd213511c88fce1eda450c2f920600c4b8cbb38f02384856bcc47c6ec1807ae")
        ("out1_node_feature_label.txt" 856_324 "a32b0aa38d42f0d36841e8a8cb646d197f0ff33a182ac75a2b4476aeed3c7e4b")
    }
    from geom "splits/" {
        ("wisconsin_split_0.6_0.2_0.npz" 805 "f66f641e191d35d491cd3b63d6c2cd93c4b436da398984b44c19a8d4d7e7b1a5")
        ("wisconsin_split_0.6_0.2_1.npz" 739 "534aeb97266bd5a85a8587adf8eebad3f2e001c1240610f24b62c0ad0c2466ee")
        ("wisconsin_split_0.6_0.2_2.npz" 747 "047a5b641778ec3a4c76055fd7f18ecb2424c0952f20dfff7e1b17749d8acbdd")
        ("wisconsin_split_0.6_0.2_3.npz" 810 "706c27b4c51d046c0316f1e915f093e4a1fff48b3436b3e7c421eab596a99e77")
        ("wisconsin_split_0.6_0.2_4.npz" 812 "7ee813605eec086457aaff022cf3837f2f893fcf8bd37e3a8d2ff0c80e4c4f87")
        ("wisconsin_split_0.6_0.2_5.npz" 749 "8094ac2bdaf2cbea8f7a48df66a0800c809b2fd5942740e6b0441b660d3a0dd5")
        ("wisconsin_split_0.6_0.2_6.npz" 735 "c423a8deea9b18f9ecb6cfd703578e2159df167de01fe7e6195b88995010252d")
        ("wisconsin_split_0.6_0.2_7.npz" 733 "57ad808c8d4dd94dc4404124370bbcebb3dcc597c2bea6457bf05f220adf1527")
        ("wisconsin_split_0.6_0.2_8.npz" 741 "27d4d62a2a6aea2cdc399302237512ab0d64fb0c84e648112f97c5896274e42f")
        ("wisconsin_split_0.6_0.2_9.npz" 744 "3c149cd124a19021031609e0d7743a7be59aae4f88c8d38410138e8f06f5daaf")
    }
    ;
}
