//! The headlines: the figures that most readers want, at the top of the report.

use super::run::Run;
use super::tables::{caller, own_name, table};
use super::{Report, time};
use crate::figures::Row;

const MIB: u64 = 1 << 20;

/// Dense operations of the headlines: name, form, and what the table says of it.
const DENSE: [(&str, &str, &str); 10] = [
    ("add", "into", "`add` into memory that is there"),
    ("relu", "into", "`relu` into memory that is there"),
    ("sum", "into", "`sum`"),
    ("sum, axis 0", "into", "`sum` along axis 0"),
    ("max", "into", "`max`"),
    ("transpose", "into", "a transposition into memory that is there"),
    ("a + b", "cold", "`add`, which allocates: fresh pages"),
    ("a + b", "recycled", "`add`, which allocates: recycled"),
    ("a * b + c", "into", "`&a * &b + &c`, an expression"),
    ("a chain of 5 operations", "into", "an expression of 5 operations on one array"),
];

/// Products and convolutions of the headlines: name, form, and what the table says of it.
const PRODUCTS: [(&str, &str, &str); 9] = [
    ("matmul f32 1024", "into", "`matmul` of f32, 1024 x 1024"),
    ("matmul f32 1024, a and b transposed", "into", "the same, both transposed"),
    ("matmul f32 2048", "into", "`matmul` of f32, 2048 x 2048"),
    ("matmul f64 1024", "into", "`matmul` of f64, 1024 x 1024"),
    ("matmul f32 16", "into", "`matmul` of f32, 16 x 16"),
    ("matmul f32, 1 by 8192", "into", "a row of f32 by 8192 x 8192"),
    ("conv2d 8x64x56x56 by 64 of 3x3", "into", "`conv2d`, 8 x 64 x 56 x 56 by 64 of 3 x 3, NCHW"),
    ("conv2d 8x64x56x56 by 64 of 3x3, NHWC", "into", "the same, NHWC"),
    ("depthwise 3x3, NHWC", "into", "`conv2d`, a 3 x 3 for each channel, 256 MiB, NHWC"),
];

/// Sparse operations of the headlines: name, form, and what the table says of it.
const SPARSE: [(&str, &str, &str); 6] = [
    ("dense to CSR, 10 %", "cold", "dense to CSR, 10 %, fresh memory"),
    ("CSR to dense, 10 %", "cold", "CSR to dense, 10 %, fresh memory"),
    ("SpMM, 64 columns, 10 %", "into", "CSR, 10 %, times 64 columns"),
    ("SpMV, 10 %", "into", "CSR, 10 %, times a vector"),
    ("SpMV, Poisson", "into", "CSR, Poisson 100^3, times a vector"),
    ("SpGEMM, Poisson", "recycled", "CSR, Poisson 100^3, squared"),
];

/// The cells of an operation in some form, on a number of threads.
type Cells<'a> = dyn Fn(&Run, &str, &str, usize) -> Option<Vec<String>> + 'a;

impl Report {
    /// `None` where no kernel was measured.
    pub fn headlines(&self) -> Option<String> {
        let figures = self.runs.iter().flat_map(|run| &run.figures);
        let newest = figures.max_by(|a, b| a.date.cmp(&b.date))?;
        let day = newest.date.split(' ').next().unwrap_or_default();
        let intro = format!(
            "\nMeasured on {} ({day}) by `./x bench figures`:\ntake the ratios, not the times. {}\nA \
             factor is the time of another library over that of Tenure; the best ones are named.\n",
            newest.cpu,
            self.sets_in_words()
        );
        let dense = |run: &Run, name: &str, how: &str, threads| {
            let row = run.find(name, 64 * MIB, threads, how)?;
            let part = run.part_of_roof(row).map(|(part, _)| format!("{part:.2}"));
            Some(vec![time(row.median()), part.unwrap_or_default(), peers(run, row, 1)])
        };
        let sparse = |run: &Run, name: &str, how: &str, threads| {
            let row = run.sparse(name, threads, how)?;
            Some(vec![time(row.median()), peers(run, row, 3)])
        };
        let product = |run: &Run, name: &str, how: &str, threads| {
            let row = run.find_only(name, threads, how)?;
            let part = run.part_of_roof(row).map(|(part, _)| format!("{part:.2}"));
            Some(vec![time(row.median()), part.unwrap_or_default(), peers(run, row, 2)])
        };
        let columns = ["of the roof", "best peer"];
        let dense = self.headline_table("64 MiB arrays of f32", &columns, &DENSE, &dense);
        let columns = ["of the roof", "best peers"];
        let title = "products and convolutions";
        let products = self.headline_table(title, &columns, &PRODUCTS, &product);
        let columns = ["peers"];
        let sparse = self.headline_table("sparse, f32", &columns, &SPARSE, &sparse);
        Some(
            [intro, self.lending_headline(), self.call_headline(), dense, products, sparse]
                .concat(),
        )
    }

    /// Operations on one thread and on two: of each set a time, and what else there is to it.
    fn headline_table(
        &self,
        title: &str,
        of_each: &[&str],
        operations: &[(&str, &str, &str)],
        cells: &Cells<'_>,
    ) -> String {
        let mut rows = Vec::new();
        for (name, how, words) in operations {
            for threads in [1, 2] {
                let found = self.runs.iter().map(|run| cells(run, name, how, threads));
                let found: Vec<_> = found.collect();
                if found.iter().all(Option::is_none) {
                    continue;
                }
                let mut row = vec![(*words).to_owned(), threads.to_string()];
                let none = || vec![String::new(); 1 + of_each.len()];
                row.extend(found.into_iter().flat_map(|cells| cells.unwrap_or_else(none)));
                rows.push(row);
            }
        }
        let mut columns = vec![title, "threads"];
        for run in &self.runs {
            columns.push(run.name());
            columns.extend(of_each);
        }
        table("", &columns, rows)
    }

    /// The smallest call that does something.
    fn call_headline(&self) -> String {
        let Some(last) = self.runs.last() else { return String::new() };
        let mut rows: Vec<(f64, String)> = Vec::new();
        for (library, how) in last.ways_to_call() {
            let runs =
                if library == "tenure" { &self.runs[..] } else { std::slice::from_ref(last) };
            for run in runs {
                let Some(row) = run.call(library, how, 8) else { continue };
                let who = if library == "tenure" { own_name(run) } else { caller(library) };
                rows.push((row.median(), format!("{who}: {how}")));
            }
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rows = rows.into_iter().map(|(median, what)| vec![what, time(median)]).collect();
        table("", &["add two arrays of 8 f32", "time"], rows)
    }
}

/// At most `most` peers, the best first, each of them once, and how many times as long they take.
fn peers(run: &Run, row: &Row, most: usize) -> String {
    let mut named: Vec<String> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let found = run.peers(row);
    for beside in &found {
        let library = &*beside.peer.library;
        if seen.contains(&library) || library.ends_with(", dense") || named.len() == most {
            continue;
        }
        seen.push(library);
        let gain = beside.gain;
        named.push(format!("{library} {gain:.*} ×", if gain < 10.0 { 2 } else { 0 }));
    }
    named.join(", ")
}
