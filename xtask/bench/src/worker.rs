//! The peers' process: a request a line, an answer a line.

use crate::Places;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    pub fn start(places: &Places) -> anyhow::Result<Self> {
        Self::of(&places.python, &places.scripts.join("bench_peers.py"), true)
    }

    /// The process of a script. Threads of its libraries spin for a while before they sleep, unless
    /// told otherwise, which is quick on a quiet machine and slower beside other work.
    pub fn of(python: &Path, script: &Path, spin: bool) -> anyhow::Result<Self> {
        let mut command = Command::new(python);
        if !spin {
            command.env("OMP_WAIT_POLICY", "PASSIVE");
        }
        let mut child = command
            .arg(script)
            // What is compared on two threads gets two; torch is told at every request.
            .env("OMP_NUM_THREADS", "2")
            .env("OPENBLAS_NUM_THREADS", "2")
            .env("RAYON_NUM_THREADS", "2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let requests = child.stdin.take().context("the peers' input")?;
        let answers = BufReader::new(child.stdout.take().context("the peers' output")?);
        Ok(Self { child, requests, answers })
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, request: &Value) -> anyhow::Result<Value> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line).context("the peers' answer")?;
        match answer.get("error") {
            Some(error) => bail!("{request}: {error}"),
            None => Ok(answer),
        }
    }

    /// The seconds that a timed request took.
    pub fn seconds(&mut self, request: &Value) -> anyhow::Result<f64> {
        let answer = self.ask(request)?;
        answer["seconds"].as_f64().with_context(|| format!("no time in {answer}"))
    }

    pub fn quit(mut self) -> anyhow::Result<()> {
        writeln!(self.requests, "{}", json!({ "task": "quit" }))?;
        self.child.wait()?;
        Ok(())
    }
}
