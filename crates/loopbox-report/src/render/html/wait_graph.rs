//! Which thread waits for which, as a drawing: each thread is a box, and an arrow leads to the thread that
//! holds the lock it waits for.
//!
//! A thread waits for one lock and a lock has one holder, so the boxes are trees that grow to the left from
//! the thread that all the others wait for; in a deadlock one arrow leads back. The section below the drawing
//! has the same as text.

use crate::model::{Analysis, FrameId, LockAction, TraceThread};
use crate::render::escape::escape;
use std::collections::HashMap;
use std::fmt::Write as _;

/// How many threads are drawn; those that main waits for come first.
const MAX_THREADS: usize = 40;
/// The most characters of a line in a box.
const MAX_CHARS: usize = 31;
const WIDTH: usize = 224;
const HEIGHT: usize = 44;
/// The distance from one column of boxes to the next.
const COLUMN: usize = WIDTH + 48;
/// The distance from one row of boxes to the next.
const ROW: usize = HEIGHT + 14;
const MARGIN: usize = 12;

/// A thread of the drawing.
struct Thread {
    name: String,
    /// The lock that the thread waits for, in words, and the index of the thread that holds it.
    wait: Option<(String, usize)>,
    /// The frame that the thread is in, when it waits for no other thread.
    top: Option<FrameId>,
    is_main: bool,
}

/// A number for a thread of the trace: the kernel's id, or else one that no process has.
fn number(thread: &TraceThread, main: u32) -> u32 {
    let without = |tid: u32| if tid == 1 { main } else { tid.saturating_add(1 << 31) };
    thread.sys_tid.or_else(|| thread.tid.map(without)).unwrap_or(u32::MAX)
}

/// The threads that wait, and those that they wait for.
#[derive(Default)]
struct WaitGraph {
    threads: Vec<Thread>,
    known: HashMap<u32, usize>,
    /// The number of waiting threads that are not drawn.
    left_out: usize,
}

impl WaitGraph {
    fn new(a: &Analysis) -> Self {
        let mut graph = Self::default();
        let main = a.meta.process.pid;
        let mut waiter = (main, "main", None);
        for (unknown, wait) in (0..).zip(&a.locks.waits) {
            let Some(holder) = &wait.holder else { break };
            let traced = || a.system_trace.as_ref()?.threads.iter().find(|known| known.name == holder.name);
            let traced = || traced().map(|thread| number(thread, main));
            // One without an id is of a trace that has none, or is cut, or a thread that was not read:
            // that is in no other place.
            let tid = holder.tid.or_else(traced).unwrap_or(u32::MAX - unknown);
            let holder = (tid, holder.name.as_str(), a.frames.below_loopbox(&holder.stack).last().copied());
            graph.add(waiter, &wait.object, holder, main);
            waiter = holder;
        }
        if let Some(trace) = a.system_trace.as_ref().filter(|trace| trace.apart.is_none()) {
            let of = |thread: &TraceThread| {
                let top = a.frames.below_loopbox(&thread.java()).last().copied();
                (number(thread, main), top)
            };
            for thread in &trace.threads {
                let wanted = thread.waits().filter(|lock| lock.action == LockAction::Wants);
                let Some((lock, holder)) = wanted.and_then(|lock| Some((lock, trace.thread(lock.holder?)?)))
                else {
                    continue;
                };
                let ((tid, top), (holder_tid, holder_top)) = (of(thread), of(holder));
                graph.add(
                    (tid, &thread.name, top),
                    &lock.object,
                    (holder_tid, &holder.name, holder_top),
                    main,
                );
            }
        }
        graph
    }

    fn add(
        &mut self,
        waiter: (u32, &str, Option<FrameId>),
        object: &str,
        holder: (u32, &str, Option<FrameId>),
        main: u32,
    ) {
        if waiter.0 == holder.0 {
            return;
        }
        let new = [waiter.0, holder.0].iter().filter(|tid| !self.known.contains_key(*tid)).count();
        if self.threads.len() + new > MAX_THREADS {
            self.left_out += 1;
            return;
        }
        let [waiter, holder] = [waiter, holder].map(|(tid, name, top)| {
            *self.known.entry(tid).or_insert_with(|| {
                self.threads.push(Thread { name: name.to_owned(), wait: None, top, is_main: tid == main });
                self.threads.len() - 1
            })
        });
        // What the recorder saw comes first, and counts more than the trace.
        if self.threads[waiter].wait.is_none() {
            self.threads[waiter].wait = Some((object.to_owned(), holder));
        }
    }

    fn holder(&self, thread: usize) -> Option<usize> {
        self.threads[thread].wait.as_ref().map(|(_, holder)| *holder)
    }

