//! The kernels for the card that is there: compiled by NVRTC and kept, or the general form that travels
//! with the program.

use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The sources, in the order that they are compiled in.
pub const SOURCES: [&str; 8] = [
    include_str!("kernels/common.cuh"),
    include_str!("kernels/entries.cu"),
    include_str!("kernels/rows.cu"),
    include_str!("kernels/loss.cu"),
    include_str!("kernels/product.cu"),
    include_str!("kernels/gather.cu"),
    include_str!("kernels/tiles.cu"),
    include_str!("kernels/attention.cu"),
];

/// The same for a base architecture, as text for the driver to finish, compressed by zlib.
/// `cargo xtask kernels` makes it.
const GENERAL: &[u8] = include_bytes!("kernels/general.ptx.zz");

/// All sources in one.
pub fn source() -> String {
    SOURCES.concat()
}

/// A number that other sources would not have: FNV-1a of 64 bits.
pub fn fingerprint() -> u64 {
    source().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What the driver is given, and where it came from.
pub(super) struct Kernels {
    pub image: Vec<u8>,
    pub origin: &'static str,
}

/// Puts the kernels into the cache: beside their place first, since another run may look for them at any time.
fn keep(path: &Path, image: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(image)?;
    file.persist(path)?;
    Ok(())
}

/// The kernels for a card of this compute capability.
pub(super) fn kernels((major, minor): (i32, i32)) -> Result<Kernels, String> {
    let path = cache_folder().map(|folder| {
        folder.join(format!("kernels-{:016x}-sm_{major}{minor}.cubin", fingerprint()))
    });
    if let Some(path) = &path
        && let Ok(image) = std::fs::read(path)
        && image.starts_with(b"\x7fELF")
    {
        return Ok(Kernels { image, origin: "kept from an earlier run" });
    }
    match compile(&format!("sm_{major}{minor}")) {
        Some(Ok(image)) => {
            if let Some(path) = &path {
                // Another run would compile them again, no more.
                let kept = path.parent().map(std::fs::create_dir_all);
                if matches!(kept, Some(Ok(()))) {
                    let _ = keep(path, &image);
                }
            }
            Ok(Kernels { image, origin: "compiled by NVRTC" })
        }
        // An NVRTC that is older than the card, or broken: the general form still serves.
        Some(Err(_)) | None => Ok(Kernels { image: general()?, origin: "in their general form" }),
    }
}

/// The general form, ended by a zero as the driver wants it.
pub fn general() -> Result<Vec<u8>, String> {
    let mut image = Vec::new();
    flate2::read::ZlibDecoder::new(GENERAL)
        .read_to_end(&mut image)
        .map_err(|reason| format!("the kernels of this program are damaged: {reason}"))?;
    image.push(0);
    Ok(image)
}

/// Machine code from NVRTC; `None` where that is not installed.
fn compile(architecture: &str) -> Option<Result<Vec<u8>, String>> {
    // SAFETY: only looks for a library by its usual names. Tested by `no_such_card`.
    if !unsafe { sys::is_culib_present() } {
        return None;
    }
    let source = CString::new(source()).ok()?;
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()]
        .map(String::into_bytes);
    let program = match result::create_program(&source, Some(c"magnon.cu")) {
        Ok(program) => program,
        Err(error) => return Some(Err(format!("{error:?}"))),
    };
    // SAFETY: the program was just made, and is destroyed once, at the end. Tested by all of `network/cuda.rs`.
    let image = unsafe {
        let image = result::compile_program(program, &options)
            .map_err(|error| {
                let log = result::get_program_log(program).unwrap_or_default();
                format!("{error:?}: {}", text(&log))
            })
            .and_then(|()| binary(program));
        let _ = result::destroy_program(program);
        image
    };
    Some(image)
}

fn text(log: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = log.iter().map(|&byte| byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or(String::new(), |text| text.to_string_lossy().into_owned())
}

/// # Safety
/// The program is alive and was compiled.
unsafe fn binary(program: sys::nvrtcProgram) -> Result<Vec<u8>, String> {
    let mut size = 0;
    // SAFETY: by this function's contract.
    unsafe { sys::nvrtcGetCUBINSize(program, &mut size) }
        .result()
        .map_err(|error| format!("{error:?}"))?;
    let mut image = vec![0u8; size];
    // SAFETY: as above, with room for as many bytes as were just asked for.
    unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()) }
        .result()
        .map_err(|error| format!("{error:?}"))?;
    Ok(image)
}

/// `MAGNON_CACHE`, or `magnon` in the platform's cache folder.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    if let Some(cache) = folder("MAGNON_CACHE") {
        return Some(cache);
    }
    let cache = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    cache.map(|cache| cache.join("magnon"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The general form says which sources it was made from.
    #[test]
    fn the_general_form_is_that_of_the_sources() {
        let image = general().unwrap();
        let text = String::from_utf8_lossy(&image);
        let wanted = format!("// magnon kernels {:016x}\n", fingerprint());
        assert!(text.starts_with(&wanted), "run `cargo xtask kernels`: {}", &text[..40]);
    }
}
