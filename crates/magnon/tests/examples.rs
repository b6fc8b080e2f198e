//! The examples of what another crate adds, run.

#[path = "../examples/own_filter.rs"]
mod own_filter;
#[path = "../examples/own_model.rs"]
mod own_model;
#[path = "../examples/own_reader.rs"]
mod own_reader;

#[test]
fn a_filter_a_model_and_a_reader_of_another_crate() {
    own_filter::main().unwrap();
    own_model::main().unwrap();
    own_reader::main().unwrap();
    for file in ["own_filter.rs", "own_model.rs", "own_reader.rs"] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/");
        let lines = std::fs::read_to_string(folder.to_owned() + file).unwrap().lines().count();
        assert!(lines <= 60, "{file} has {lines} lines");
    }
}

/// A model by its name is the one that was registered, a taken name is refused, and a wrong file of a registered
/// reader is an error that names it.
#[test]
fn names_and_files_are_checked() {
    use magnon::data::{DataError, LoadConfig, RawData, Reader, load, register};
    use magnon::model::{MgcConfig, ModelConfig};
    struct Broken;
    impl Reader for Broken {
        fn format(&self) -> String {
            "a broken format".to_owned()
        }
        fn knows(&self, path: &std::path::Path) -> bool {
            path.extension().is_some_and(|ending| ending == "broken")
        }
        fn read(&self, _: &std::path::Path) -> Result<RawData, DataError> {
            Ok(RawData { nodes: 2, edges: vec![(0, 2)], ..Default::default() })
        }
    }
    assert!(magnon::model::register::<MgcConfig>().is_err());
    assert_eq!(ModelConfig::from(MgcConfig::default()), ModelConfig::named("mgc").unwrap());
    register(Broken);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.broken");
    std::fs::write(&path, "").unwrap();
    let error = load(&path, &LoadConfig::default()).unwrap_err().to_string();
    assert!(error.contains("x.broken") && error.contains("the edge 0 to 2"), "{error}");
}
