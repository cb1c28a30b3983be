//! Patterns with `*` and `**`, matched in time proportional to the text.
//!
//! The set of all positions in the pattern that the text so far may have reached is kept as bits and moved on
//! byte by byte (the Shift-And method of Baeza-Yates and Gonnet 1992, with stars). Backtracking was not taken:
//! `**a*a*a*b` would let one long path burn quadratic time, and patterns and paths both come from
//! outside. Bytes, not characters: header values need not be UTF-8.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// What `*` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Paths: `*` is any text without `/`, `**` any text.
    Path,
    /// Header values: `*` is any text.
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// Any text without `/`.
    Segment,
    /// Any text.
    Any,
}

/// A pattern, ready to match.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    // Text before the first star and after the last; both compared directly.
    prefix: Box<[u8]>,
    suffix: Box<[u8]>,
    middle: Middle,
}

#[derive(Clone, Debug)]
enum Middle {
    /// No star: the prefix is everything.
    Nothing,
    /// A single star that stops at `/`.
    Segment,
    /// A single star that takes anything.
    Any,
    /// Several stars with text between.
    Many(Automaton),
}

impl Glob {
    pub(super) fn new(pattern: &[u8], dialect: Dialect) -> Self {
        let tokens = tokens(pattern, dialect);
        let star = |t: &Token| !matches!(t, Token::Byte(_));
        let bytes = |tokens: &[Token]| -> Box<[u8]> {
            tokens.iter().filter_map(|t| if let Token::Byte(b) = t { Some(*b) } else { None }).collect()
        };
        let (Some(first), Some(last)) = (tokens.iter().position(star), tokens.iter().rposition(star)) else {
            return Self { prefix: bytes(&tokens), suffix: Box::default(), middle: Middle::Nothing };
        };
        let middle = match &tokens[first..=last] {
            [Token::Segment] => Middle::Segment,
            [Token::Any] => Middle::Any,
            many => Middle::Many(Automaton::new(many)),
        };
        Self { prefix: bytes(&tokens[..first]), suffix: bytes(&tokens[last + 1..]), middle }
    }

    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let Some(rest) = text.strip_prefix(&*self.prefix) else { return false };
        if let Middle::Nothing = self.middle {
            return rest.is_empty();
        }
        let Some(rest) = rest.strip_suffix(&*self.suffix) else { return false };
        match &self.middle {
            Middle::Nothing | Middle::Any => true,
            Middle::Segment => !rest.contains(&b'/'),
            Middle::Many(automaton) => automaton.matches(rest),
        }
    }
}

/// Cuts a pattern into tokens; stars side by side are one, the wider of them.
fn tokens(pattern: &[u8], dialect: Dialect) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'*' {
            tokens.push(Token::Byte(byte));
            continue;
        }
        let mut stars = 1;
        while bytes.next_if_eq(&b'*').is_some() {
            stars += 1;
        }
        let any = stars > 1 || dialect == Dialect::Text;
        tokens.push(if any { Token::Any } else { Token::Segment });
    }
    tokens
}

const WORD: usize = 64;
/// Words on the stack; a pattern beyond 511 tokens takes its set of positions from the heap.
const STACK_WORDS: usize = 8;

/// A pattern that begins and ends with a star, as bit masks over its positions.
///
/// Position i means: tokens before i are behind us. Position `tokens` is the end.
#[derive(Clone, Debug)]
struct Automaton {
    words: usize,
    tokens: usize,
    // Which row of `masks` a byte has; row 0 is for bytes that the pattern does not name.
    row_of: Box<[u8; 256]>,
    // masks[row * words..][..words]: positions that this byte moves past.
    masks: Vec<u64>,
    // Positions at a star; at a star that takes any byte.
    stars: Vec<u64>,
    any: Vec<u64>,
}

impl Automaton {
    fn new(tokens: &[Token]) -> Self {
        let words = tokens.len() / WORD + 1;
        let mut automaton = Self {
            words,
            tokens: tokens.len(),
            row_of: Box::new([0; 256]),
            masks: vec![0; words],
            stars: vec![0; words],
            any: vec![0; words],
        };
        for (position, token) in tokens.iter().enumerate() {
            let (word, bit) = (position / WORD, 1 << (position % WORD));
            match *token {
                Token::Byte(byte) => {
                    let row = automaton.row_for(byte);
                    automaton.masks[row * words + word] |= bit;
                }
                Token::Segment => automaton.stars[word] |= bit,
                Token::Any => {
                    automaton.stars[word] |= bit;
                    automaton.any[word] |= bit;
                }
            }
        }
        automaton
    }

    /// The row of a byte that the pattern names, made if need be. No pattern names `*`, so 255 rows suffice.
    fn row_for(&mut self, byte: u8) -> usize {
        let row = &mut self.row_of[usize::from(byte)];
        if *row == 0 {
            *row = (self.masks.len() / self.words) as u8;
            self.masks.resize(self.masks.len() + self.words, 0);
        }
        usize::from(*row)
    }

