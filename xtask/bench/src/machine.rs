//! What machine this is.

/// One line: processor, cores, memory.
pub fn describe() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split(':').nth(1));
        value.map_or("unknown".to_owned(), |value| value.trim().to_owned())
    };
    let processor = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let gib = memory.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok());
    let gib = gib.map_or(memory, |kib| format!("{:.0} GiB", kib / 1048576.0));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let os = std::env::consts::OS;
    format!("Machine: {processor}, {cores} cores, {gib} of memory, {os}.")
}
