//! Writes a report with everything in it, one of 20,000 nodes, and every figure in every format.
//!
//! `cargo run --package magnon-report --example sample_report -- FOLDER`
//!
//! The numbers are made up, the same at every run; the browser's checks open these pages.

mod data;

use magnon_report::{Figure, encode};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: sample_report FOLDER");
        return ExitCode::from(2);
    };
    match write(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("report.html"), data::report().html()?)?;
    std::fs::write(folder.join("hostile.html"), data::hostile_report().html()?)?;
    std::fs::write(folder.join("large.html"), data::large_report().html()?)?;
    std::fs::write(folder.join("bare.html"), data::bare_report().html()?)?;
    let figures: [(&str, Box<dyn Figure>); 9] = [
        ("spectrum", Box::new(data::spectrum())),
        ("density", Box::new(data::density())),
        ("frustration", Box::new(data::frustration())),
        ("response", Box::new(data::response())),
        ("eigenmap", Box::new(data::eigenmap(183, 295))),
        ("eigenmap_large", Box::new(data::eigenmap(20_000, 44_000))),
        ("training", Box::new(data::training())),
        ("confusion", Box::new(data::confusion())),
        ("shares", Box::new(data::shares())),
    ];
    for (name, figure) in &figures {
        for extension in ["svg", "png", "html"] {
            let path = folder.join(format!("{name}.{extension}"));
            std::fs::write(&path, encode(figure.as_ref(), &path)?)?;
        }
    }
    Ok(())
}
