//! Flame graphs (SVG) of one message's stacks in order of time, or of all stacks merged.
