//! The figures as tables in Markdown.

use super::run::{Beside, Run};
use super::{Report, size, time};
use crate::figures::{Figures, Row};
use crate::rounds::median_and_least;

/// How the names of the drawn permutations begin.
pub(super) const PERMUTATION: &str = "permute ";

/// Counts of elements in the table of calls.
const CALLS: [u64; 6] = [1, 8, 64, 512, 8192, 1_000_000];

/// How a table compares a row with its roof.
pub(super) enum Roofs {
    /// The row's speed as a part of the roof's.
    Parts,
    /// The row's time, in units of the roof's.
    Times,
}

/// Key of a row: operation, bytes, threads, form.
type Way<'a> = (&'a str, u64, usize, &'a str);

fn way(row: &Row) -> Way<'_> {
    (&row.operation, row.bytes, row.threads, &row.how)
}

/// The rows of a run that a table is of.
type Pick = fn(&Run) -> Vec<&Row>;

impl Report {
    /// Every table, each under its heading.
    pub(super) fn tables(&self) -> String {
        let without_kernels = [&self.without_kernels];
        let runs: Vec<&Run> = self.runs.iter().collect();
        [
            self.machine(),
            compared("### Into memory that is there", &runs, into, Roofs::Parts),
            compared("### Into memory that the operation allocates", &runs, fresh, Roofs::Parts),
            compared("### Sparse: what allocates its result", &runs, fresh_sparse, Roofs::Times),
            self.memory_table(),
            compared("### Files in the system's cache", &without_kernels, files, Roofs::Times),
            self.permutations(),
            self.shared(),
            self.calls(),
            self.allocation(),
            self.lending_table(),
        ]
        .concat()
    }

    fn machine(&self) -> String {
        let row = |(run, figures): (&Run, &Figures)| {
            let set = if run.set.is_empty() { "any" } else { run.name() };
            let Figures { subject, date, load, cpu, .. } = figures;
            vec![format!("`{subject}`"), set.to_owned(), date.clone(), load.clone(), cpu.clone()]
        };
        let of_run = |run| Run::figures_of(run).map(move |figures| (run, figures));
        let rows: Vec<_> = self.all_runs().flat_map(of_run).map(row).collect();
        let columns = ["subject", "instruction set", "UTC", "load before", "processor"];
        let mut versions: Vec<String> = self
            .all_runs()
            .flat_map(|run| run.figures.iter().flat_map(|one| &one.versions))
            .map(|(name, version)| format!("{name} {version}"))
            // The sets of the runs are in the table.
            .map(|version| version.split("; in use").next().unwrap_or_default().to_owned())
            .collect();
        versions.sort();
        versions.dedup();
        let versions = versions.join("; ").replace("tenure tenure", "tenure");
        let title = "### What was measured, and on what";
        let intro = format!("\n{}\n\nVersions: {versions}.\n", self.sets_in_words());
        table(title, &columns, rows) + &intro
    }

    fn permutations(&self) -> String {
        let mut rows = Vec::new();
        for threads in [1, 2] {
            for (i, what) in
                ["part of the copy roof", "times as fast as PyTorch"].iter().enumerate()
            {
                let drawn = self.runs.iter().map(|run| {
                    let (parts, gains) = run.drawn_permutations(threads);
                    if i == 0 { parts } else { gains }
                });
                let drawn: Vec<Vec<f64>> = drawn.collect();
                let count = drawn.iter().map(Vec::len).max().unwrap_or(0);
                if count == 0 {
                    continue;
                }
                let mut row = vec![(*what).to_owned(), threads.to_string(), count.to_string()];
                for mut figures in drawn {
                    figures.sort_unstable_by(f64::total_cmp);
                    let ends = figures.first().zip(figures.last());
                    row.extend(ends.map_or_else(Default::default, |(worst, best)| {
                        let median = median_and_least(&figures).0;
                        [*worst, median, *best].map(|figure| format!("{figure:.2}"))
                    }));
                }
                rows.push(row);
            }
        }
        let columns = self.columns(&["what", "threads", "of"], &["worst", "median", "best"]);
        table("### Random permutations of 3 to 6 axes, 64 MiB", &columns, rows)
    }

    /// Some columns, and then some for each set, with its name.
    fn columns(&self, first: &[&str], of_each: &[&str]) -> Vec<String> {
        let named =
            |run: &Run| of_each.iter().map(|one| format!("{}: {one}", run.name())).collect();
        let of_each: Vec<Vec<String>> = self.runs.iter().map(named).collect();
        first.iter().map(|one| (*one).to_owned()).chain(of_each.concat()).collect()
    }

