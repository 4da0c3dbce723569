//! The memory that a file of the performance monitor takes in addition to its bytes: that of one stall,
//! however many stalls the file has.

use loopbox_fuzz::peak_of;
use loopbox_monitor::each_stall;
use std::convert::Infallible;
use std::fmt::Write as _;

#[test]
fn stalls_are_held_one_at_a_time() {
    let mut file = String::new();
    for pid in 0..50_000 {
        let _ = writeln!(file, "{{\"v\":1,\"pid\":{pid},\"base\":{{\"app\":\"5.2\"}}}}");
        let _ = writeln!(
            file,
            "{{\"v\":1,\"pid\":{pid},\"level\":1,\"wall_ms\":120.0,\"message\":\"a.Handler\"}}"
        );
    }
    let mut stalls = 0;
    let (held, Ok(found)) = peak_of(|| {
        each_stall(file.as_bytes(), |_, _| {
            stalls += 1;
            Ok::<_, Infallible>(())
        })
    });
    assert_eq!((stalls, found.cut_lines, found.is_of_monitor), (50_000, 0, true));
    // What is known of the processes, of which this many are distinguished.
    assert!(held <= 4 << 20, "{held} bytes besides {}", file.len());
    println!("{} bytes, {held} besides them", file.len());
}
