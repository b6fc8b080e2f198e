//! What the commands print and write.

mod common;
use common::{json, json_in, magnon, text};

#[test]
fn direction_carries_the_signal_of_the_built_in_graph() {
    let folder = tempfile::tempdir().unwrap();
    for seed in ["0", "1", "2"] {
        let result = json_in(folder.path(), &["--seed", seed]);
        let control = |name: &str| result["controls"][name]["mean"].as_f64().unwrap();
        assert!(control("undirected") < 0.6, "seed {seed}: {result}");
        assert!(control("mlp") < 0.9, "seed {seed}: {result}");
        assert!(result["test_accuracy"].as_f64().unwrap() > 0.9, "seed {seed}: {result}");
    }
    assert!(folder.path().join("magnon-demo/model.safetensors").exists());
}

#[test]
fn info_has_the_keys_of_the_contract() {
    let info = json(&["info"]);
    let keys = "nodes edges self_loops duplicates weighted reciprocity symmetric acyclic \
        weak_components strong_components largest_strong_component isolated features classes \
        class_sizes node_homophily edge_homophily splits seconds";
    for key in keys.split_whitespace() {
        assert!(info.get(key).is_some(), "{key}");
    }
    assert_eq!(info["nodes"], 600);
    assert_eq!(info["class_sizes"], serde_json::json!([200, 200, 200]));
    assert_eq!(info["splits"][0]["train"], 360);
    assert!(info["seconds"]["load"].is_f64());
}

#[test]
fn generators_stand_in_for_files() {
    let cycle = json(&["info", "cycle:nodes=7"]);
    assert_eq!((cycle["edges"].as_u64(), cycle["acyclic"].as_bool()), (Some(7), Some(false)));
    assert_eq!(json(&["info", "feed-forward"])["acyclic"], true);
    assert_eq!(json(&["info", "feed-forward"])["largest_strong_component"], 1);
}

#[test]
fn generated_data_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["data", "graph.npz", "edges.csv"] {
        let path = text(&folder.path().join(target));
        let made =
            json(&["generate", "ordered", "--nodes", "90", "--seed", "4", "--output", &path]);
        // Some nodes have no edge, which an edge list cannot tell.
        assert!(made["isolated"].as_u64().unwrap() > 0);
        let read = match target {
            "edges.csv" => json(&["info", &path, "--nodes", "90"]),
            _ => json(&["info", &path]),
        };
        for key in ["nodes", "edges", "reciprocity", "strong_components", "isolated"] {
            assert_eq!(made[key], read[key], "{target}: {key}");
        }
        if target == "data" {
            assert_eq!(made["class_sizes"], read["class_sizes"]);
            assert_eq!(made["splits"], read["splits"]);
            assert_eq!(made["features"], read["features"]);
        }
    }
}

#[test]
fn propagated_features_are_a_numpy_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.npy");
    let run = |charge: &str| {
        let result = json(&["propagate", "--charge", charge, "--output", &text(&path)]);
        (result["dtype"].as_str().unwrap().to_owned(), std::fs::read(&path).unwrap())
    };
    for (charge, dtype, word, width) in [("1/3", "complex64", "<c8", 8), ("0", "float32", "<f4", 4)]
    {
        let (said, bytes) = run(charge);
        assert_eq!(said, dtype);
        let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
        assert!(header.contains(&format!("'descr': '{word}'")), "{header}");
        assert!(header.contains("'fortran_order': False"), "{header}");
        assert!(header.contains("'shape': (600, 16)"), "{header}");
        assert_eq!(bytes.len() % 64, (600 * 16 * width) % 64);
    }
    // Nothing but the result lies in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn threads_do_not_change_a_bit() {
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: &str| {
        let path = folder.path().join(format!("{threads}.npy"));
        let arguments = ["propagate", "--charge", "1/3", "--threads", threads, "--output"];
        json(&[&arguments[..], &[&text(&path)]].concat());
        std::fs::read(path).unwrap()
    };
    let one = run("1");
    assert!(one == run("2") && one == run("7"));
}

