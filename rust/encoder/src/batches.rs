//! Batches of texts of nearly one length, so that little of a batch is padding.

/// Texts that are computed in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Which they are, the longest first.
    pub texts: Vec<usize>,
    /// The tokens of the longest.
    pub words: usize,
}

/// Cost of a run in addition to its tokens, in tokens: this much padding, spread over all of a
/// batch, is better than another run. (A run of 1 x 16 takes as long as 29 tokens of a run of 32 x
/// 128.)
const RUN: usize = 16;
/// The part of a batch that may be padding however long the batch is.
const SHARE: usize = 16;

impl Batch {
    /// Batches of all texts, the longest texts first. A batch has at most `most` tokens, padding
    /// counted, unless it is a single text that has more; and at most 16 tokens or a 16th of it,
    /// whichever is more, are padding.
    pub fn of_lengths(lengths: &[usize], most: usize) -> Vec<Batch> {
        let mut texts: Vec<usize> = (0..lengths.len()).collect();
        // Stable, so that texts of one length stay in their order.
        texts.sort_by_key(|&text| std::cmp::Reverse(lengths[text]));
        let mut batches: Vec<Batch> = Vec::new();
        let mut padding = 0;
        for text in texts {
            if let Some(last) = batches.last_mut() {
                let tokens = (last.texts.len() + 1).saturating_mul(last.words);
                let more = padding + last.words - lengths[text];
                if tokens <= most && more <= RUN.max(tokens / SHARE) {
                    last.texts.push(text);
                    padding = more;
                    continue;
                }
            }
            batches.push(Batch { texts: vec![text], words: lengths[text] });
            padding = 0;
        }
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::random;

    #[test]
    fn every_text_is_in_one_batch_and_few_tokens_are_padding() {
        let mut numbers = random::Generator::new(1);
        for (count, longest) in [(0, 1), (1, 512), (2, 2), (300, 7), (1000, 60), (700, 512)] {
            for most in [0, 100, 4096, usize::MAX] {
                let lengths = numbers.integers(0..longest + 1, count).unwrap().to_vec();
                let lengths: Vec<usize> = lengths.into_iter().map(|n: i64| n as usize).collect();
                let batches = Batch::of_lengths(&lengths, most);
                let mut found = vec![0; lengths.len()];
                for batch in &batches {
                    let of_batch: Vec<usize> = batch.texts.iter().map(|&t| lengths[t]).collect();
                    assert_eq!(of_batch.iter().max(), Some(&batch.words));
                    let tokens = batch.words * of_batch.len();
                    assert!(tokens <= most || of_batch.len() == 1, "{tokens}, {most}");
                    let padding = tokens - of_batch.iter().sum::<usize>();
                    assert!(padding <= RUN.max(tokens / SHARE), "{padding} of {tokens}");
                    batch.texts.iter().for_each(|&text| found[text] += 1);
                }
                assert!(found.iter().all(|&times| times == 1), "{found:?}");
            }
        }
    }

    #[test]
    fn texts_of_one_length_fill_batches_in_their_order() {
        let texts = |batch: Batch| batch.texts;
        let batches: Vec<_> = Batch::of_lengths(&[8; 10], 32).into_iter().map(texts).collect();
        assert_eq!(batches, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
    }
}
