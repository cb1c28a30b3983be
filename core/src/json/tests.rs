//! What is read is what other readers read, to the last bit; what is wrong is said.

use super::*;
use crate::scenario::presets;
use alloc::format;
use alloc::string::ToString;

/// A small generator of whole numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Both readers take it and give the same, or neither takes it.
fn same(text: &str) {
    let (ours, theirs) = (read_lax(text), serde_json::from_str::<Value>(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(ours, theirs, "{text}");
            assert_eq!(write(ours), write(theirs), "{text}");
        }
        (Err(_), Err(_)) => {}
        _ => panic!("{text:?}: we say {ours:?}, they say {theirs:?}"),
    }
}

#[test]
fn presets_and_what_damage_makes_of_them_read_as_elsewhere() {
    const SIGNS: &[u8] = br#"{}[],:"\ 0123456789.eE+-tfnu/abDd8"#;
    let mut numbers = Numbers(1);
    for preset in presets::ALL {
        let json = preset.json();
        same(json);
        assert_eq!(read(json).unwrap(), read_lax(json).unwrap());
        for _ in 0..300 {
            let mut bytes = json.as_bytes().to_vec();
            for _ in 0..=numbers.below(3) {
                let at = numbers.below(bytes.len());
                match numbers.below(3) {
                    0 => bytes[at] = SIGNS[numbers.below(SIGNS.len())],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, SIGNS[numbers.below(SIGNS.len())]),
                }
            }
            same(core::str::from_utf8(&bytes).expect("presets are ASCII"));
        }
    }
}

#[test]
fn texts_at_the_edges_of_the_grammar_read_as_elsewhere() {
    for text in [
        "",
        " ",
        "\u{feff}1",
        "nul",
        "null",
        "nullx",
        "true",
        "false",
        "tru",
        "[]",
        "[ ]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{}",
        "{ }",
        "{\"a\":1,}",
        "{\"a\" :\t1 }",
        "{a:1}",
        "{\"a\"}",
        "{1:2}",
        "[1",
        "{\"a\":",
        "1 2",
        "1\0",
        "\"\0\"",
        "\"\u{1f}\"",
        "\"\u{7f}é😀\"",
        "\"\\u0041\\n\\/\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"\\ud83dx\"",
        "\"\\ud83d\\n\"",
        "\"\\ud83d\\u0041\"",
        "\"\\uD83D\\uDE00\\u00e9\"",
        "\"",
        "\"a",
        "\"\\",
        "\"\\u",
        "\"\\u0000\"",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "-1",
        "+1",
        "1.",
        ".5",
        "1.e1",
        "1e",
        "1e+",
        "1e+2",
        "1E-2",
        "1.5e300",
        "1e400",
        "-1e400",
        "1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "0e9999999999999",
        "1e9999999999999",
        "1e-9999999999999",
        "0.1e1",
        "-0.0",
        "0.30000000000000004",
        "\r\n\t 1 ",
        "\u{a0}1",
        "{\"a\":1,\"a\":2}",
        "[{\"a\":[{}]}]",
    ] {
        same(text);
    }
    for depth in [124, 126, 128] {
        let open = "[{\"a\":".repeat(depth / 2);
        let close = "}]".repeat(depth / 2);
        same(&format!("{open}0{close}"));
        same(&format!("[{open}0{close}]"));
    }
    assert!(read(&"[".repeat(100_000)).is_err(), "and no overflow of the stack");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, said) in [
        ("", "an early end at line 1 column 1"),
        ("{\n  \"a\": [1, 2\n", "an early end at line 3 column 1"),
        ("{\n  \"a\": x }", "no value at line 2 column 8"),
        ("[1, 2}", "neither `,` nor `]` at line 1 column 6"),
        ("{\"a\": 1 \"b\": 2}", "neither `,` nor `}` at line 1 column 9"),
        ("{\"a\" 1}", "no `:` at line 1 column 6"),
        ("{a: 1}", "no key in quotes at line 1 column 2"),
        ("[01]", "an ill-formed number at line 1 column 4"),
        ("[1e999]", "a number that is too large at line 1 column 7"),
        ("\"a\nb\"", "a control character in a string at line 1 column 3"),
        ("\"\\q\"", "an ill-formed escape at line 1 column 3"),
        ("{} {}", "more text at line 1 column 4"),
        ("{\"a\": 1,\n \"a\": 2}", "a key given twice at line 2 column 2"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), said, "{text}");
    }
}

