//! A report as a picture: a line for each node, the worst first, with bars.

use std::fmt::Write;

use super::{faster, figures};
use crate::program::report::svg::{escaped, shortened};
use crate::program::report::table::time;
use crate::quantize::{NodeDamage, Report};

const ROW: usize = 26;
const TOP: usize = 44;
/// Where columns begin, and all ends.
const NAMES: usize = 16;
const SHARES: usize = 400;
const FIGURES: usize = 610;
const TIMES: usize = 740;
const END: usize = 1010;
const BAR_WIDTH: f64 = 130.0;
/// Characters that there is room for.
const NAME_LENGTH: usize = 52;

const DAMAGE: &str = "#e34a33";
const FLOAT: &str = "#9ecae1";
const INTEGERS: &str = "#3182bd";

pub(super) fn draw(report: &Report) -> String {
    let mut picture = Picture(String::new());
    let height = TOP + report.nodes.len() * ROW + 20;
    picture.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{END}\" height=\"{height}\" \
         viewBox=\"0 0 {END} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    ));
    picture.line(format_args!("<rect width=\"{END}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    let [snr, ..] = figures(&report.output);
    let head = |picture: &mut Picture, x, text: &str| {
        picture.text(x, TOP / 2, " font-weight=\"bold\"", text);
    };
    head(&mut picture, NAMES, &format!("node; outputs with all quantized: {snr}"));
    head(&mut picture, SHARES, "share of the damage");
    head(&mut picture, FIGURES, "SNR");
    let (float, integers) = (report.float_nanoseconds, report.integer_nanoseconds);
    if let (Some(_), Some(_)) = (float, integers) {
        head(&mut picture, TIMES, &format!("f32 and int8, all: {}", faster(float, integers)));
    }
    let times = |node: &NodeDamage| [node.float_nanoseconds, node.integer_nanoseconds];
    let longest = report.nodes.iter().flat_map(times).flatten().max().unwrap_or(0).max(1);
    for (nth, node) in report.nodes.iter().enumerate() {
        let middle = TOP + nth * ROW + ROW / 2;
        let name = shortened(&format!("{}  {}", node.node, node.name), NAME_LENGTH);
        picture.text(NAMES, middle, "", &name);
        picture.bar(SHARES, middle - 7, 14, node.share * BAR_WIDTH, DAMAGE);
        let share = format!("{:.1} %", node.share * 100.0);
        picture.text(SHARES + (node.share * BAR_WIDTH) as usize + 5, middle, "", &share);
        let [snr, ..] = figures(&node.damage);
        picture.text(FIGURES, middle, "", &snr);
        for (at, colour, nanoseconds) in [
            (middle - 8, FLOAT, node.float_nanoseconds),
            (middle, INTEGERS, node.integer_nanoseconds),
        ] {
            let Some(nanoseconds) = nanoseconds else { continue };
            let width = nanoseconds as f64 / longest as f64 * BAR_WIDTH;
            picture.bar(TIMES, at, 8, width, colour);
        }
        if let [Some(float), Some(integers)] = times(node) {
            let both = format!("{}, {}", time(float), time(integers));
            picture.text(TIMES + BAR_WIDTH as usize + 5, middle, "", &both);
        }
    }
    picture.line(format_args!("</svg>"));
    picture.0
}

struct Picture(String);

impl Picture {
    // A `String` takes all that is written.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(text);
        self.0.push('\n');
    }

    /// With its base line a little below the middle, as text in a line has it.
    fn text(&mut self, x: usize, middle: usize, attributes: &str, text: &str) {
        let (y, text) = (middle + 4, escaped(text));
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>"));
    }

    fn bar(&mut self, x: usize, y: usize, height: usize, width: f64, colour: &str) {
        let width = width.max(1.0);
        self.line(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
        ));
    }
}
