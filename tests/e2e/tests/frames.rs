//! Frames of every kind: the sampler's stacks are compared with the dex files, one by one.

use anyhow::{Context, Result};
use lab_reports::stacks_of;
use lab_reports::truth::{named, oracle};
use loopbox_e2e::launcher;
use loopbox_e2e::matrix::{CELLS, Cell, Mode, run_all, sample};

/// Runs the cells of the matrix for ART 10 and 11 that are quick to set up, each for a short time. `cargo
/// xtask stress testbeds` runs all testbeds, for longer.
#[test]
fn the_matrix() {
    let cells: Vec<_> = CELLS.into_iter().filter(Cell::in_tests).collect();
    assert!(run_all(&cells, 150), "see the table");
}

/// The oracle detects errors: a wrong dex pc always, and a missing frame mostly.
#[test]
fn the_oracle_sees_wrong_stacks() -> Result<()> {
    let launcher = launcher("art10")?;
    let oracle = oracle(&launcher)?;
    let (mut stacks, mut shifted, mut shortened) = (0, 0, 0);
    let (sampled, _) = sample(&launcher, Mode::Interpreter, &["Virtual", "Library"], 2_000)?;
    for (_, report) in sampled {
        for (stack, _) in
            report.trees.iter().map(|tree| stacks_of(&report, tree)).collect::<Result<Vec<_>>>()?.concat()
        {
            let frames: Vec<_> = stack.iter().map(named).collect();
            let caller =
                frames.iter().skip(1).position(|f| f.dex_pc.is_some()).context("only native frames")? + 1;
            let mut wrong = frames.clone();
            wrong[caller].dex_pc = wrong[caller].dex_pc.map(|pc| pc + 1);
            shifted += usize::from(oracle.check(&wrong).is_err());
            let mut wrong = frames;
            wrong.remove(caller);
            shortened += usize::from(oracle.check(&wrong).is_err());
            stacks += 1;
        }
    }
    assert!(stacks > 0);
    assert_eq!(shifted, stacks, "every shifted dex pc is seen");
    assert!(shortened * 2 > stacks, "{shortened} of {stacks} missing frames were seen");
    Ok(())
}