    /// The threads at the right end of each tree, in the order in which their trees were found. Such a thread
    /// waits for no thread, or it is part of a deadlock: the thread that it waits for waits for it, directly
    /// or through other threads.
    fn roots(&self) -> Vec<usize> {
        let mut roots = Vec::new();
        for start in 0..self.threads.len() {
            let mut path = vec![start];
            let mut at = start;
            while let Some(next) = self.holder(at).filter(|next| !path.contains(next) && !roots.contains(&at))
            {
                path.push(next);
                at = next;
            }
            if !roots.contains(&at) {
                roots.push(at);
            }
        }
        roots
    }

    /// The position of each box: its column, counted from the right, and its row.
    fn places(&self) -> Vec<(usize, usize)> {
        let roots = self.roots();
        let mut places = vec![(0, 0); self.threads.len()];
        let mut row = 0;
        for &root in &roots {
            let mut rest = vec![(root, 0)];
            let mut last_column = None;
            while let Some((thread, column)) = rest.pop() {
                // The first waiter of a thread stands next to it, each further one a row below all before it.
                if last_column.is_some_and(|last| column <= last) {
                    row += 1;
                }
                last_column = Some(column);
                places[thread] = (column, row);
                let waiters = (0..self.threads.len()).rev();
                rest.extend(
                    waiters
                        .filter(|&other| self.holder(other) == Some(thread) && !roots.contains(&other))
                        .map(|other| (other, column + 1)),
                );
            }
            row += 1;
        }
        places
    }
}

/// The drawing with its heading; empty when no thread is known to make another one wait.
pub(super) fn section(a: &Analysis) -> String {
    let graph = WaitGraph::new(a);
    if graph.threads.is_empty() {
        return String::new();
    }
    let places = graph.places();
    let columns = places.iter().map(|place| place.0).max().unwrap_or(0) + 1;
    let rows = places.iter().map(|place| place.1).max().unwrap_or(0) + 1;
    let (width, height) = (columns * COLUMN - (COLUMN - WIDTH) + 2 * MARGIN, rows * ROW + 2 * MARGIN);
    let corner = |thread: usize| {
        let (column, row) = places[thread];
        (MARGIN + (columns - 1 - column) * COLUMN, MARGIN + row * ROW)
    };
    let mut out = format!(
        "<section aria-labelledby=\"graph-title\" id=\"graph-section\">\n<h2 id=\"graph-title\">Who waits for whom</h2>\n<div \
         class=\"scroll graph\" tabindex=\"0\" role=\"region\" aria-label=\"Threads that wait for each other\">\n<svg \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n<defs><marker \
         id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        escape(&in_words(&graph))
    );
    for (nth, thread) in graph.threads.iter().enumerate() {
        if let Some((_, holder)) = &thread.wait {
            arrow(&mut out, corner(nth), corner(*holder));
        }
    }
    for (nth, thread) in graph.threads.iter().enumerate() {
        let (x, y) = corner(nth);
        let class = if thread.is_main { "main" } else { "other" };
        let second = match (&thread.wait, thread.top) {
            (Some((object, _)), _) => format!("waits for {}", short_object(object)),
            (None, Some(top)) => format!("in {}", a.frames[top].short()),
            (None, None) => String::new(),
        };
        let _ = writeln!(
            out,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/><text \
             x=\"{}\" y=\"{}\">{}</text><text class=\"sub\" x=\"{}\" y=\"{}\">{}</text></g>",
            escape(&thread.name),
            x + 10,
            y + 18,
            escape(&cut(&thread.name)),
            x + 10,
            y + 35,
            escape(&cut(&second))
        );
    }
    out.push_str("</svg></div>\n");
    if graph.left_out > 0 {
        let _ = writeln!(out, "<p class=\"help\">{} more waits are not drawn.</p>", graph.left_out);
    }
    out.push_str("</section>\n");
    out
}

/// Draws an arrow from the right side of a box to the left side of a box on its right. An arrow to the left
/// goes below both boxes.
fn arrow(out: &mut String, from: (usize, usize), to: (usize, usize)) {
    let middle = HEIGHT / 2;
    let (x1, y1, y2) = (from.0 + WIDTH, from.1 + middle, to.1 + middle);
    let _ = if from.0 < to.0 {
        let bend = usize::midpoint(x1, to.0);
        writeln!(out, "<path class=\"edge\" d=\"M{x1} {y1}C{bend} {y1} {bend} {y2} {} {y2}\"/>", to.0)
    } else {
        let (x1, x2) = (from.0 + WIDTH / 2, to.0 + WIDTH / 2);
        let (y1, y2) = (from.1 + HEIGHT, to.1 + HEIGHT);
        let low = y1.max(y2) + ROW - HEIGHT + 4;
        writeln!(out, "<path class=\"edge back\" d=\"M{x1} {y1}C{x1} {low} {x2} {low} {x2} {y2}\"/>")
    };
}

