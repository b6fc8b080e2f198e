//! Directed benchmarks other than citations.

use super::entries;

macro_rules! yandex {
    () => {
        concat!(
            "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/",
            "a431395582e929d88271309716bea4fe24ce6318/data/"
        )
    };
}

macro_rules! pygsd {
    () => {
        concat!(
            "https://raw.githubusercontent.com/SherylHYX/pytorch_geometric_signed_directed/",
            "ecdf3fcf94b148ae9350c848e7774915495170d9/datasets/"
        )
    };
}

entries! {
    "squirrel" [] (5201 217_073)
    "Wikipedia on squirrels: 5201 pages with 2089 nouns in 5 classes by traffic, ten splits."
    note "Many of its pages are copies of others, in training and test alike; squirrel_filtered \
          leaves them out."
    from yandex "" {
        ("squirrel_directed.npz" 760_119 "3f0436486716cf77b651c372e54f6b4c2cc52262e7faeeab584a34b41bae2616")
    }
    ;

    "squirrel_filtered" [] (2223 65718)
    "squirrel without its duplicate pages: 2223 pages, ten splits."
    from yandex "" {
        ("squirrel_filtered_directed.npz" 249_855 "0526e53252f0b052124f7390829c32e923d432acaf64206191a1144a07b39620")
    }
    ;

    "chameleon" [] (2277 _)
    "Wikipedia on chameleons: 2277 pages with 2325 nouns in 5 classes by traffic, ten splits."
    note "Many of its pages are copies of others, in training and test alike; chameleon_filtered \
          leaves them out."
    from yandex "" {
        ("chameleon_directed.npz" unknown)
    }
    ;

    "chameleon_filtered" [] (_ _)
    "chameleon without its duplicate pages, ten splits."
    from yandex "" {
        ("chameleon_filtered_directed.npz" unknown)
    }
    ;

    "roman_empire" [] (22662 _)
    "Words of the article on the Roman Empire, undirected: 22662 words in 18 classes, ten splits."
    from yandex "" {
        ("roman_empire.npz" unknown)
    }
    ;

    "telegram" [] (245 _)
    "Telegram: 245 channels and the messages that they pass on, weighted, in 4 classes."
    from pygsd "telegram/" {
        ("adj.npz" at "telegram_adj.npz" unknown)
        ("labels.npy" at "telegram_labels.npy" unknown)
    }
    ;

    "blog" [] (1222 19024)
    "Political blogs of 2004: 1222 blogs and their links, weighted."
    from pygsd "" {
        ("blog.npz" 27103 "aa187e068fad4f5b0c44502a8edd3dc471297577d7e925e520f83130643e311f")
    }
    ;

    "migration" [] (3075 721_432)
    "Migration between 3075 counties of the United States, weighted."
    from pygsd "" {
        ("migration.npz" 2_451_486 "78f795abe9f1d3d8e69087820286842609270c8a8cf23df38681591558fc6605")
    }
    ;

    "bitcoin_alpha" [] (3783 24186)
    "Trust among 3783 traders of Bitcoin Alpha, signed and weighted."
    from pygsd "" {
        ("bitcoin_alpha.csv" 256_641 "bc4ab044d740b91df3901540d7ddb125080c0a9bb2d3890aee5231eaf8d65ed1")
    }
    ;

    "bitcoin_otc" [] (5881 35592)
    "Trust among 5881 traders of Bitcoin OTC, signed and weighted."
    from pygsd "" {
        ("bitcoin_otc.csv" 408_676 "793124fd7fea51adbe012574661ef99bdaeac7906e2718fcecc7661eda5e5c5d")
    }
    ;
}
