//! The wire form of protocol buffers, as much of it as a load report needs.
//!
//! Source: "Encoding", the protocol buffers' documentation: a message is a row of fields, each a varint
//! `number << 3 | wire type` and a value. Groups (wire types 3 and 4) are of the past and are refused.

/// The value of a field as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Wire type 0: whole numbers.
    Varint(u64),
    /// Wire type 1: eight bytes, here always a double.
    Double(f64),
    /// Wire type 2: text, or a message.
    Bytes(&'a [u8]),
    /// Wire type 5: four bytes; no field of a load report.
    Four,
}

/// The fields of a message; ends after the first that is malformed.
pub(super) struct Fields<'a>(Option<&'a [u8]>);

/// The bytes end within a field, or are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl<'a> Fields<'a> {
    pub(super) const fn new(message: &'a [u8]) -> Self {
        Self(Some(message))
    }
}

impl<'a> Iterator for Fields<'a> {
    /// A field's number and value.
    type Item = Result<(u64, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.0.take().filter(|rest| !rest.is_empty())?;
        let Some(field) = field(&mut rest) else { return Some(Err(Malformed)) };
        self.0 = Some(rest);
        Some(Ok(field))
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => Value::Varint(varint(rest)?),
        1 => Value::Double(f64::from_le_bytes(*rest.split_off(..8)?.first_chunk()?)),
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(rest.split_off(..length)?)
        }
        5 => {
            rest.split_off(..4)?;
            Value::Four
        }
        _ => return None,
    };
    (tag >> 3 > 0).then_some((tag >> 3, value))
}

/// Seven bits a byte, the lowest first; the top bit says that more follow. At most 64 bits.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[track_caller]
    fn check(bytes: &[u8], want: &[Result<(u64, Value<'_>), Malformed>]) {
        let got: Vec<_> = Fields::new(bytes).collect();
        assert_eq!(got, want, "{bytes:x?}");
    }

    #[test]
    fn fields_of_every_wire_type_are_told_apart() {
        check(&[0x18, 0x96, 0x01], &[Ok((3, Value::Varint(150)))]);
        check(&[0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f], &[Ok((1, Value::Double(1.0)))]);
        check(
            &[0x42, 0x02, b'h', b'i', 0x2d, 1, 2, 3, 4],
            &[Ok((8, Value::Bytes(b"hi"))), Ok((5, Value::Four))],
        );
        check(
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[Ok((3, Value::Varint(u64::MAX)))],
        );
    }

    #[test]
    fn what_is_cut_short_or_no_field_is_malformed() {
        for bytes in [
            &[0x18][..],
            &[0x18, 0x80],
            &[0x09, 0, 0],
            &[0x42, 0x05, b'h'],
            &[0x2d, 1],
            &[0x0b],
            &[0x00, 0x00],
            &[0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ] {
            check(bytes, &[Err(Malformed)]);
        }
    }
}
