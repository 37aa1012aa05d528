//! Peers in Python that take turns with a bench.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A process that does the work of peers on request.
pub struct Python {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts a script of this folder, unless `BENCH_PYTHON` names no interpreter.
    pub fn start(script: &str, arguments: &[String]) -> Option<Python> {
        let Some(python) = std::env::var_os("BENCH_PYTHON") else {
            println!("skipped: peers in Python (BENCH_PYTHON names no interpreter)");
            return None;
        };
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut process = Command::new(python)
            .arg(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("BENCH_PYTHON is an interpreter");
        let ask = process.stdin.take().expect("piped");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        Some(Python { process, ask, answers })
    }

    /// The time that it takes for what the script knows by this name.
    pub fn time(&mut self, name: &str) -> Duration {
        let mut answer = String::new();
        writeln!(self.ask, "{name}").expect("it listens");
        self.answers.read_line(&mut answer).expect("it answers");
        Duration::from_nanos(answer.trim().parse().expect("nanoseconds, or it has failed"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
