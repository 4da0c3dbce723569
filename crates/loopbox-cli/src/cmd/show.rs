//! `loopbox show`.

use crate::args::Show;
use crate::{Outcome, input, output};
use anyhow::Result;
use loopbox_report::{View, text};

pub(crate) fn run(args: &Show) -> Result<Outcome> {
    let opened = input::open(&args.file, &args.mapping)?;
    let view = View::new(&opened.analysis);
    if args.json {
        output::plain(&(serde_json::to_string_pretty(&view)? + "\n"))?;
    } else {
        output::text(&text::show(&view, text::Options { full: args.full }), &args.terminal)?;
    }
    Ok(opened.outcome())
}
