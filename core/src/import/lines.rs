//! Lines of a text that may hold anything.

/// Longest line that is looked at; longer ones are rejected.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// One line that is neither blank nor a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Counted from 1, blank lines and comments too.
    pub(super) number: u64,
    /// Without its line ending and the blanks around it.
    pub(super) text: &'a [u8],
}

/// The lines of a text but blank lines and `#` comments. A byte order mark and CRLF endings are left out;
/// the last line needs no line ending.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes
        .split(|&b| b == b'\n')
        .zip(1..)
        .map(|(text, number)| Line { number, text: text.trim_ascii() })
        .filter(|line| !line.text.is_empty() && line.text[0] != b'#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn marks_endings_blanks_and_comments_are_left_out_but_counted() {
        let text = b"\xEF\xBB\xBFa\r\n\r\n# note\n b\xFF \n\nlast";
        let got: Vec<(u64, &[u8])> = lines(text).map(|l| (l.number, l.text)).collect();
        assert_eq!(got, [(1, &b"a"[..]), (4, b"b\xFF"), (6, b"last")]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lines(b"x\n").count(), 1);
    }
}
