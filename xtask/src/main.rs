//! Repository chores: `cargo xtask test` checks everything, `cargo xtask bench` measures against
//! peers, `cargo xtask fuzz` and `cargo xtask sanitize` look for what tests do not see.

mod bench;
mod browser;
mod fuzz;
mod golden;
mod gpu;
#[cfg(test)]
mod layers;
mod licences;
mod nightly;
mod peers;
mod python;
mod sanitize;
mod site;
mod test;

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str =
    "usage: cargo xtask test    formatting, lints, docs, tests, pages, the Python package, checks against scipy
       cargo xtask test --device cuda
                           the tests of the engine for NVIDIA cards, on the card that is there
       cargo xtask kernels compiles the kernels into the form that travels with the program
       cargo xtask keywords
                           writes the keywords of the Python package anew, from the settings of the library
       cargo xtask python  builds, installs and tests the Python package alone
       cargo xtask site    the documentation as a site, in target/site
       cargo xtask wheel   the Python wheel and source distribution that would be published
       cargo xtask bench [PART]
                           timings against other libraries, as ratios: all, or product, edges, large-edges, cycles,
                           large-cycles, repeated, spectrum, memory, training, models, bank, python, gpu-products,
                           gpu-steps, gpu-large
       cargo xtask bench PART --tiny
                           the same on tiny inputs with the binary that was tested: whether it runs, not how fast
       cargo xtask golden [--record | --against BINARY]
                           whether every command still gives the same results as were recorded, or as
                           another binary
       cargo xtask fuzz [MINUTES]
                           all fuzz targets under AddressSanitizer, for 20 minutes in all or as long as
                           is said
       cargo xtask sanitize
                           Miri on unsafe code, AddressSanitizer on the tests";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test::run(),
        ["test", "--device", "cuda"] => gpu::test(),
        ["kernels"] => gpu::kernels(),
        ["keywords"] => python::keywords(),
        ["python"] => peers::data().and_then(|data| python::test(data.as_deref())),
        ["wheel"] => python::wheel(),
        ["golden"] => golden::check(),
        ["golden", "--record"] => golden::record(),
        ["golden", "--against", binary] => golden::against(Path::new(binary)),
        ["fuzz"] => fuzz::run(20.0),
        ["fuzz", minutes] if minutes.parse().is_ok_and(|minutes: f64| minutes > 0.0) => {
            fuzz::run(minutes.parse().unwrap_or_default())
        }
        ["sanitize"] => sanitize::run(),
        ["site"] => site::build(),
        ["bench"] => bench::run("all"),
        ["bench", "python"] => python::bench(),
        ["bench", part, "--tiny"] => bench::trial(part),
        ["bench", part] if part.starts_with("gpu") => gpu::bench(part),
        ["bench", part] => bench::run(part),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Runs a command in the root, and says so.
fn run(command: &mut Command) -> anyhow::Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let text = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    eprintln!("\n$ {text}");
    let status =
        command.current_dir(root()).status().with_context(|| format!("cannot run {text}"))?;
    ensure!(status.success(), "{text}: {status}");
    Ok(())
}

/// `cargo` with arguments.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// The `magnon` binary as it is released, built when need be.
fn release_binary() -> anyhow::Result<PathBuf> {
    binary("release")
}

/// The `magnon` binary that the tests were built with. The checks take little longer with it than with one
/// that is fully optimised, whose build would be the third of all crates.
fn tested_binary() -> anyhow::Result<PathBuf> {
    let path = target().join("debug").join(format!("magnon{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(path.is_file(), "{}: the tests have not built it", path.display());
    Ok(path)
}

fn binary(profile: &str) -> anyhow::Result<PathBuf> {
    run(&mut cargo(&["build", "--profile", profile, "--package", "magnon-cli"]))?;
    Ok(target().join(profile).join(format!("magnon{}", std::env::consts::EXE_SUFFIX)))
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