    fn shared(&self) -> String {
        let pick: Pick = |run| {
            let two = run.rows(&["into", "two threads"]).filter(|row| row.threads == 2);
            two.filter(|two| run.on_one_thread(two).is_some()).collect()
        };
        let runs: Vec<&Run> = self.runs.iter().collect();
        let row = |way: Way| {
            let mut row = vec![way.0.to_owned(), size(way.1)];
            for run in &runs {
                row.extend(find(run, pick, way).map_or_else(Default::default, |two| {
                    let one = run.on_one_thread(two).expect("picked with it");
                    let rounds = one.times.iter().zip(&two.times);
                    let worst = rounds.map(|(one, two)| one / two).fold(f64::INFINITY, f64::min);
                    let gain = format!("{:.2} ({worst:.2})", two.speed_over(one));
                    [time(one.median()), time(two.median()), gain]
                }));
            }
            row
        };
        let rows = ways(&runs, pick).into_iter().map(row).collect();
        let of_each = ["one thread", "two threads", "faster by (worst round)"];
        let columns = self.columns(&["operation", "each array"], &of_each);
        table("### On two threads", &columns, rows)
    }

    fn calls(&self) -> String {
        let Some(last) = self.runs.last() else { return String::new() };
        let cells = |run: &Run, library: &str, how: &str| {
            let cell = |count| run.call(library, how, count).map(|row| time(row.median()));
            CALLS.map(|count| cell(count).unwrap_or_default())
        };
        let mut rows = Vec::new();
        for (library, how) in last.ways_to_call() {
            // Peers have kernels of their own.
            let runs =
                if library == "tenure" { &self.runs[..] } else { std::slice::from_ref(last) };
            for run in runs {
                let who = if library == "tenure" { own_name(run) } else { caller(library) };
                let mut row = vec![who, how.to_owned()];
                row.extend(cells(run, library, how));
                let from = |run: &Run| run.faster_from(library, how).unwrap_or_default();
                let is_own = library == "tenure";
                row.extend(
                    self.runs.iter().map(|run| if is_own { String::new() } else { from(run) }),
                );
                rows.push(row);
            }
        }
        let mut columns = vec!["who".to_owned(), "how".to_owned()];
        columns.extend(CALLS.map(|count| count.to_string()));
        columns.extend(self.runs.iter().map(|run| format!("{} is faster from", run.name())));
        table("### One call: adding so many f32", &columns, rows)
    }

    fn allocation(&self) -> String {
        let mut figures = self.without_kernels.figures.iter();
        let Some(figures) = figures.find(|one| one.subject == "alloc") else {
            return String::new();
        };
        let mut sizes: Vec<u64> = figures.rows.iter().map(|row| row.bytes).collect();
        sizes.dedup();
        let row = |bytes: u64| {
            let mut row = vec![size(bytes)];
            for operation in ["allocate", "allocate and write"] {
                for how in ["cold", "recycled"] {
                    row.extend(["tenure", "malloc"].map(|library| {
                        let wanted = (operation, bytes, 1, how);
                        let is_it = |row: &&Row| way(row) == wanted && row.library == library;
                        figures
                            .rows
                            .iter()
                            .find(is_it)
                            .map_or(String::new(), |row| time(row.median()))
                    }));
                }
            }
            row
        };
        let columns = [
            "bytes",
            "Tenure cold",
            "malloc cold",
            "Tenure recycled",
            "malloc recycled",
            "written: Tenure cold",
            "malloc cold",
            "Tenure recycled",
            "malloc recycled",
        ];
        let rows = sizes.into_iter().map(row).collect();
        table("### Getting memory and giving it back", &columns, rows)
    }
}

impl Run {
    fn figures_of(&self) -> impl Iterator<Item = &Figures> {
        self.figures.iter()
    }

    /// The rows of Tenure in some forms, in the order of the subjects.
    fn rows<'a>(&'a self, forms: &'a [&str]) -> impl Iterator<Item = &'a Row> {
        let drawn = |row: &Row| row.operation.starts_with(PERMUTATION);
        let wanted = move |row: &&Row| forms.contains(&&*row.how) && !drawn(row);
        self.own()
            .filter(|(figures, _)| figures.subject != "call")
            .map(|(_, row)| row)
            .filter(wanted)
    }

