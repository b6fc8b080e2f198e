//! Writes the seeds of every target to `FOLDER/TARGET`, and the targets' names to the standard output.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: seeds FOLDER"))?;
    for (name, seeds) in magnon_fuzz::seeds() {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder)?;
        for (at, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{at}")), seed)?;
        }
        println!("{name}");
    }
    Ok(())
}