/// The content of the drawing as text, for readers who do not see it.
fn in_words(graph: &WaitGraph) -> String {
    let words = graph.threads.iter().filter_map(|thread| {
        let (object, holder) = thread.wait.as_ref()?;
        Some(format!("{} waits for {object}, held by {}", thread.name, graph.threads[*holder].name))
    });
    words.collect::<Vec<_>>().join("; ")
}

/// The words for a locked object, without its package: `a Basket` of `a com.example.shop.Basket`.
fn short_object(object: &str) -> String {
    match object.rsplit_once(' ') {
        Some((article, class)) => format!("{article} {}", class.rsplit('.').next().unwrap_or_default()),
        None => object.to_owned(),
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;

    const DEADLOCK: &str = include_str!("../../../tests/traces/art10-deadlock.txt");

    fn of(report: ReportBuilder) -> (WaitGraph, String) {
        let a = Analysis::new(&report.build());
        (WaitGraph::new(&a), section(&a))
    }

    /// `name>holder` of each thread, with its place.
    fn drawn(graph: &WaitGraph) -> Vec<String> {
        let name = |at: usize| graph.threads[at].name.as_str();
        let threads = graph.places().into_iter().enumerate();
        threads
            .map(|(at, (column, row))| {
                let holder = graph.holder(at).map_or("", name);
                format!("{}>{holder} {column},{row}", name(at))
            })
            .collect()
    }

    #[test]
    fn a_chain_leads_from_main_to_the_one_that_all_wait_for() {
        let stack = "java.lang.Thread.run com.example.Sync.run:9";
        let report = ReportBuilder::new().waits_for("com.example.Db", "writer", stack).waits_for(
            "com.example.Log",
            "logger",
            stack,
        );
        let (graph, svg) = of(report);
        assert_eq!(drawn(&graph), ["main>writer 2,0", "writer>logger 1,0", "logger> 0,0"]);
        assert!(svg.contains("waits for a Db") && svg.contains("in Sync.run"), "{svg}");
        assert!(svg.contains("main waits for a com.example.Db, held by writer; writer waits for"), "{svg}");
    }

    #[test]
    fn a_deadlock_has_one_arrow_back() {
        let report = ReportBuilder::new().with(|report| {
            report.meta.process.pid = 29_423;
            report.meta.dumped_at.unix_ms = 1_795_362_133_000;
        });
        let (graph, svg) = of(report.system_trace(DEADLOCK));
        assert_eq!(drawn(&graph), ["main>holder 1,0", "holder>main 0,0"]);
        assert_eq!(
            (svg.matches("class=\"edge\"").count(), svg.matches("class=\"edge back\"").count()),
            (1, 1)
        );
    }

    #[test]
    fn threads_that_wait_for_the_same_stand_below_each_other() {
        let thread = |name: &str, tid: u32, more: &str| {
            format!("\"{name}\" prio=5 tid={tid} Blocked\n  | sysTid={}\n{more}\n", 4_320 + tid)
        };
        let wants = |holder: u32| {
            format!("  at a.B.c(B.java:1)\n  - waiting to lock <0x1> (a a.B) held by thread {holder}\n")
        };
        let text = [
            thread("main", 1, &wants(9)),
            thread("p1", 2, &wants(9)),
            thread("p2", 3, &wants(1)),
            thread("p3", 4, &wants(1)),
            thread("x", 5, &wants(5)),
            thread("<script>", 9, "  at a.D.e(D.java:2)\n"),
        ];
        let text = format!("----- pid 4321 at 2026-09-21 16:13:20.000000000+0200 -----\n\n{}", text.concat());
        let (graph, svg) = of(ReportBuilder::new().system_trace(&text));
        let wanted = ["main><script> 1,0", "<script>> 0,0", "p1><script> 1,2", "p2>main 2,0", "p3>main 2,1"];
        assert_eq!(drawn(&graph), wanted);
        assert!(!svg.contains("<script"), "{svg}");
        let many: String = (10..100).map(|tid| thread("t", tid, &wants(9))).collect();
        let (graph, svg) = of(ReportBuilder::new().system_trace(&(text + &many)));
        assert_eq!(graph.threads.len(), MAX_THREADS);
        assert!(svg.contains("55 more waits are not drawn"), "{}", graph.left_out);
    }

    #[test]
    fn without_a_holder_nothing_is_drawn() {
        assert_eq!(of(ReportBuilder::new()).1, "");
        let unowned = ReportBuilder::new()
            .waits_for("a.B", "x", "a.B.c")
            .with(|report| report.locks.waits[0].holder = None);
        assert_eq!(of(unowned).1, "");
    }
}