#[test]
fn responses_are_csv_with_a_header() {
    let output =
        magnon(&["response", "--filter", "ppr", "--alpha", "0.5", "--exact", "--points", "3"]);
    let csv = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "lambda,response");
    assert_eq!(lines[2], "0,0.5"); // (1 − α) / (1 − α·0)
    assert_eq!(lines[3], "1,1");
    assert_eq!(lines.len(), 4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.csv");
    let result = json(&["response", "--csv", &text(&path), "--points", "5"]);
    assert_eq!(result["response"].as_array().unwrap().len(), 5);
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 6);
}

#[test]
fn pass_auto_tells_its_evidence() {
    // Neighbours of other blocks alone, and of the same block for the most part.
    for (graph, kind) in
        [("cyclic:within=0", "negated-adjacency"), ("cyclic:density=0.005,within=0.2", "adjacency")]
    {
        let result = json(&["operator", graph, "--pass", "auto", "--split", "60/20/20"]);
        assert_eq!(result["kind"], kind, "{graph}");
        assert!(result["pass_evidence"].as_str().unwrap().contains("homophily"));
    }
}

#[test]
fn human_output_has_no_json_and_quiet_has_no_notes() {
    let output = magnon(&["operator", "cycle", "--quiet"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("graph"), "{printed}");
    assert!(output.stderr.is_empty());
}

#[test]
fn cycles_have_the_keys_of_the_contract() {
    let result = json(&["cycles", "cycle:nodes=5", "--enumerate", "--max-length", "6"]);
    for key in ["acyclic", "symmetric", "flux_free", "lengths", "counts", "charges", "seconds"] {
        assert!(result.get(key).is_some(), "{key}");
    }
    assert_eq!(result["counts"], serde_json::json!({ "5": 1 }));
    let five = &result["lengths"][3];
    assert_eq!((five["length"].as_u64(), five["exists"].as_bool()), (Some(5), Some(true)));
    assert_eq!(five["witness"], serde_json::json!([0, 1, 2, 3, 4]));
    assert_eq!(result["lengths"][0]["evidence"], "period");
    // All that a lone 5-cycle has is flux 5: its own charge keeps the spectrum, not the features.
    assert_eq!(result["charges"][0]["fraction"], "1/5");
    assert_eq!(result["charges"][0]["same_spectrum_as_zero"], true);
    assert_eq!(result["choice"], "1/5");
    let first = json(&["cycles", "--enumerate", "--limit", "7"]);
    let counted: u64 = first["counts"].as_object().unwrap().values().flat_map(|c| c.as_u64()).sum();
    assert_eq!((counted, first["complete"].as_bool()), (7, Some(false)));
}

#[test]
fn cycles_are_listed_by_the_names_of_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let [edges, list] = ["edges.csv", "cycles.csv"].map(|name| text(&folder.path().join(name)));
    std::fs::write(&edges, "source,target\nAda B,Bo\nBo,Cy\nCy,Ada B\nCy,Bo\n").unwrap();
    let found = json(&["cycles", &edges, "--enumerate", "--csv", &list]);
    assert_eq!(found["csv"], list.as_str());
    let written = std::fs::read_to_string(&list).unwrap();
    assert_eq!(written, "length,nodes\n3,Ada B → Bo → Cy\n2,Bo → Cy\n");
    json(&["cycles", "cycle:nodes=3", "--enumerate", "--csv", &list]);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "length,nodes\n3,0 1 2\n");
}

#[test]
fn charge_auto_comes_from_the_cycles() {
    let result = json(&["operator", "cyclic"]);
    assert_eq!(result["charge_text"], "1/3");
    assert!(result["charge_evidence"].as_str().unwrap().contains("shortest cycle length"));
    assert_eq!(json(&["operator", "feed-forward", "--charge", "auto"])["charge"], 0.0);
}

