//! A subject of the benches, and the ways to do a thing in it that take turns.

use std::thread;
use std::time::{Duration, Instant};

use crate::Scale;
use crate::figures::{self, Figures, Row};
use crate::rounds::Rounds;

/// One way to do something.
pub struct Case<'a> {
    library: &'static str,
    how: &'static str,
    traffic: Option<u64>,
    run: Box<dyn FnMut(u32) -> Duration + 'a>,
}

impl<'a> Case<'a> {
    /// `run` does it the given number of times in a row, and returns the time.
    pub fn timed(
        library: &'static str,
        how: &'static str,
        run: impl FnMut(u32) -> Duration + 'a,
    ) -> Case<'a> {
        Case { library, how, traffic: None, run: Box::new(run) }
    }

    /// `work` does it once.
    pub fn repeated(
        library: &'static str,
        how: &'static str,
        mut work: impl FnMut() + 'a,
    ) -> Case<'a> {
        Case::timed(library, how, move |passes| repeat(passes, &mut work))
    }

    /// `work` does it once, and allocates memory that ends with it: here the memory of the time
    /// before, if the library keeps it.
    pub fn recycled(library: &'static str, mut work: impl FnMut() + 'a) -> Case<'a> {
        Case::timed(library, "recycled", move |passes| {
            work();
            repeat(passes, &mut work)
        })
    }

    /// Like `recycled`, but all memory that libraries and the C library hold has been given back to
    /// the system before, which is not in the figure.
    pub fn cold(library: &'static str, mut work: impl FnMut() + 'a) -> Case<'a> {
        let mut once = move || {
            crate::give_back_memory();
            repeat(1, &mut work)
        };
        // Giving memory back takes longer than small work: a share of the passes tells enough.
        Case::timed(library, "cold", move |passes| {
            let done = passes.min(64);
            (0..done).map(|_| once()).sum::<Duration>() * passes / done
        })
    }

    /// Done by `caller`, which is given the work, and called `how`.
    pub fn within(
        self,
        how: &'static str,
        caller: impl Fn(&mut dyn FnMut() -> Duration) -> Duration + 'a,
    ) -> Case<'a> {
        let mut run = self.run;
        Case { how, run: Box::new(move |passes| caller(&mut || run(passes))), ..self }
    }

    /// By the threads of a context, and called as before.
    pub fn on(self, context: &'a tenure::Context) -> Case<'a> {
        let how = self.how;
        self.within(how, |work| context.install(work))
    }

    /// Once at a time, each time after so long a sleep, which is not in the figure.
    pub fn after(self, idle: Duration) -> Case<'a> {
        if idle.is_zero() {
            return self;
        }
        let mut run = self.run;
        let mut once = move || {
            thread::sleep(idle);
            run(1)
        };
        Case { run: Box::new(move |passes| (0..passes).map(|_| once()).sum()), ..self }
    }

    /// Moves other bytes than the rest of its group.
    pub fn moving(self, traffic: u64) -> Case<'a> {
        Case { traffic: Some(traffic), ..self }
    }
}

/// Time of `passes` runs of `work`.
pub fn repeat(passes: u32, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..passes).for_each(|_| work());
    start.elapsed()
}

/// A subject that is being measured.
pub struct Subject {
    scale: Scale,
    rounds: Rounds,
    words: Vec<String>,
    figures: Figures,
}

impl Subject {
    /// Prints what a figure means nothing without.
    pub fn open(name: &str) -> Subject {
        let scale = Scale::asked_for();
        let count = match scale {
            Scale::Smoke => 1,
            Scale::Quick => 9,
            Scale::Full => 11,
        };
        let length = Duration::from_millis(if scale == Scale::Smoke { 0 } else { 3 });
        crate::print_machine();
        Subject {
            scale,
            rounds: Rounds { count, length },
            words: crate::words().collect(),
            figures: Figures::begin(name),
        }
    }

    /// How much is to be measured.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Whether a group is to be measured: a word among the arguments picks those that contain it.
    pub fn wants(&self, operation: &str) -> bool {
        let name = format!("{}/{operation}", self.figures.subject);
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }

    /// Measures ways to do `operation` on arrays of `bytes` bytes, for which `traffic` bytes have
    /// to be moved, or operations to be done; `threads` is the number that they use.
    pub fn measure(
        &mut self,
        operation: &str,
        bytes: u64,
        threads: usize,
        traffic: u64,
        mut cases: Vec<Case<'_>>,
    ) {
        if !self.wants(operation) {
            return;
        }
        println!("\n{operation}, {bytes} bytes, {threads} threads");
        let times = self.rounds.in_turn(&mut cases, |case, passes| (case.run)(passes));
        for (case, times) in cases.iter().zip(times) {
            let row = Row {
                operation: operation.to_owned(),
                bytes,
                threads,
                library: case.library.to_owned(),
                how: case.how.to_owned(),
                traffic: case.traffic.unwrap_or(traffic),
                run: self.figures.run(),
                times,
            };
            let (median, best) = (row.median(), row.best());
            let name = format!("{} {}", row.library, row.how);
            let speed = row.traffic as f64 / median;
            println!("    {name:<32} {median:>16.1} ns  best {best:>16.1}  {speed:>8.2} G/s");
            self.figures.rows.push(row);
        }
    }

    /// Writes the figures, of the whole subject.
    pub fn close(self) {
        if !self.words.is_empty() {
            println!("\nNot recorded: a part of {} only", self.figures.subject);
            return;
        }
        let folder = figures::folder(self.scale);
        let path = self.figures.write(&folder).expect("the target folder can be written");
        println!("\nWritten to {}", path.display());
    }
}
