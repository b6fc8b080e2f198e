//! The seven data sets of the paper, in its authors' layout.

use super::entries;

macro_rules! mgc {
    () => {
        concat!(
            "https://raw.githubusercontent.com/hazdzz/MGC_v2/",
            "c1e435469e0f30c909809a2598851e282bf10d5e/data/"
        )
    };
}

macro_rules! refined {
    () => {
        concat!(
            "https://raw.githubusercontent.com/THUDM/Refined-cora-citeseer/",
            "13baf1477ae9ddf6299bacaf3c7951525fa08de4/"
        )
    };
}

entries! {
    "corar" [] (2680 10296)
    "CoraR, the refined Cora: 2680 papers with 302 dense features in 7 classes."
    note "The upstream adjacency is symmetric: the directions of citations are not in it. The \
          sha256 of features.pkl was taken from a reconstruction that has the git blob id of the \
          file upstream."
    from mgc "corar/" {
        ("adj.npz" 24499 "d29db909d22f90eef0f34e7fc49d0b71020508d6b1f95c10fb455d09797f1e6c")
        ("features.pkl" 6_475_042 "98dafb0b9f1616ff33003016ffe46fa174a2148b8bea67fdf04235ba001a213b")
        ("labels.csv" 5360 "ec069ed05131025ad0a34cf32a07313cba69fc9d8cf1dce59b0fe217f4737339")
        ("idx_train.csv" 620 "ed1341288162b8a95b3481918ff1f990cfafdec9bb9359fe1fadfb8c88a94906")
        ("idx_valid.csv" 1216 "db7b046c103e646a65f4efd6919865be25804f51d1ddb335334cd943fa5840dc")
        ("idx_test.csv" 10454 "6a1d53bd268a7caddb3e812d2903c1bccf8eb89d51a27fec4aaeb55fa584eb23")
    }
    ;

    "citeseerr" [] (3191 8344)
    "CiteSeerR, the refined CiteSeer: 3191 papers with 768 dense features in 6 classes."
    note "The upstream adjacency is symmetric: the directions of citations are not in it. The \
          sha256 and size of features.pkl are not known; it is checked by its git blob id, and \
          has not been read with Magnon."
    from mgc "citeseerr/" {
        ("adj.npz" 22270 "1fcb9cf09e362d9a7a588b75ec66dfbeb013e4b6385c48da0f308bf12a6f8e93")
        ("labels.csv" 6382 "cc9cc265830436846e47f2e48ccc2ba02622c4d7b6f0872ad550b4ce3257a497")
        ("idx_train.csv" 762 "74d848e5be0c33121891ade9dd661949b4ddbbb3b2b18121d853eeed1d84b1d7")
        ("idx_valid.csv" 1490 "4c433572eb0b9e5429210395ee267bc7cdbed02a055cfc8bc9aa4eadb36acfa7")
        ("idx_test.csv" 12593 "479191638f93bfbb4b72377feeb4c971e29c7bd41cf7c94aa770216002828a3d")
    }
    from refined "" {
        ("features.pkl" at "citeseerx_features.pkl" blob "52919e8710dda9312494562c693168e7f2fc08a6")
    }
    ;

    "pubmed" [] (19717 88648)
    "PubMed: 19717 papers on diabetes with 500 tf-idf features in 3 classes."
    note "The upstream adjacency is symmetric: the directions of citations are not in it; \
          pubmed-citations has them, without features. The sha256 of features.npz was taken from \
          a reconstruction that has the git blob id of the file upstream."
    from mgc "pubmed/" {
        ("adj.npz" 230_986 "3634954f3647e86edbcde6a03d66b6dfdb6a0c8a8e30746f60d25a62f7092e87")
        ("features.npz" 5_209_275 "686e51ce6a55f07a999eb54fd87ce4196109ef589a5f3fff8ca71a2fc45972a2")
        ("labels.csv" 39434 "d48a582e64f106deb746656dc18a446f13c11b421d1f7de19301c4415a6b354d")
        ("idx_train.csv" 5327 "97929af2865cfd92d05acf61dd173f51fbee59a80f366147d47d4f82ae05e6d8")
        ("idx_valid.csv" 10697 "e46162fbff8250bb73b2b55ad0ce46d26f62ad60df7d91150171ea6d2aa474f7")
        ("idx_test.csv" 91168 "9158a784fd055b2f520edd4b9266a19621bed616dabbab579df6db58a4f58d21")
    }
    ;

    "cornell" [] (195 301)
    "WebKB: 195 pages of Cornell with 1703 words in 5 classes, row = source of the link."
    from mgc "cornell/" {
        ("adj.npz" 1687 "ba79362f4cf33d9188ee4ef2606efcbb0dbd5f3d51e2445db60ca06277e5c601")
        ("features.npz" 21761 "0551677409d8e7b38fdf68c2a234c8b04c696dd4a2cd8e883fae843b76ec176a")
        ("labels.csv" 390 "1f9842bb442228025a738233657e9da6c4812b3b79eb047029d3cbf04eaf0657")
        ("idx_train.csv" 400 "b5614fd02902735d67bf5b447f24c31ca2592849fa64aaf1aa81c7bbc310b534")
        ("idx_valid.csv" 135 "51805f3ac91353bb2e910c07bdb08f2f963381e701f020d889bd1f2f6d937d85")
        ("idx_test.csv" 135 "0e7a8097ffe81250f32f0dbf81a9beb84b349c0dd7cd9ee253c78711c89b2e3b")
    }
    ;

    "texas" [] (187 310)
    "WebKB: 187 pages of Texas with 1703 words in 5 classes, row = source of the link."
    from mgc "texas/" {
        ("adj.npz" 1710 "763634f32da7a01f60ab2d86ec940d8268022ded2b015b78497299c2fe03b54c")
        ("features.npz" 18613 "26be29f01e1ad3a7b06b193751f35fc232ede63e9a92c6692abe639a0472c1ab")
        ("labels.csv" 374 "c90fa09998bfd16af288855b25064b282eb01291162acd33004b03033b90c632")
        ("idx_train.csv" 380 "d4a05cbd21d8d405610552086c83555089890fcfa5b464126baf15922727d46e")
        ("idx_valid.csv" 128 "d6331596d0a939dce618650b658eb495aedbeb6f0e0ae14bc4df7ea42613982a")
        ("idx_test.csv" 130 "78fa150274fa963a39644059225e73eb24c66bac7e0ca935275d686ea1a2e279")
    }
    ;

    "washington" [] (230 395)
    "WebKB: 230 pages of Washington with 1703 words in 5 classes, row = source of the link."
    from mgc "washington/" {
        ("adj.npz" 1933 "41b71c8d238181c4a623b124a2e909ae59eaebc6e2065691cddb4c7fd2d0f9f9")
        ("features.npz" 23832 "55bcdb58e423b66a1de1a41cffed8da61115b6e8d0857b7ed78c402aeca3f2a2")
        ("labels.csv" 460 "3e1fde2b236f2795eadf0e2c6c901f4d81af6984f13cf98cb624da94f030a85f")
        ("idx_train.csv" 481 "cd4f159194e559435e2bfc8fc4cbbfcb5a39730070ad0b0f73f068dd278bb3eb")
        ("idx_valid.csv" 160 "78089f9974b7a1c23a862b4bd4bd1a69036d69178d3e5de37f2a140e58176dbe")
        ("idx_test.csv" 169 "6ecf168e45bf1a3ce892266e91fd6e0c1c0d178b5371b4da0fda5ed7282bb865")
    }
    ;

    "wisconsin" [] (265 510)
    "WebKB: 265 pages of Wisconsin with 1703 words in 5 classes, row = source of the link."
    from mgc "wisconsin/" {
        ("adj.npz" 2171 "47c6c430919df2a281c1d8d793b6d57dd841bd0575155ddacc75ae8df512ff8f")
        ("features.npz" 29294 "38e31de57d87e34490795f2922311ad5d238241a6559d9cd5e6fcb6106b3fa26")
        ("labels.csv" 530 "ad89d02e052a5cb6bec6b1cccb16d243d586cae9cb33d9907909a0fc6af8dca7")
        ("idx_train.csv" 563 "f05f9f04763e82559954f380acc09a1c02e6ca368cbac26000afd15925cb4791")
        ("idx_valid.csv" 189 "b2fc85139950cd8039672433be5bc1888d872050dc4c3eccf9785f126a16d3c1")
        ("idx_test.csv" 198 "f2b29db32689d49908dfa834c2408771c74b3c5c2c3c021062696f6c8577347f")
    }
    ;
}