/// An interrupt during a long search prints what is known so far and exits cleanly.
#[cfg(target_os = "linux")] // for the processor time of another process
#[test]
fn an_interrupted_search_tells_what_it_knows() {
    use common::{processor_time, send, wait_before_end};
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let interrupted = |arguments: &[&str], signal: &str| -> serde_json::Value {
        let mut child = Command::new(env!("CARGO_BIN_EXE_magnon"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The graph is there after a small part of this.
        let (id, enough) = (child.id(), Duration::from_secs(1));
        wait_before_end(&mut child, "a second of search", || processor_time(id) >= enough);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?}", output.status);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // Cycles that would take longer than the age of the world to count, and lengths that a search
    // without a budget would go on looking for; any moment will do.
    let count = ["cycles", "erdos-renyi:nodes=200,density=0.05", "--enumerate", "--json"];
    let budget = "1000000000000";
    let look = ["cycles", "erdos-renyi:nodes=3000,density=0.001", "--json", "--max-length", "63"];
    let look = [&look[..], &["--budget", budget, "--enumerate"]].concat();
    for (arguments, signal) in [(&count[..], "-INT"), (&count, "-TERM"), (&look, "-TERM")] {
        let result = interrupted(arguments, signal);
        assert_eq!(result["interrupted"], true);
        assert_eq!(result["complete"], false);
        assert!(!result["lengths"].as_array().unwrap().is_empty());
    }
    assert!(!interrupted(&count, "-INT")["counts"].as_object().unwrap().is_empty());
}

#[test]
fn spectra_have_the_keys_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, npy) = (folder.path().join("l.csv"), folder.path().join("u.npy"));
    let flags = ["--charge", "1/5", "--kind", "laplacian", "--no-self-loops"];
    let target = text(&csv);
    let result = json(&[&["spectrum", "cycle:nodes=5", "--csv", &target][..], &flags].concat());
    let values: Vec<f64> =
        result["eigenvalues"].as_array().unwrap().iter().flat_map(|v| v.as_f64()).collect();
    // 1 − cos(2πk/5), each twice but the first
    for (value, k) in values.iter().zip([0.0, 1.0, 1.0, 2.0, 2.0]) {
        let exact = 1.0 - (std::f64::consts::TAU * k / 5.0).cos();
        assert!((value - exact).abs() < 1e-14, "{values:?}");
    }
    assert_eq!(
        (result["method"].as_str(), result["components"].as_u64()),
        (Some("dense"), Some(1))
    );
    assert!(result["seconds"]["spectrum"].is_f64() && result["residuals"].is_null());
    let lines = std::fs::read_to_string(&csv).unwrap();
    assert!(lines.starts_with("index,eigenvalue\n0,") && lines.lines().count() == 6, "{lines}");

    let result = json(&["spectrum", "--count", "3", "--which", "largest", "--npy", &text(&npy)]);
    assert_eq!(result["eigenvalues"].as_array().unwrap().len(), 3);
    assert!(result["residuals"][2].as_f64().unwrap() < 1e-8);
    let bytes = std::fs::read(&npy).unwrap();
    assert!(String::from_utf8_lossy(&bytes[10..128]).contains("'<c16'"));
    assert_eq!(bytes.len(), 128 + 600 * 3 * 16);
    let near = json(&["spectrum", "--count", "2", "--near", "0.1"]);
    let value = near["eigenvalues"][1].as_f64().unwrap();
    assert!((value - 0.1).abs() < 0.05, "{value}");
}

