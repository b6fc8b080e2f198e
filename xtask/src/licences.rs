//! Licences and sources of the crates that we build on, held to the lists of `deny.toml`.
//!
//! `cargo deny check` knows more (advisories, crates in two versions) and takes minutes to install; what its
//! file says about licences and registries is checked here without it.

use crate::{cargo, root};
use anyhow::{Context, bail};
use serde_json::Value;
use spdx::Expression;
use std::fs;

pub fn check() -> anyhow::Result<()> {
    let allowed = allowed(&fs::read_to_string(root().join("deny.toml"))?)?;
    let flags = ["metadata", "--format-version", "1", "--all-features", "--locked"];
    let output = cargo(&flags).output()?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let crates = metadata["packages"].as_array().context("cargo metadata names no crates")?;
    let wrong: Vec<String> = crates.iter().filter_map(|one| problem(one, &allowed)).collect();
    if !wrong.is_empty() {
        bail!("deny.toml does not allow:\n  {}", wrong.join("\n  "));
    }
    eprintln!("\nlicences and sources of {} crates are as deny.toml has them", crates.len());
    Ok(())
}

/// The licences that `deny.toml` allows.
fn allowed(text: &str) -> anyhow::Result<Vec<String>> {
    let table: toml::Table = text.parse()?;
    let list = table.get("licenses").and_then(|section| section.get("allow"));
    let list = list.and_then(toml::Value::as_array).context("deny.toml has no licenses.allow")?;
    Ok(list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

/// What is wrong with a crate.
fn problem(one: &Value, allowed: &[String]) -> Option<String> {
    let name = format!("{} {}", one["name"].as_str()?, one["version"].as_str()?);
    // Crates of this workspace have no source.
    if one["source"].as_str().is_some_and(|source| !source.starts_with("registry+")) {
        return Some(format!("{name}: it comes from {}", one["source"]));
    }
    let Some(licence) = one["license"].as_str() else {
        return Some(format!("{name}: it names no licence"));
    };
    // Older crates write a slash for `OR`.
    match Expression::parse_mode(licence, spdx::ParseMode::LAX) {
        Ok(expression) => {
            let known = |wanted: &spdx::LicenseReq| allowed.contains(&wanted.to_string());
            (!expression.evaluate(known)).then(|| format!("{name}: {licence}"))
        }
        Err(error) => Some(format!("{name}: {licence}: {}", error.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_held_to_the_list() {
        let allowed =
            allowed("[licenses]\nallow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]").unwrap();
        let of = |licence: Value, source: Value| {
            let one = serde_json::json!({
                "name": "x", "version": "1.0.0", "license": licence, "source": source
            });
            problem(&one, &allowed)
        };
        let registry = || Value::from("registry+somewhere");
        for good in
            ["MIT", "MIT OR GPL-3.0-only", "MIT/Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
        {
            assert_eq!(of(good.into(), registry()), None, "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0", "what one likes"] {
            assert!(of(bad.into(), Value::Null).is_some(), "{bad}");
        }
        assert!(of(Value::Null, registry()).is_some());
        assert!(of("MIT".into(), "git+somewhere".into()).is_some());
    }
}