    /// The row on one thread that was measured in the rounds of a row on two.
    fn on_one_thread(&self, two: &Row) -> Option<&Row> {
        self.find(&two.operation, two.bytes, two.threads, "one thread")
    }
}

fn into(run: &Run) -> Vec<&Row> {
    run.rows(&["into"]).collect()
}

fn fresh(run: &Run) -> Vec<&Row> {
    let own =
        run.own().filter(|(figures, _)| ["elementwise", "movement"].contains(&&*figures.subject));
    own.map(|(_, row)| row).filter(|row| ["cold", "recycled"].contains(&&*row.how)).collect()
}

pub(super) fn files(run: &Run) -> Vec<&Row> {
    run.own().filter(|(figures, _)| figures.subject == "files").map(|own| own.1).collect()
}

fn fresh_sparse(run: &Run) -> Vec<&Row> {
    run.sparse_rows().filter(|row| ["cold", "recycled"].contains(&&*row.how)).collect()
}

/// Key that the rows of all runs share: an operation on some bytes together, on one thread first.
fn ways<'a>(runs: &[&'a Run], pick: Pick) -> Vec<Way<'a>> {
    let mut ways: Vec<Way> = Vec::new();
    for way in runs.iter().flat_map(|run| pick(run)).map(way) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let order: Vec<(&str, u64)> = ways.iter().map(|way| (way.0, way.1)).collect();
    ways.sort_by_key(|way| (order.iter().position(|one| *one == (way.0, way.1)), way.2));
    ways
}

fn find<'a>(run: &'a Run, pick: Pick, wanted: Way) -> Option<&'a Row> {
    pick(run).into_iter().find(|row| way(row) == wanted)
}

/// Compares Tenure with its roof and the best of its peers, under each set.
fn compared(title: &str, runs: &[&Run], pick: Pick, roofs: Roofs) -> String {
    let ways = ways(runs, pick);
    let has_forms = ways.iter().any(|way| way.3 != "into");
    let row = |wanted: Way| {
        let (operation, bytes, threads, how) = wanted;
        let mut row = vec![operation.to_owned(), size(bytes), threads.to_string()];
        row.extend(has_forms.then(|| how.to_owned()));
        for run in runs {
            row.extend(find(run, pick, wanted).map_or_else(Default::default, |own| {
                let part = run.part_of_roof(own).map(|(part, roof)| match roofs {
                    Roofs::Parts => format!("{part:.2} ({:.2})", own.best_speed_over(roof)),
                    Roofs::Times => format!("{:.2}", 1.0 / part),
                });
                let (peer, gain) = named(run.peers(own).first());
                [time(own.median()), part.unwrap_or_default(), peer, gain]
            }));
        }
        row
    };
    let mut columns = vec!["operation", "bytes", "threads"];
    columns.extend(has_forms.then_some("memory"));
    let of_roof = match roofs {
        Roofs::Parts => "of the roof",
        Roofs::Times => "time, of the roof's",
    };
    for run in runs {
        columns.extend([run.name(), of_roof, "best peer", "faster by"]);
    }
    table(title, &columns, ways.into_iter().map(row).collect())
}

/// A table under its title; nothing where it would have no row. Numbers lie on the right.
pub(super) fn table(title: &str, columns: &[impl AsRef<str>], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let is_number = |i: usize| {
        let cells = rows.iter().map(|row| row[i].trim_start_matches(['*', '<', '>', '=', ' ']));
        cells
            .filter(|cell| !cell.is_empty())
            .all(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
    };
    let rule = |i| if is_number(i) { "---:" } else { "---" };
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = if title.is_empty() { "\n".to_owned() } else { format!("\n{title}\n\n") };
    text += &line(columns.iter().map(AsRef::as_ref).collect());
    text += &line((0..columns.len()).map(rule).collect());
    text.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    text
}

/// Tenure under one of several sets.
pub(super) fn own_name(run: &Run) -> String {
    format!("tenure, {}", run.name())
}

/// The name of a library, which marks peers that are called from Python.
pub(super) fn caller(library: &str) -> String {
    match library {
        "PyTorch" | "NumPy" => format!("{library}, from Python"),
        other => other.to_owned(),
    }
}

/// Name and time of a peer, and the gain over it.
pub(super) fn named(beside: Option<&Beside<'_>>) -> (String, String) {
    beside.map_or_else(Default::default, |Beside { peer, gain, best_gain }| {
        (format!("{} {}", peer.library, time(peer.median())), format!("{gain:.2} ({best_gain:.2})"))
    })
}
