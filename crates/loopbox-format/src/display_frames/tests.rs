//! Records read back equal what was written, and invalid bytes are refused.

use super::*;
use crate::model::*;
use crate::text::BoundedStr;
use proptest::prelude::*;

/// A record made from increasing bytes, so that all fields differ as far as their widths allow.
fn counted<R: FrameRecord>(from: u8) -> R {
    let bytes: Vec<u8> = (0..R::BYTES).map(|i| from.wrapping_add((i % 97) as u8)).collect();
    read(&bytes).unwrap()
}

fn covers_its_bytes<R: FrameRecord>() {
    let mut room = vec![0xAA; R::BYTES + 1];
    let mut words = Words::Write(&mut room);
    R::default().fields(&mut words);
    assert_eq!(words.left(), 1, "the fields of a record take its bytes and no more");
}

#[test]
fn each_record_takes_its_bytes() {
    covers_its_bytes::<FrameScene>();
    covers_its_bytes::<FrameGesture>();
    covers_its_bytes::<JankFrame>();
    covers_its_bytes::<RecentFrame>();
    covers_its_bytes::<StageFrame>();
}

fn is_read_back<R: FrameRecord + PartialEq + core::fmt::Debug>(record: &R) {
    let mut room = vec![0xAA; R::BYTES];
    assert_eq!(write(record, &mut room), Ok(R::BYTES));
    assert_eq!(read::<R>(&room).as_ref(), Ok(record));
    assert_eq!(write(record, &mut room[1..]), Err(CodecError::Full));
    assert_eq!(read::<R>(&room[1..]), Err(CodecError::Ended));
}

proptest! {
    #[test]
    fn whatever_the_bytes_say_is_written_as_it_was_read(
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(255)], 704..705)
    ) {
        // The name is cut where it is no text, so what is compared is what was read.
        is_read_back(&read::<FrameScene>(&bytes).unwrap());
        is_read_back(&read::<FrameGesture>(&bytes).unwrap());
        is_read_back(&read::<JankFrame>(&bytes).unwrap());
        is_read_back(&read::<RecentFrame>(&bytes).unwrap());
        is_read_back(&read::<StageFrame>(&bytes).unwrap());
    }

    #[test]
    fn any_payload_is_a_list_or_an_error(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0..3_u8], 0..300)) {
        let _ = decode_list::<RecentFrame>(&bytes);
        if let Ok(gestures) = decode_list::<FrameGesture>(&bytes) {
            prop_assert!(gestures.len() * FrameGesture::BYTES <= bytes.len());
        }
    }
}

#[test]
fn unknown_is_all_ones_and_a_number_that_large_is_written_as_the_one_below() {
    let mut bytes = [0; JankFrame::BYTES];
    write(&JankFrame::default(), &mut bytes).unwrap();
    assert_eq!(bytes[20..24], [0xFF; 4], "no gesture");
    assert_eq!(bytes[102..104], [0xFF; 2], "no cause and no place");
    let jank = JankFrame { gesture: Some(u32::MAX), own_ns: Some(0), ..JankFrame::default() };
    write(&jank, &mut bytes).unwrap();
    let back: JankFrame = read(&bytes).unwrap();
    assert_eq!((back.gesture, back.own_ns), (Some(u32::MAX - 1), Some(0)));
    bytes[102] = 12;
    assert_eq!(read::<JankFrame>(&bytes).unwrap().cause, None, "a cause of a later version");
}

#[test]
fn a_name_is_kept_as_far_as_it_has_room_and_is_text() {
    let long = "x".repeat(200);
    let scene = FrameScene { name: BoundedStr::new(&long), ..FrameScene::default() };
    let mut bytes = [0; FrameScene::BYTES];
    write(&scene, &mut bytes).unwrap();
    assert_eq!(read::<FrameScene>(&bytes).unwrap().name.as_str(), format!("{}…", "x".repeat(93)));
    bytes[4] = 0xFF;
    assert_eq!(read::<FrameScene>(&bytes).unwrap().name.as_str(), "xxxx");
    bytes[2] = 0;
    assert_eq!(read::<FrameScene>(&bytes).unwrap().name.as_str(), "xx");
}

#[test]
fn a_list_of_longer_records_is_read_and_one_of_shorter_ones_is_not() {
    let records: [RecentFrame; 2] = [counted(1), counted(9)];
    let bytes = encode_list(&records);
    assert_eq!(bytes.len(), 8 + 2 * 32);
    assert_eq!(decode_list(&bytes), Ok(records.to_vec()));
    let mut longer = [40_u32.to_le_bytes(), 2_u32.to_le_bytes()].concat();
    for record in bytes[8..].chunks(32) {
        longer.extend_from_slice(record);
        longer.extend_from_slice(&[7; 8]);
    }
    assert_eq!(decode_list(&longer), Ok(records.to_vec()));
    assert_eq!(decode_list::<StageFrame>(&bytes), Err(CodecError::Malformed));
    assert_eq!(decode_list::<RecentFrame>(&bytes[..70]), Err(CodecError::Ended));
    assert_eq!(decode_list::<RecentFrame>(&bytes[..7]), Err(CodecError::Ended));
    assert_eq!(decode_list::<RecentFrame>(&[&bytes[..], &[0]].concat()), Err(CodecError::Trailing));
    let endless = [u32::MAX.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    assert_eq!(decode_list::<RecentFrame>(&endless), Err(CodecError::Ended));
}

#[test]
fn a_session_is_read_back_and_no_other_bytes_are_one() {
    let session = FrameSession {
        scenes: vec![counted(3); 18],
        gestures: vec![counted(4); 16],
        janks: vec![counted(5); 32],
        recent: vec![counted(6); 128],
        stages: vec![counted(7); 32],
    };
    let bytes = encode_session(&session);
    assert_eq!(decode_session(&bytes), Ok(session));
    assert!(bytes.len() <= (24 << 10) - 24, "a slot of the ring has room for {}", bytes.len());
    assert_eq!(decode_session(&encode_session(&FrameSession::default())), Ok(FrameSession::default()));
    for cut in (0..bytes.len()).step_by(101) {
        assert_eq!(decode_session(&bytes[..cut]), Err(CodecError::Ended));
    }
    assert_eq!(decode_session(&[&bytes[..], &[0]].concat()), Err(CodecError::Trailing));
}
