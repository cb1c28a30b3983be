//! Links that open, and links that must not.

use super::*;
use crate::scenario::presets;
use alloc::string::ToString;
use alloc::vec::Vec;

fn sample() -> Parsed {
    Parsed::from(presets::get("flash-crowd").unwrap().scenario().wire().clone())
}

#[test]
fn every_preset_survives_both_codecs() {
    for preset in presets::ALL {
        let wire = preset.scenario().wire().clone();
        let z = encode(&wire);
        assert_eq!(decode(&z).map(|link| link.parsed.wire).as_ref(), Ok(&wire), "{}: {z}", preset.name);
        let j = encode_readable(&Parsed::from(wire.clone()));
        assert_eq!(decode(&j).map(|link| link.parsed.wire).as_ref(), Ok(&wire), "{}: {j}", preset.name);
        assert!(z.len() < 600, "{}: {} characters", preset.name, z.len());
    }
}

#[test]
fn a_link_opens_from_wherever_it_was_copied() {
    let z = encode_parsed(&sample());
    for text in [
        z.clone(),
        format!("#{z}"),
        format!("https://example.org/play/#{z}"),
        format!("https://example.org/v/1.2/?x=1#{z}&at=3"),
        format!("  {z}\n"),
    ] {
        assert_eq!(decode(&text).map(|link| link.parsed), Ok(sample()), "{text}");
        assert!(looks_like(&text), "{text}");
    }
    for text in
        ["", "#", "t1z", "demo.toml", "t1z/x.json", "{\"tidegate\":1}", "preset:demo", "t0z.x", "t12345z.x"]
    {
        assert!(!looks_like(text), "{text}");
        assert_eq!(decode(text), Err(LinkError::NotALink), "{text}");
    }
}

#[test]
fn unknown_fields_travel_on() {
    let json =
        sample().to_canonical_json().replacen("{\"tidegate\":1", "{\"tidegate\":1,\"colour\":[1,{}]", 1);
    let link = open(&json).unwrap();
    assert_eq!(link.parsed.unknown, ["colour"]);
    let again = decode(&link.to_text()).unwrap();
    assert_eq!(again, link);
    assert!(again.parsed.to_canonical_json().ends_with(",\"colour\":[1,{}]}"));
}

#[test]
fn every_changed_character_and_every_cut_is_noticed() {
    let link = encode_parsed(&sample());
    assert!(link.is_ascii());
    for end in 0..link.len() {
        assert!(decode(&link[..end]).is_err(), "cut after {end}");
    }
    let alphabet: Vec<u8> = (b' '..=b'~').collect();
    for at in 0..link.len() {
        for &other in &alphabet {
            let mut changed = link.clone().into_bytes();
            if changed[at] == other {
                continue;
            }
            changed[at] = other;
            let changed = String::from_utf8(changed).unwrap();
            assert!(decode(&changed).is_err(), "{changed} differs from {link} at {at}");
        }
    }
    for at in 0..link.len() - 1 {
        let mut swapped = link.clone().into_bytes();
        swapped.swap(at, at + 1);
        let swapped = String::from_utf8(swapped).unwrap();
        assert!(swapped == link || decode(&swapped).is_err(), "{swapped}");
        let mut lost = link.clone();
        lost.remove(at);
        assert!(decode(&lost).is_err(), "{lost}");
    }
}

#[test]
fn the_changed_character_is_named_and_the_link_repaired() {
    let link = encode_parsed(&presets::get("demo").unwrap().scenario().wire().clone().into());
    let payload = 4;
    for at in payload..link.len() {
        let was = link.as_bytes()[at];
        let other = if was == b'7' { b'8' } else { b'7' };
        if was == b'.' {
            continue;
        }
        let mut changed = link.clone().into_bytes();
        changed[at] = other;
        let changed = format!("https://example.org/#{}&at=1", String::from_utf8(changed).unwrap());
        let want = LinkError::Damaged {
            character: "https://example.org/#".len() + at + 1,
            found: char::from(other),
            repaired: Some(link.clone()),
        };
        assert_eq!(decode(&changed), Err(want), "{changed}");
    }
    let strange = format!("ü#{}*{}", &link[..50], &link[51..]);
    let error = decode(&strange).unwrap_err();
    assert_eq!(error.to_string(), "This link is damaged. Character 53 is not part of a Tidegate link: '*'.");
}