#[test]
fn densities_and_frustration_are_csv_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    let density = ["spectrum", "--density", "--moments", "30", "--points", "20", "--csv"];
    let result = json(&[&density[..], &[&text(&path)]].concat());
    let sum: f64 = result["density"].as_array().unwrap().iter().flat_map(|d| d.as_f64()).sum();
    assert!((sum / 10.0 - 1.0).abs() < 0.05, "{sum}"); // over [−1, 1] in 20 steps
    assert_eq!(result["moments"], 30);
    let lines = std::fs::read_to_string(&path).unwrap();
    assert!(lines.starts_with("lambda,density,error\n-0.95,"), "{lines}");

    let curve = ["spectrum", "cycle:nodes=4", "--frustration", "--points", "9", "--csv"];
    let result = json(&[&curve[..], &[&text(&path)]].concat());
    let minima: Vec<f64> =
        result["minima"].as_array().unwrap().iter().flat_map(|m| m["charge"].as_f64()).collect();
    assert_eq!(minima.len(), 3);
    assert!((minima[1] - 0.25).abs() < 1e-6 && minima[2] == 0.5, "{minima:?}");
    let lines = std::fs::read_to_string(&path).unwrap();
    assert!(lines.starts_with("charge,lambda_min\n0,"), "{lines}");
    assert_eq!(lines.lines().count(), 10);
}

#[test]
fn responses_run_over_charges() {
    let base = ["response", "cycle:nodes=6", "--eigenvalues", "--order", "2"];
    let output = magnon(&[&base[..], &["--charges", "0,1/6,1/4"]].concat());
    let csv = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(csv.lines().next(), Some("charge,index,laplacian,adjacency,approximation,response"));
    assert_eq!((rows.len(), rows[7][0], rows[13][0]), (19, "1/6", "1/4"));
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    for row in 1..19 {
        // All degrees are equal: the approximation is exact. LinearRank of order 2 is (2 + λ)/3.
        assert!((number(row, 3) - number(row, 4)).abs() < 1e-13);
        assert!((number(row, 5) - (2.0 + number(row, 3)) / 3.0).abs() < 1e-13);
    }
    let result = json(&[&base[..], &["--charge", "1/5"]].concat());
    assert_eq!(result["curves"][0]["charge_text"], "1/5");
    assert_eq!(result["mean_degree"], 2.0);
}

#[test]
fn eigenmaps_put_the_blocks_on_a_ring() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.csv");
    let result = json(&["eigenmap", "--charge", "1/3", "--vectors", "0,2", "--csv", &text(&path)]);
    assert_eq!(result["vectors"], serde_json::json!([0, 2]));
    assert_eq!(result["phases"].as_array().unwrap().len(), 600);
    let csv = std::fs::read_to_string(&path).unwrap();
    assert!(csv.starts_with("node,label,phase_0,re_0,im_0,phase_2,re_2,im_2\n0,"));
    assert_eq!(csv.lines().count(), 601);
}

#[test]
fn denoised_signals_are_smoother_and_both_forms_agree() {
    let folder = tempfile::tempdir().unwrap();
    let run = |form: &str, extra: &[&str]| {
        let path = folder.path().join(format!("{form}.npy"));
        let arguments = ["denoise", "--charge", "1/3", "--mu", "0.5", "--form", form, "-o"];
        let result = json(&[&arguments[..], &[&text(&path)], extra].concat());
        let energy = |key: &str| result[key].as_f64().unwrap();
        assert!(energy("energy_after") < energy("energy_before"));
        assert_eq!(result["dtype"], "complex128");
        let bytes = std::fs::read(&path).unwrap();
        assert!(String::from_utf8_lossy(&bytes[..128]).contains("'shape': (600, 16)"));
        bytes[128..]
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
            .collect::<Vec<_>>()
    };
    let (filter, laplacian) = (run("filter", &[]), run("laplacian", &[]));
    assert!(filter.iter().zip(&laplacian).all(|(a, b)| (a - b).abs() < 1e-9));
    // A complex signal goes in again, and comes out smoother still.
    let signal = text(&folder.path().join("filter.npy"));
    let again = run("laplacian", &["--signal", &signal]);
    assert!(again.iter().zip(&laplacian).any(|(a, b)| (a - b).abs() > 1e-6));
    let real = json(&["denoise", "--charge", "0"]);
    assert_eq!((real["dtype"].as_str(), real["alpha"].as_f64()), (Some("float64"), Some(0.5)));
}
