//! `Card`: one GPU with the kernels on it.

use super::abi::Argument;
use super::compile::kernels;
use crate::compute::EngineError;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, DriverError, result, sys};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One GPU with the kernels on it.
pub(super) struct Card {
    pub context: Arc<CudaContext>,
    pub name: String,
    module: Arc<CudaModule>,
    functions: Mutex<HashMap<String, CudaFunction>>,
}

/// The cards that were opened; each is once.
static OPEN: Mutex<Vec<(usize, Arc<Card>)>> = Mutex::new(Vec::new());

/// How many cards there are, or why none can be used.
pub(super) fn count() -> Result<usize, String> {
    static COUNT: OnceLock<Result<usize, String>> = OnceLock::new();
    COUNT
        .get_or_init(|| {
            // SAFETY: only looks for a library by its usual names. Tested by `no_such_card`.
            if !unsafe { sys::is_culib_present() } {
                return Err("there is no NVIDIA driver (libcuda was not found)".to_owned());
            }
            let unusable = |error| format!("the NVIDIA driver cannot be used: {}", words(&error));
            result::init().map_err(unusable)?;
            match CudaContext::device_count().map_err(unusable)? {
                0 => Err("the NVIDIA driver knows no card".to_owned()),
                count => Ok(count.max(0) as usize),
            }
        })
        .clone()
}

impl Card {
    /// The card of a number, with its kernels.
    pub fn open(number: usize) -> Result<Arc<Self>, String> {
        let count = count()?;
        if number >= count {
            let have = if count == 1 { "one card, cuda:0" } else { "fewer cards" };
            return Err(format!("there is no cuda:{number}: this machine has {have}"));
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, card)) = open.iter().find(|(known, _)| *known == number) {
            return Ok(card.clone());
        }
        let failed = |error| format!("cuda:{number} cannot be used: {}", words(&error));
        let context = CudaContext::new(number).map_err(failed)?;
        // SAFETY: every engine keeps to one stream, and hands nothing over before it has waited for it. Tested by
        // `large_copies`.
        unsafe { context.disable_event_tracking() };
        let capability = context.compute_capability().map_err(failed)?;
        let kernels = kernels(capability)?;
        let image = Ptx::from_binary(kernels.image);
        let module = context.load_module(image).map_err(|error| {
            let (major, minor) = capability;
            let origin = kernels.origin;
            format!("cuda:{number} (compute capability {major}.{minor}) does not take the kernels, {origin}: {}", words(&error))
        })?;
        let name = context.name().map_err(failed)?;
        let card = Arc::new(Self { context, name, module, functions: Mutex::default() });
        open.push((number, card.clone()));
        Ok(card)
    }

    /// Starts a kernel on blocks of `threads` threads.
    pub fn launch(
        &self,
        stream: &CudaStream,
        name: &str,
        grid: (u32, u32, u32),
        threads: u32,
        arguments: &[&dyn Argument],
    ) -> Result<(), EngineError> {
        let function = self.function(name)?;
        let mut addresses: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.address()).collect();
        self.context.bind_to_thread().map_err(failure)?;
        // SAFETY: the engine's methods check that the matrices are as large as the kernel's sizes say,
        // and the arguments are laid out as the kernel declares them. Tested by `tests/network/cuda.rs`.
        unsafe {
            result::launch_kernel(
                function.cu_function(),
                grid,
                (threads, 1, 1),
                0,
                stream.cu_stream(),
                &mut addresses,
            )
        }
        .map_err(|error| EngineError::Device(format!("{name}: {}", words(&error))))
    }

    fn function(&self, name: &str) -> Result<CudaFunction, EngineError> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(name) {
            return Ok(function.clone());
        }
        let function = self.module.load_function(name).map_err(|error| {
            EngineError::Device(format!("there is no kernel {name}: {}", words(&error)))
        })?;
        functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }
}

/// What the driver says.
pub(super) fn words(error: &DriverError) -> String {
    let text = error.error_string().ok().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|| format!("{:?}", error.0))
}

/// A failure of the driver.
pub(super) fn failure(error: DriverError) -> EngineError {
    EngineError::Device(words(&error))
}

/// A failure of the driver where memory was asked for.
pub(super) fn memory_failure(error: DriverError, bytes: usize) -> EngineError {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => EngineError::OutOfMemory { bytes },
        _ => failure(error),
    }
}
