//! The encoding is that of bincode's own serde support, byte for byte, and so is what is refused.

use super::*;
use core::fmt::Debug;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

const CONFIG: Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<DECODE_LIMIT>,
> = ENCODING.with_limit::<DECODE_LIMIT>();

/// Every kind of type that serde's derive knows and a payload may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    unsigned: (u8, u16, u32, u64, usize),
    signed: (i8, i16, i32, i64, isize),
    flag: bool,
    text: String,
    list: Vec<Option<Choice>>,
    map: BTreeMap<String, u16>,
    nothing: (),
    pair: Pair,
    wrapped: Wrapped,
    boxed: Box<Choice>,
    array: [u16; 3],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair(u32, i64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapped(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Choice {
    Unit,
    One(i32),
    Two(u64, String),
    Named { at: u64, on: Option<bool> },
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Unit),
        number().prop_map(|n| Choice::One(n as i32)),
        (number(), "\\PC{0,8}").prop_map(|(n, text)| Choice::Two(n, text)),
        (number(), any::<Option<bool>>()).prop_map(|(at, on)| Choice::Named { at, on }),
    ]
}

/// Numbers of every length, with those where one length ends.
fn number() -> impl Strategy<Value = u64> {
    let edge = |at: u64| (at - 3)..(at + 3);
    prop_oneof![
        any::<u64>(),
        0..300_u64,
        edge(251),
        edge(1 << 16),
        edge(1 << 32),
        Just(u64::MAX),
        Just(1 << 63)
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = vec(number(), 14..15);
    let lists = (vec(proptest::option::of(choice()), 0..5), "\\PC{0,90}", choice());
    (numbers, lists, any::<bool>()).prop_map(|(n, (list, text, other), flag)| Everything {
        unsigned: (n[0] as u8, n[1] as u16, n[2] as u32, n[3], n[4] as usize),
        signed: (n[5] as i8, n[6] as i16, n[7] as i32, n[8] as i64, n[9] as isize),
        flag,
        map: text.split(' ').map(|word| (word.to_owned(), n[10] as u16)).collect(),
        wrapped: Wrapped(text.clone()),
        text,
        list,
        nothing: (),
        pair: Pair(n[11] as u32, n[12] as i64),
        boxed: Box::new(other),
        array: [n[11] as u16, n[12] as u16, n[13] as u16],
    })
}

/// Both decode the same value, or both refuse. What follows the value is for ours to refuse, for the other to leave.
fn agree<T: DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    let theirs = bincode::serde::decode_from_slice::<T, _>(bytes, CONFIG).ok();
    let theirs = theirs.filter(|(_, used)| *used == bytes.len()).map(|(value, _)| value);
    assert_eq!(decode::<T>(bytes).ok(), theirs, "{bytes:?}");
}

proptest! {
    #[test]
    fn the_same_bytes_and_back(value in everything()) {
        let bytes = encode(&value).unwrap();
        prop_assert_eq!(&bytes, &bincode::serde::encode_to_vec(&value, CONFIG).unwrap());
        let mut room = vec![0; bytes.len()];
        prop_assert_eq!(encode_into(&value, &mut room), Ok(bytes.len()));
        prop_assert_eq!(&room, &bytes);
        prop_assert_eq!(decode::<Everything>(&bytes), Ok(value.clone()));
        for len in 0..bytes.len() {
            prop_assert!(encode_into(&value, &mut room[..len]).is_err());
            prop_assert!(decode::<Everything>(&bytes[..len]).is_err());
        }
    }

    #[test]
    fn damage_is_judged_alike(value in everything(), at in any::<usize>(), byte in any::<u8>()) {
        let mut bytes = encode(&value).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        agree::<Everything>(&bytes);
    }

    #[test]
    fn any_bytes_are_judged_alike(bytes in vec(prop_oneof![any::<u8>(), 0..4_u8, 249..=255_u8], 0..40)) {
        agree::<Vec<Choice>>(&bytes);
        agree::<(u16, i32, u64)>(&bytes);
        agree::<(i8, i16, i64, bool)>(&bytes);
        agree::<Option<String>>(&bytes);
        agree::<BTreeMap<u8, Pair>>(&bytes);
    }
}
