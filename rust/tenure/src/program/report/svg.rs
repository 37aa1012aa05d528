//! A report as a picture: steps from top to bottom, and to their right the block of values, from
//! left to right by offset. A value is a rectangle from the step that writes it to the last that
//! reads it.

use std::fmt::Write;

use super::table::{bytes, printable, time};
use super::{Operand, Report, ResultMemory, Step, StepKind};

const ROW: usize = 26;
const TOP: usize = 44;
/// Where arcs, names, bars and the block begin, and all ends.
const LINES: usize = 110;
const NAMES: usize = 124;
const BARS: usize = 560;
const BLOCK: usize = 730;
const END: usize = 1160;
const BAR_WIDTH: usize = 90;
/// Characters that there is room for between arcs and bars, and those of them that a shape gets.
const LINE_LENGTH: usize = 56;
const SHAPE_LENGTH: usize = 32;

/// Distinct, and light enough for text upon them.
const COLOURS: [&str; 8] =
    ["#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fbb4b9", "#d9d9d9", "#b3e2cd", "#fff2ae"];

pub(super) fn escaped(text: &str) -> String {
    let mut to = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            other => to.push(other),
        }
    }
    to
}

pub(super) fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    text.chars().take(length - 1).chain(['…']).collect()
}

struct Picture<'r> {
    report: &'r Report,
    svg: String,
}

pub(super) fn draw(report: &Report) -> String {
    let mut picture = Picture { report, svg: String::new() };
    picture.draw();
    picture.svg
}

impl Picture<'_> {
    fn draw(&mut self) {
        let rows = self.report.input_count + self.report.steps.len();
        let height = TOP + rows * ROW + 40;
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{END}\" height=\"{height}\" \
             viewBox=\"0 0 {END} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
        ));
        self.line(format_args!("<rect width=\"{END}\" height=\"{height}\" fill=\"#ffffff\"/>"));
        self.heads();
        self.block();
        for input in 0..self.report.input_count {
            self.text(NAMES, self.middle_of(Operand::Input(input)), "", &format!("input {input}"));
        }
        for nth in 0..self.report.steps.len() {
            self.step(nth);
        }
        self.line(format_args!("</svg>"));
    }

    // A `String` takes all that is written.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(text);
        self.svg.push('\n');
    }

    /// With its base line a little below the middle, as text in a line has it.
    fn text(&mut self, x: usize, middle: usize, attributes: &str, text: &str) {
        let (y, text) = (middle + 4, escaped(text));
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>"));
    }

    fn row_of(&self, read: Operand) -> usize {
        match read {
            Operand::Input(input) => input,
            Operand::Step(step) => self.report.input_count + step,
        }
    }
    fn middle_of(&self, read: Operand) -> usize {
        TOP + self.row_of(read) * ROW + ROW / 2
    }

    fn heads(&mut self) {
        const HEAD: &str = " font-weight=\"bold\"";
        let memory = &self.report.memory;
        let block = format!(
            "block of values: {}, apart {}",
            bytes(memory.peak_bytes as u64),
            bytes(memory.total_bytes as u64)
        );
        self.text(NAMES, TOP / 2, HEAD, "step and result");
        let measured = self.report.nanoseconds().filter(|_| !self.report.steps.is_empty());
        let bars = match measured {
            Some(all) => format!("time: {}", time(all)),
            None => "bytes read and written".to_owned(),
        };
        self.text(BARS, TOP / 2, HEAD, &bars);
        self.text(BLOCK, TOP / 2, HEAD, &block);
    }

    fn step(&mut self, nth: usize) {
        let report = self.report;
        let step = &report.steps[nth];
        let middle = self.middle_of(Operand::Step(nth));
        for read in &step.reads {
            self.arc(self.middle_of(*read), middle);
        }
        let weight = match step.kind {
            StepKind::Movement => " fill=\"#777777\"",
            _ => "",
        };
        let shape = shortened(&step.shape_text(), SHAPE_LENGTH);
        let output = match step.result {
            ResultMemory::Output(output) => format!(" → output {output}"),
            ResultMemory::Block { .. } => String::new(),
        };
        let beside = format!("{nth}  {output}  {shape}").chars().count();
        let name = shortened(&step.name, LINE_LENGTH.saturating_sub(beside).max(2));
        self.text(NAMES, middle, weight, &format!("{nth}  {name}{output}"));
        const RIGHT: &str = " text-anchor=\"end\" fill=\"#555555\"";
        self.text(BARS - 14, middle, RIGHT, &shape);
        self.bar(step, middle);
    }

    /// From the right edge of one row to that of a later one, the further out the longer.
    fn arc(&mut self, from: usize, to: usize) {
        let out = (14 + (to - from) * 7 / 10).min(LINES - 6);
        let x = LINES - out;
        self.line(format_args!(
            "<path d=\"M{LINES} {from} C{x} {from} {x} {to} {LINES} {to}\" fill=\"none\" \
             stroke=\"#888888\"/>"
        ));
        let (left, above, below) = (LINES - 5, to - 3, to + 3);
        self.line(format_args!(
            "<path d=\"M{left} {above} L{LINES} {to} L{left} {below} Z\" fill=\"#888888\"/>"
        ));
    }

    /// The step's part of the greatest.
    fn bar(&mut self, step: &Step, middle: usize) {
        let weight = |step: &Step| step.nanoseconds.unwrap_or(step.moved_bytes());
        let most = self.report.steps.iter().map(weight).max().unwrap_or_default().max(1);
        let width = (weight(step) as f64 / most as f64 * BAR_WIDTH as f64).max(1.0);
        let y = middle - 6;
        self.line(format_args!(
            "<rect x=\"{BARS}\" y=\"{y}\" width=\"{width:.1}\" height=\"12\" fill=\"#6baed6\"/>"
        ));
        let label = match step.nanoseconds {
            Some(nanoseconds) => time(nanoseconds),
            None => bytes(weight(step)),
        };
        self.text(BARS + width as usize + 5, middle, " fill=\"#333333\"", &label);
    }

    fn block(&mut self) {
        let report = self.report;
        let bottom = TOP + (report.input_count + report.steps.len()) * ROW;
        let (top, width) = (TOP + report.input_count * ROW, END - BLOCK - 16);
        let height = bottom - top;
        self.line(format_args!(
            "<rect x=\"{BLOCK}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             fill=\"#fafafa\" stroke=\"#cccccc\"/>"
        ));
        let scale = width as f64 / (report.memory.peak_bytes as f64).max(1.0);
        for (nth, step) in report.steps.iter().enumerate() {
            let ResultMemory::Block { offset, bytes: size, last_use } = step.result else {
                continue;
            };
            if size == 0 {
                continue;
            }
            let (x, wide) = (BLOCK as f64 + offset as f64 * scale, size as f64 * scale);
            let y = TOP + (report.input_count + nth) * ROW + 2;
            let high = (last_use.max(nth) + 1 - nth) * ROW - 4;
            let colour = COLOURS[nth % COLOURS.len()];
            let title = escaped(&format!("{nth} {}: {}", step.name, bytes(size)));
            self.line(format_args!(
                "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{high}\" rx=\"3\" \
                 fill=\"{colour}\" stroke=\"#666666\"><title>{title}</title></rect>"
            ));
            // About 7 to a character.
            let fits = |label: &String| wide > 7.0 * label.len() as f64 + 4.0;
            let labels = [format!("{nth}: {}", bytes(size)), nth.to_string()];
            if let Some(label) = labels.iter().find(|label| fits(label)) {
                self.text(x as usize + 5, y + ROW / 2 - 2, "", label);
            }
        }
    }
}