    fn matches(&self, text: &[u8]) -> bool {
        if self.words <= STACK_WORDS {
            self.run(text, &mut [0; STACK_WORDS][..self.words])
        } else {
            self.run(text, &mut vec![0; self.words])
        }
    }

    /// Moves the set `reached` along the text; it comes in empty.
    fn run(&self, text: &[u8], reached: &mut [u64]) -> bool {
        reached[0] = 1;
        self.pass_stars(reached);
        for &byte in text {
            let row = usize::from(self.row_of[usize::from(byte)]) * self.words;
            let mask = &self.masks[row..row + self.words];
            let stay = if byte == b'/' { &self.any } else { &self.stars };
            let mut carry = 0;
            for ((set, mask), stay) in reached.iter_mut().zip(mask).zip(stay) {
                let moved = *set & mask;
                *set = (moved << 1) | carry | (*set & stay);
                carry = moved >> (WORD - 1);
            }
            self.pass_stars(reached);
            if reached.iter().all(|&set| set == 0) {
                return false;
            }
        }
        reached[self.tokens / WORD] >> (self.tokens % WORD) & 1 == 1
    }

    /// A star may stand for nothing. No two are side by side, so one step is enough.
    fn pass_stars(&self, reached: &mut [u64]) {
        let mut carry = 0;
        for (set, stars) in reached.iter_mut().zip(&self.stars) {
            let at_star = *set & stars;
            *set |= (at_star << 1) | carry;
            carry = at_star >> (WORD - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    /// The definition, by trying everything.
    fn by_definition(pattern: &[Token], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((Token::Byte(b), rest)) => {
                text.split_first().is_some_and(|(t, text)| t == b && by_definition(rest, text))
            }
            Some((star, rest)) => (0..=text.len())
                .take_while(|&n| *star == Token::Any || !text[..n].contains(&b'/'))
                .any(|n| by_definition(rest, &text[n..])),
        }
    }

    /// Every text of up to `longest` bytes over the alphabet, in turn.
    fn every(alphabet: &[u8], longest: u32, mut visit: impl FnMut(&[u8])) {
        for length in 0..=longest {
            for mut number in 0..alphabet.len().pow(length) {
                let text: Vec<u8> = (0..length)
                    .map(|_| {
                        let byte = alphabet[number % alphabet.len()];
                        number /= alphabet.len();
                        byte
                    })
                    .collect();
                visit(&text);
            }
        }
    }

    #[test]
    fn every_small_pattern_agrees_with_the_definition_on_every_small_text() {
        let mut texts = Vec::new();
        every(b"a/b", 5, |text| texts.push(text.to_vec()));
        every(b"a/*", 5, |pattern| {
            for dialect in [Dialect::Path, Dialect::Text] {
                let (glob, tokens) = (Glob::new(pattern, dialect), tokens(pattern, dialect));
                for text in &texts {
                    assert_eq!(
                        glob.matches(text),
                        by_definition(&tokens, text),
                        "{dialect:?} {:?} on {:?}",
                        core::str::from_utf8(pattern),
                        core::str::from_utf8(text)
                    );
                }
            }
        });
    }

    #[test]
    fn long_patterns_cross_words_and_the_stack() {
        for length in [60, 63, 64, 65, 127, 128, 129, 511, 512, 513, 2_000] {
            let middle: Vec<u8> = (0..length).map(|i| b'a' + (mix(i) % 26) as u8).collect();
            let pattern = [b"/**", &middle[..], b"*", &middle[..], b"**.x"].concat();
            let text = [b"/k/", &middle[..], b"--", &middle[..], b"/y.x"].concat();
            let slash = [b"/k/", &middle[..], b"/", &middle[..], b"/y.x"].concat();
            let glob = Glob::new(&pattern, Dialect::Path);
            assert!(glob.matches(&text), "length {length}");
            assert!(!glob.matches(&slash), "length {length}: * crossed a /");
            assert!(!glob.matches(&text[..text.len() - 5]), "length {length}");
        }
    }

    #[test]
    fn a_hostile_pair_takes_time_in_proportion_to_the_text() {
        // Backtracking would try 10^5 squared or worse; this ends at once, or the test hangs.
        let text = vec![b'a'; 100_000];
        let pattern = [&b"**"[..], &b"a*".repeat(30), b"**", &b"a*".repeat(30), b"b"].concat();
        assert!(!Glob::new(&pattern, Dialect::Path).matches(&text));
        let pattern = [&b"**"[..], &b"a*".repeat(200), b"b*"].concat();
        assert!(!Glob::new(&pattern, Dialect::Path).matches(&text));
        assert!(Glob::new(&b"a*".repeat(200), Dialect::Path).matches(&text));
    }

    #[test]
    fn any_byte_can_be_in_pattern_and_text() {
        let all: Vec<u8> = (0..=255).filter(|&b| b != b'*').collect();
        let pattern = [b"*", &all[..], b"*", &all[..], b"*"].concat();
        let glob = Glob::new(&pattern, Dialect::Text);
        assert!(glob.matches(&[&all[..], b"*\xff", &all[..]].concat()));
        assert!(!glob.matches(&all));
    }
}