#[test]
fn a_key_given_twice_is_found_with_its_path() {
    for (text, path) in [
        (r#"{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}"#, None),
        (r#"{"a":"b","b":"a"}"#, None),
        (r#"{"a":1,"b":2,"a":3}"#, Some("a")),
        (r#"{"x":[0,{"y":{"k":1,"l":",{\"","\u006b":2}}]}"#, Some("x[1].y.k")),
    ] {
        assert_eq!(read(text).err().and_then(|fault| fault.repeated).as_deref(), path, "{text}");
        assert!(read_lax(text).is_ok());
    }
    let damaged = read(r#"{"a":1,"b":[}"#).unwrap_err();
    assert_eq!(damaged.repeated, None);
}

/// Ours and the standard library's.
fn nearest(text: &str) {
    let ours = number(text).unwrap_or(f64::INFINITY);
    let theirs: f64 = text.parse().expect("a number");
    assert_eq!(ours.to_bits(), theirs.to_bits(), "{text}: {ours:e} is not {theirs:e}");
}

#[test]
fn decimals_are_read_to_the_nearest_number() {
    let mut numbers = Numbers(7);
    for _ in 0..20_000 {
        let digits: String =
            (0..=numbers.below(40)).map(|_| char::from(b'0' + numbers.below(10) as u8)).collect();
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            continue;
        }
        nearest(&format!("{digits}e{}", numbers.below(680) as i32 - 360));
        nearest(&format!("0.{digits}"));
        nearest(&format!("{digits}.{digits}"));
        // Any number by its shortest text, and by one that is as exact as a text can be.
        let any = f64::from_bits((numbers.below(1 << 31) as u64) << 33 | numbers.below(1 << 31) as u64);
        if any.is_finite() {
            let any = if any < 0.0 { -any } else { any };
            nearest(&format!("{any:e}"));
            nearest(&format!("{any:.20e}"));
        }
    }
}

#[test]
fn halfway_between_two_numbers_the_even_one_is_read() {
    for odd in [1_u128, 3, 12_345, (1 << 53) - 1] {
        // Halfway between neighbours of 53 bits, as all its digits: with nothing behind, the last bit decides; then what is
        // far behind does.
        let halfway = (1 << 54) + odd;
        for power in 0..30 {
            let digits = (halfway * 5_u128.pow(power)).to_string();
            for text in [
                format!("{digits}e-{power}"),
                format!("{digits}.{}1e-{power}", "0".repeat(900)),
                format!("{}e-{power}", halfway * 5_u128.pow(power) - 1),
                (halfway << power).to_string(),
                format!("{}.{}1", halfway << power, "0".repeat(900)),
            ] {
                nearest(&text);
            }
        }
    }
}

#[test]
fn the_smallest_the_largest_and_the_longest_are_read() {
    for text in [
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "4.9406564584124654e-324",
        "7.4109846876186981626485318930233205854758970392148714663837852375e-324",
        "7.4109846876186981e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992e22",
        "9007199254740991e23",
        "1e23",
        "8.5e-5",
        "0e400",
        "0.0e-400",
    ] {
        nearest(text);
    }
    nearest(&format!("0.{}1", "0".repeat(2_000)));
    nearest(&format!("{}e-1990", "7".repeat(2_000)));
    nearest(&format!("1{}e-1000", "0".repeat(1_000)));
    nearest(&format!("1{}1e-1001", "0".repeat(1_000)));
}
