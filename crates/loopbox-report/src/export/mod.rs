//! A report in the formats of other tools: Perfetto, Chrome trace events, Firefox profiler, speedscope, collapsed
//! stacks, the article's `;` text, and Parquet for many reports. One file per format.