#[test]
fn readable_links_may_be_written_by_hand() {
    let json = r#"{"tidegate":1,"title":"A%26B","classes":[{"name":"a"}],"stages":[{"name":"s","workers":1,"work":{"at":"servers"}}],"servers":[{"name":"x","speed":0.5}]}"#;
    for text in [format!("t1j.{json}"), format!("#t1j.{json}&at=2"), sealed(format!("t1j.{json}"))] {
        let link = decode(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((&*link.parsed.wire.title, link.parsed.wire.servers[0].speed), ("A&B", 0.5));
    }
    let readable = encode_readable(&sample());
    assert_eq!(decode(&readable).map(|link| link.parsed), Ok(sample()));
    let (body, check) = readable.rsplit_once('.').unwrap();
    assert_eq!(decode(body).map(|link| link.parsed), Ok(sample()));
    // With a check, every change is noticed here too.
    let changed = body.replacen("Flash", "Flesh", 1);
    assert!(matches!(decode(&format!("{changed}.{check}")), Err(LinkError::Damaged { .. })));
    assert_eq!(decode(&format!("{body}.{}", &check[..5])), Err(LinkError::CutShort));
    assert!(matches!(decode("t1j.%7B%zz%7D"), Err(LinkError::Damaged { character: 8, found: '%', .. })));
}

#[test]
fn other_versions_and_codecs_are_named() {
    for (link, want) in [
        (
            sealed("t2z.AAAA".to_string()),
            "This link needs a newer Tidegate. It was made with version 2 of the scenario format; this one knows 1.",
        ),
        (
            sealed("t3q.AAAA".to_string()),
            "This link needs a newer Tidegate. It was made with version 3 of the scenario format; this one knows 1.",
        ),
        (
            "t2j.{\"tidegate\":2,\"title\":\"T\"}".to_string(),
            "This link needs a newer Tidegate. It was made with version 2 of the scenario format; this one knows 1.",
        ),
        (
            sealed("t1p.AAAA".to_string()),
            "This link names a preset and changes to it (codec p), which this version of Tidegate does not read.",
        ),
        (
            sealed("t1x.AAAA".to_string()),
            "This link is packed in a way (codec x) that this version of Tidegate does not read.",
        ),
        (
            sealed("t1z.AAAA".to_string()),
            "This link is damaged. Nothing was changed on the way, but what is in it is no scenario.",
        ),
        (
            "t2z.AAAA.0000000".to_string(),
            "This link is damaged. Characters were changed or are missing; which, cannot be told.",
        ),
        (
            "t1z.AAAA".to_string(),
            "This link is damaged. It was cut short: it should end in a dot and seven characters.",
        ),
        ("t1j.{\"tidegate\":1}".to_string(), "classes: required: a list of 1 to 16 entries, found nothing"),
        (
            "hello".to_string(),
            "This is not a Tidegate link. One begins with t1z. or t1j., possibly after a #.",
        ),
    ] {
        assert_eq!(decode(&link).unwrap_err().to_string(), want, "{link}");
    }
    let Err(LinkError::Newer { scenario: Some(newer), .. }) = decode("t2j.{\"tidegate\":2,\"title\":\"T\"}")
    else {
        panic!("the readable codec shows what is inside")
    };
    assert_eq!(newer.title, "T");
}

#[test]
fn sizes_are_bounded() {
    let long = format!("t1z.{}.0000000", "A".repeat(MAX_CHARS));
    assert_eq!(decode(&long), Err(LinkError::TooLong { chars: MAX_CHARS + 12 }));
    let bomb = encode_z(&format!("{{\"x\":\"{}\"}}", "y".repeat(MAX_JSON_BYTES)));
    assert!(bomb.len() < 2_000);
    assert_eq!(decode(&bomb), Err(LinkError::Content));
}

#[test]
fn the_dictionary_is_frozen() {
    assert_eq!(deflate::DICTIONARY_1.len(), 3_704);
    assert_eq!(
        text::crc32(deflate::DICTIONARY_1),
        0x8FE6_610A,
        "links already shared depend on every byte of it"
    );
}

fn built_in(name: &str) -> Option<Parsed> {
    Some(Parsed::from(presets::get(name)?.scenario().wire().clone()))
}

fn of(name: &str) -> Parsed {
    built_in(name).expect("a preset")
}

#[test]
fn a_second_scenario_is_told_by_what_differs() {
    let a = of("flash-crowd");
    let mut b = a.clone();
    b.wire.stages[0].workers += 1;
    b.wire.title = "Another".into();
    for (other, most) in [(&a, 20), (&b, 80)] {
        let text = encode_other(&a, other);
        assert!(text.len() <= most && text.starts_with("d1z."), "{text}");
        assert_eq!(decode_other(&a, &text, built_in).as_ref(), Ok(other));
    }
    assert_eq!(decode_other(&a, &encode_other(&a, &of("mm1")), built_in), Ok(of("mm1")));
    assert_eq!(decode_other(&a, "preset.mm1", built_in), Ok(of("mm1")));
}

#[test]
fn a_damaged_second_scenario_is_refused() {
    let a = of("flash-crowd");
    let mut b = a.clone();
    b.wire.servers.pop();
    b.wire.stages[1].workers = 7;
    let text = encode_other(&a, &b);
    for end in 0..text.len() {
        assert!(decode_other(&a, &text[..end], built_in).is_err(), "cut at {end}");
    }
    let other = decode_other(&of("mm1"), &text, built_in);
    assert_eq!(other, Err(LinkError::Content), "a list of settings that the first scenario has no place for");
    assert!(decode_other(&a, "preset.unheard-of", built_in).is_err());
}
