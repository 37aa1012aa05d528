//! Names of a file that are similar to a name that the file lacks, for messages.

use super::payload::shown;

/// A message lists this many names at most.
const MOST_SHOWN: usize = 3;
/// A file may have any number of names: those after the first ones are not compared.
const MOST_COMPARED: usize = 4096;
/// Names with more bytes are not compared, because the time grows with the product of two lengths.
const MOST_BYTES: usize = 256;

/// The question whether one of the similar names was meant, to be appended to a message; empty
/// where no name is similar.
#[cold]
pub(crate) fn did_you_mean<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    if wanted.len() > MOST_BYTES {
        return String::new();
    }
    let mut near: Vec<_> = names
        .take(MOST_COMPARED)
        .filter(|name| name.len() <= MOST_BYTES)
        .filter_map(|name| Some((distance(wanted, name)?, name)))
        .collect();
    near.sort_by_key(|&(distance, _)| distance); // stable: in the order of the file
    let near: Vec<_> =
        near.iter().take(MOST_SHOWN).map(|(_, name)| format!("'{}'", shown(name))).collect();
    match near.split_last() {
        None => String::new(),
        Some((last, [])) => format!(": did you mean {last}?"),
        Some((last, others)) => format!(": did you mean {} or {last}?", others.join(", ")),
    }
}

/// The number of characters to insert, remove, replace or exchange with the next one, if it is at
/// most a third of the wanted name. A name with other parts before or after a dot has distance 1:
/// `weight` and `model.weight`.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let (long, short) = if wanted.len() > name.len() { (wanted, name) } else { (name, wanted) };
    let is_part = !short.is_empty()
        && (long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'))
            || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.')));
    if is_part {
        return Some(1);
    }
    let (wanted, name): (Vec<_>, Vec<_>) = (wanted.chars().collect(), name.chars().collect());
    let most = (wanted.len() / 3).max(1);
    let far = wanted.len().abs_diff(name.len()) > most || wanted.len() <= 1;
    if far {
        return None;
    }
    Some(edits(&wanted, &name)).filter(|&edits| edits <= most)
}

/// The distance of Damerau and Levenshtein, without a second edit of exchanged characters.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_listed_nearest_first() {
        let says = |wanted: &str, names: &[&str]| did_you_mean(wanted, names.iter().copied());
        assert_eq!(says("wieght", &["weight", "bias"]), ": did you mean 'weight'?");
        assert_eq!(
            says("layer.2.bias", &["layer.0.bias", "layer.1.bias", "layer.1.weight"]),
            ": did you mean 'layer.0.bias' or 'layer.1.bias'?"
        );
        let names = ["fc.weight", "weigth", "weights", "weight.0", "wait"];
        assert_eq!(says("weight", &names), ": did you mean 'fc.weight', 'weigth' or 'weights'?");
        assert_eq!(says("model.fc", &["fc"]), ": did you mean 'fc'?");
        for (wanted, names) in [
            ("weight", &["bias", "", "height_of_it"][..]),
            ("a", &["b", "c"]),
            ("", &["a", ".a"]),
            ("weight", &[]),
        ] {
            assert_eq!(says(wanted, names), "", "{wanted}");
        }
        let long = "w".repeat(MOST_BYTES + 1);
        assert_eq!(says(&long, &[&long[1..]]), "");
        assert_eq!(says("w", &[&long]), "");
    }

    #[test]
    fn an_exchange_is_one_edit() {
        let count = |a: &str, b: &str| {
            edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(count("", ""), 0);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("abcd", "abdc"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("ca", "abc"), 3);
    }
}
