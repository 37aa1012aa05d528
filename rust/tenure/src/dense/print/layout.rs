//! Cells in brackets: how an array's text is nested, wrapped and cut short.

/// Columns that a line may fill before it wraps.
pub(super) const LINE_WIDTH: usize = 75;

/// Elements that are shown at each end of an axis that is cut short.
pub(super) const EDGE: usize = 3;

/// Stands for the elements that are left out.
const ELLIPSIS: &str = "...";

/// The indices of an axis that are shown.
pub(super) fn shown_indices(extent: usize, summarised: bool) -> Vec<usize> {
    if summarised && extent > 2 * EDGE {
        (0..EDGE).chain(extent - EDGE..extent).collect()
    } else {
        (0..extent).collect()
    }
}

/// The arrangement of cells.
pub(super) struct Layout<'a> {
    /// Extents of the array.
    pub(super) shape: &'a [usize],
    /// Whether long axes are cut to their ends.
    pub(super) summarised: bool,
    /// Text between two elements.
    pub(super) separator: &'a str,
    /// Columns before the first bracket; the lines that follow are indented as far.
    pub(super) indent: usize,
}

impl Layout<'_> {
    /// The text of an array, given the cells that are shown, in row-major order.
    pub(super) fn write(&self, cells: &[String]) -> String {
        let mut cells = cells.iter();
        let mut out = String::new();
        self.write_axis(0, &mut cells, &mut out);
        out
    }

    fn write_axis(&self, axis: usize, cells: &mut std::slice::Iter<'_, String>, out: &mut String) {
        let Some(extent) = self.shape.get(axis) else {
            out.extend(cells.next().map(String::as_str));
            return;
        };
        let cut = self.summarised && *extent > 2 * EDGE;
        let shown = if cut { 2 * EDGE } else { *extent };
        out.push('[');
        if axis + 1 == self.shape.len() {
            self.write_row(axis, shown, cut, cells, out);
        } else {
            for i in 0..shown {
                if i > 0 {
                    self.break_lines(axis, out);
                }
                if cut && i == EDGE {
                    out.push_str(ELLIPSIS);
                    self.break_lines(axis, out);
                }
                self.write_axis(axis + 1, cells, out);
            }
        }
        out.push(']');
    }

    /// Between two parts along `axis`: one line end, and an empty line for each axis further in.
    fn break_lines(&self, axis: usize, out: &mut String) {
        out.push_str(self.separator.trim_end());
        out.extend(std::iter::repeat_n('\n', self.shape.len() - axis - 1));
        out.extend(std::iter::repeat_n(' ', self.indent + axis + 1));
    }

    fn write_row(
        &self,
        axis: usize,
        shown: usize,
        cut: bool,
        cells: &mut std::slice::Iter<'_, String>,
        out: &mut String,
    ) {
        let indent = self.indent + axis + 1;
        // Room for the brackets that may follow, or for the separator's comma.
        let width = LINE_WIDTH - axis - self.separator.trim_end().len().max("]".len());
        let mut line = indent;
        let mut put = |word: &str, last: bool, out: &mut String| {
            // A word that is too long for any line stays where it is.
            if line + word.len() > width && line > indent {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                line = indent;
            }
            out.push_str(word);
            line += word.len();
            if !last {
                out.push_str(self.separator);
                line += self.separator.len();
            }
        };
        for i in 0..shown {
            if cut && i == EDGE {
                put(ELLIPSIS, false, out);
            }
            if let Some(cell) = cells.next() {
                put(cell, i + 1 == shown, out);
            }
        }
    }
}
