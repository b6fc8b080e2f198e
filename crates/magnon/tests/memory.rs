//! Propagation needs its input, its output, the operator and two tiles: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed test is a panic

use magnon::data::Features;
use magnon::filter::{Filter, propagate};
use magnon::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands every request to the system's allocator; the counters are only looked at.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn peak_is_within_the_promise() {
    let (nodes, columns) = (20_000, 64);
    let config = GeneratorConfig {
        kind: GeneratorKind::ErdosRenyi,
        nodes,
        density: 10.0 / 20_000.0,
        ..Default::default()
    };
    let graph = generate(&config, 1).unwrap().graph;
    let charge = Charge::fraction(1, 5).unwrap();
    let recipe = OperatorConfig { charge, ..Default::default() };
    let operator = MagneticOperator::new(&graph, &recipe).unwrap();
    drop(graph);
    let features = Features::Dense(Matrix::zeros(nodes, columns));
    PEAK.store(NOW.load(Relaxed), Relaxed);
    let result = propagate(&operator, &Filter::linear_rank(8).unwrap(), &features, &|_, _| ());
    let peak = PEAK.load(Relaxed);
    result.unwrap();

    let (input, output) = (nodes * columns * 4, nodes * columns * 8);
    let base = input + output + 5 * operator.pattern().stored() + 16 * nodes;
    assert!(peak as f64 <= 1.3 * base as f64, "{peak} bytes against {base}");
    // The promise is about real use: the result alone is most of it.
    assert!(peak > output);
}
