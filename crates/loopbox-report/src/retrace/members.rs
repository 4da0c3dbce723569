//! What a mapping contains about methods: which method of the source became which method of the report, and
//! where.
//!
//! The crate that parses the lines also has a lookup, which is not used here. That lookup ignores the
//! residual signatures of R8, which are the descriptors that methods have in the obfuscated app. It guesses
//! when nothing matches. A report has the descriptors of its frames, so this lookup compares descriptors.

use crate::model::class_names::is_source_file;
use proguard::{LineMapping, ProguardRecord};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The range of a method that has one position for all its instructions.
const EVERYWHERE: (u32, u32) = (0, 65_535);
const NO_LINES: LineMapping =
    LineMapping { startline: None, endline: None, original_startline: None, original_endline: None };

/// The classes and methods of a mapping, by their names in the report.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    /// The classes by their names in the report.
    classes: HashMap<&'t str, Class<'t>>,
    /// The source files of classes, by the names that the classes have in the source.
    files: HashMap<&'t str, Cow<'t, str>>,
    /// The classes and methods that a compiler made.
    synthesized: HashSet<Key<'t>>,
}

#[derive(Debug, Default)]
struct Class<'t> {
    original: &'t str,
    methods: HashMap<&'t str, Named<'t>>,
}

/// What a mapping contains about methods of one name.
#[derive(Debug, Default)]
pub(super) struct Named<'t> {
    pub groups: Vec<Group<'t>>,
    overloads: Vec<Overload<'t>>,
}

/// One of the methods that have the same name in the report.
#[derive(Debug)]
struct Overload<'t> {
    member: Member<'t>,
    /// The method's descriptors in the report, if the mapping has them. Only one of a method's lines in the
    /// mapping has a descriptor.
    signatures: Vec<Cow<'t, str>>,
}

/// A method of the source: class, name, parameters.
type Key<'t> = (&'t str, &'t str, &'t str);

/// The lines of a mapping for one range of positions, innermost first: the inlined methods, and the method
/// that they were inlined into.
#[derive(Debug)]
pub(super) struct Group<'t> {
    /// First and last position; `None` where the mapping names no range.
    pub range: Option<(u32, u32)>,
    pub frames: Vec<Member<'t>>,
    /// The descriptor of the outermost method, which the others were inlined into. It is the descriptor that
    /// this method has in the report, not in the source. `None` where the mapping does not have it.
    signature: Option<Cow<'t, str>>,
    /// The index in [`Named`] of the overload that the group belongs to.
    pub overload: usize,
    pub outline: bool,
    /// The outlined code that this group calls: each position in the outlined code, with the position in this
    /// method that it was moved from. Empty for a group that calls no outlined code.
    pub outline_positions: HashMap<u32, u32>,
    /// Whether the group's position comes from `outline_positions` of an earlier group. A frame is at such a
    /// position only when it calls outlined code.
    pub is_outlined: bool,
    /// Rules for the first frame below an exception: the exception's descriptor in the report, and how many
    /// inner frames to remove.
    rewrites: Vec<(String, usize)>,
}

/// A method of the source, as one line of a mapping names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member<'t> {
    pub class: &'t str,
    pub name: &'t str,
    pub parameters: &'t str,
    pub returns: &'t str,
    /// The first and the last line in the source.
    pub lines: Option<(u32, u32)>,
}

impl<'t> Members<'t> {
    /// Reads a mapping, or the part of one that concerns a report.
    pub(super) fn read(text: &'t [u8]) -> Self {
        let mut read = Self::default();
        let mut class = "";
        let mut last = None;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            match ProguardRecord::try_parse(line) {
                Ok(ProguardRecord::Class { original, obfuscated }) => {
                    read.classes.insert(obfuscated, Class { original, ..Class::default() });
                    (class, last) = (obfuscated, None);
                }
                Ok(ProguardRecord::R8Header(_)) => read.comment(class, last, line),
                Ok(ProguardRecord::Header { .. }) => {}
                Ok(ProguardRecord::Method {
                    ty,
                    original,
                    obfuscated,
                    arguments,
                    original_class,
                    line_mapping,
                }) => {
                    let Some(of) = read.classes.get_mut(class) else { continue };
                    let LineMapping { startline, endline, original_startline, original_endline } =
                        line_mapping.unwrap_or(NO_LINES);
                    let member = Member {
                        class: original_class.unwrap_or(of.original),
                        name: original,
                        parameters: arguments,
                        returns: ty,
                        lines: range(original_startline, original_endline.or(original_startline)),
                    };
                    of.methods.entry(obfuscated).or_default().push(range(startline, endline), member);
                    last = Some(obfuscated);
                }
                Ok(ProguardRecord::Field { .. }) | Err(_) => last = None,
            }
        }
        for class in read.classes.values_mut() {
            for named in class.methods.values_mut() {
                named.find_overloads(|member| read.synthesized.contains(&member.key()));
            }
        }
        read
    }

    /// Reads a comment about the method above it, or about the class.
    fn comment(&mut self, class: &'t str, method: Option<&'t str>, line: &'t [u8]) {
        let json = line.trim_ascii_start().strip_prefix(b"#").unwrap_or_default();
        let Ok(comment) = serde_json::from_slice::<Comment<'_>>(json) else { return };
        let Some(of) = self.classes.get_mut(class) else { return };
        let Some(method) = method else {
            if let Comment::SourceFile { file_name } = comment {
                self.files.insert(of.original, file_name);
            }
            return;
        };
        let Some(group) = of.methods.get_mut(method).and_then(|named| named.groups.last_mut()) else {
            return;
        };
        match comment {
            Comment::Synthesized => self.synthesized.extend(group.frames.last().map(Member::key)),
            Comment::Outline => group.outline = true,
            Comment::OutlineCallsite { positions } => {
                let numbers = positions.into_iter().filter_map(|(of, is)| Some((of.parse().ok()?, is)));
                group.outline_positions.extend(numbers);
            }
            Comment::ResidualSignature { signature } => group.signature = Some(signature),
            Comment::RewriteFrame { conditions, actions } => {
                group.rewrites.extend(rewrite(&conditions, &actions));
            }
            Comment::SourceFile { .. } | Comment::Other => {}
        }
    }

    /// The class's name in the source, by its name in the report; `None` when the mapping does not have the
    /// class.
    pub(super) fn class(&self, name: &str) -> Option<&'t str> {
        self.classes.get(name).map(|class| class.original)
    }

    /// The source file of a class, by its name in the source. Empty when the mapping's file name is not that
    /// of a source file, as for a class that a compiler has made. `None` when the mapping names no file.
    pub(super) fn file(&self, class: &str) -> Option<&str> {
        let file = self.files.get(class)?.as_ref();
        Some(if is_source_file(file) { file } else { "" })
    }

    /// Whether this method of the source was made by a compiler.
    pub(super) fn is_synthesized(&self, member: &Member<'t>) -> bool {
        self.synthesized.contains(&member.key())
    }

    /// What the mapping contains about methods of this name; `None` when it has none.
    pub(super) fn named(&self, class: &str, method: &str) -> Option<&Named<'t>> {
        self.classes.get(class)?.methods.get(method)
    }

    /// The groups that may belong to the method with that descriptor; all groups when the descriptor is not
    /// known.
    pub(super) fn of_descriptor<'g>(&self, named: &'g Named<'t>, descriptor: &str) -> Vec<&'g Group<'t>> {
        let in_source = self.in_source(descriptor);
        let fits: Vec<u8> = named
            .overloads
            .iter()
            .map(|overload| match &in_source {
                None => 1,
                // None but this one.
                _ if !overload.signatures.is_empty() => {
                    if overload.signatures.iter().any(|signature| signature == descriptor) { 4 } else { 0 }
                }
                Some((parameters, returns)) if overload.member.parameters == parameters => {
                    if overload.member.returns == returns { 3 } else { 2 }
                }
                Some((parameters, returns))
                    if overload.member.simple_types() == simple_types(parameters, returns) =>
                {
                    2
                }
                // A compiler that says no signatures may have changed it.
                Some(_) => 1,
            })
            .collect();
        let best = fits.iter().copied().max().filter(|best| *best > 0);
        named.groups.iter().filter(|group| fits.get(group.overload).copied() == best).collect()
    }

    /// Parameters and result of a descriptor, as a mapping writes them.
    fn in_source(&self, descriptor: &str) -> Option<(String, String)> {
        let (parameters, returns) = descriptor.strip_prefix('(')?.split_once(')')?;
        let mut rest = parameters;
        let mut names = Vec::new();
        while !rest.is_empty() {
            names.push(self.type_in_source(&mut rest)?);
        }
        let mut rest = returns;
        Some((names.join(","), self.type_in_source(&mut rest)?))
    }

    fn type_in_source(&self, rest: &mut &str) -> Option<String> {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (name, after) = match element.chars().next()? {
            'L' => {
                let (name, after) = element.get(1..)?.split_once(';')?;
                let name = name.replace('/', ".");
                (self.class(&name).map_or(name, str::to_owned), after)
            }
            letter => (primitive(letter)?.to_owned(), element.get(1..)?),
        };
        *rest = after;
        Some(name + &"[]".repeat(dimensions))
    }
}

impl Group<'_> {
    /// Whether the group's range contains a position.
    pub(super) fn has(&self, position: u32) -> bool {
        self.range.is_some_and(|(from, to)| (from..=to).contains(&position))
    }

    /// The number of the group's inner frames that a compiler has added, for example for a null check.
    /// `thrown` is the class of the exception.
    pub(super) fn made_for(&self, thrown: Option<&str>) -> usize {
        let Some(thrown) = thrown else { return 0 };
        let descriptor = ["L", &thrown.replace('.', "/"), ";"].concat();
        let rewrite = self.rewrites.iter().find(|(of, _)| *of == descriptor);
        rewrite.map(|(_, frames)| *frames).filter(|frames| *frames < self.frames.len()).unwrap_or(0)
    }

    /// Whether the group covers every position of its method.
    pub(super) fn is_everywhere(&self) -> bool {
        matches!(self.range, Some(EVERYWHERE | (0, 0)))
    }
}

impl<'t> Member<'t> {
    fn key(&self) -> Key<'t> {
        (self.class, self.name, self.parameters)
    }

    /// Parameters and result without packages, for comparisons: when R8 makes up the name of a method, it
    /// leaves out most packages of the method's types.
    fn simple_types(&self) -> String {
        simple_types(self.parameters, self.returns)
    }

    /// The source line of a position in a range; `None` where there is none, or there may be several.
    pub(super) fn line(&self, range: Option<(u32, u32)>, position: Option<u32>) -> Option<u32> {
        let line = match (self.lines, range) {
            (Some((from, to)), _) if from == to => from,
            (Some((from, _)), Some((first, _))) => from.checked_add(position?.checked_sub(first)?)?,
            (Some(_), None) => return None,
            (None, _) => position?,
        };
        (line > 0).then_some(line)
    }
}

impl<'t> Named<'t> {
    /// Whether several methods of the report have this name.
    pub(super) fn is_overloaded(&self) -> bool {
        self.overloads.len() > 1
    }

    /// Whether these groups belong to one method whose positions come before those of all other methods of
    /// this name.
    pub(super) fn is_first(&self, groups: &[&Group<'t>]) -> bool {
        let begin = |group: &Group<'t>| group.range.filter(|_| !group.is_outlined).map(|(from, _)| from);
        let Some(overload) = groups.first().map(|group| group.overload) else { return false };
        let own = groups.iter().filter_map(|group| begin(group)).min();
        let others = self.groups.iter().filter(|group| group.overload != overload).filter_map(begin).min();
        let is_one = groups.iter().all(|group| group.overload == overload);
        is_one && own.is_some_and(|own| others.is_none_or(|others| own < others))
    }

    /// Whether a method of this name is outlined code.
    pub(super) fn is_outline(&self) -> bool {
        self.groups.iter().any(|group| group.outline)
    }

    fn push(&mut self, range: Option<(u32, u32)>, member: Member<'t>) {
        match self.groups.last_mut() {
            // A signature belongs to the outermost method, which ends the group.
            Some(group) if range.is_some() && group.range == range && group.signature.is_none() => {
                group.frames.push(member);
            }
            _ => self.groups.push(Group {
                range,
                frames: vec![member],
                signature: None,
                overload: 0,
                outline: false,
                outline_positions: HashMap::new(),
                is_outlined: false,
                rewrites: Vec::new(),
            }),
        }
    }

    /// Finds out which groups belong to the same method. Normally these are the groups whose outermost
    /// methods have the same name, parameters and result in the source. There are two exceptions:
    ///
    /// * The name of a group's outermost method may be made up by the compiler. The group then belongs to the
    ///   method with the same parameters and result whose name is from the source, if there is one. Packages
    ///   of types are ignored in this comparison.
    /// * A group for a position of outlined code belongs to the method that calls the outlined code. In the
    ///   mapping, the group of the call comes first.
    fn find_overloads(&mut self, is_synthesized: impl Fn(&Member<'t>) -> bool) {
        let mut by_signature = HashMap::new();
        for member in self.groups.iter().filter_map(|group| group.frames.last()) {
            if !is_synthesized(member) {
                by_signature.entry(member.simple_types()).or_insert(*member);
            }
        }
        let mut numbers = HashMap::new();
        let mut outlined = HashMap::new();
        for group in &mut self.groups {
            let Some(outermost) = group.frames.last() else { continue };
            let made = is_synthesized(outermost);
            let member =
                made.then(|| by_signature.get(&outermost.simple_types())).flatten().unwrap_or(outermost);
            let called = group.range.filter(|(from, to)| from == to).and_then(|(at, _)| outlined.remove(&at));
            group.is_outlined = called.is_some();
            group.overload = called.unwrap_or_else(|| {
                let next = self.overloads.len();
                *numbers.entry((member.name, member.parameters, member.returns)).or_insert(next)
            });
            if group.overload == self.overloads.len() {
                self.overloads.push(Overload { member: *member, signatures: Vec::new() });
            }
            if let Some(overload) = self.overloads.get_mut(group.overload) {
                overload.signatures.extend(group.signature.clone());
            }
            outlined.extend(group.outline_positions.values().map(|&at| (at, group.overload)));
        }
    }
}

fn simple_types(parameters: &str, returns: &str) -> String {
    let types = parameters.split(',').chain([returns]);
    types.map(|name| name.rsplit('.').next().unwrap_or(name)).collect::<Vec<_>>().join(",")
}

fn range(from: Option<usize>, to: Option<usize>) -> Option<(u32, u32)> {
    let (from, to) = (u32::try_from(from?).ok()?, u32::try_from(to?).ok()?);
    Some((from.min(to), from.max(to)))
}

/// A rule of R8 for the first frame below an exception. A rule with another condition or action is left out:
/// applying it would be a guess.
fn rewrite(conditions: &[Cow<'_, str>], actions: &[Cow<'_, str>]) -> Option<(String, usize)> {
    let ([condition], [action]) = (conditions, actions) else { return None };
    let in_brackets = |text: &str, name: &str| -> Option<String> {
        Some(text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.to_owned())
    };
    Some((in_brackets(condition, "throws")?, in_brackets(action, "removeInnerFrames")?.parse().ok()?))
}

/// Information in R8's comments.
#[derive(Deserialize)]
#[serde(tag = "id")]
enum Comment<'t> {
    #[serde(rename = "sourceFile")]
    SourceFile {
        #[serde(borrow, rename = "fileName")]
        file_name: Cow<'t, str>,
    },
    #[serde(rename = "com.android.tools.r8.synthesized")]
    Synthesized,
    #[serde(rename = "com.android.tools.r8.outline")]
    Outline,
    #[serde(rename = "com.android.tools.r8.outlineCallsite")]
    OutlineCallsite { positions: HashMap<String, u32> },
    #[serde(rename = "com.android.tools.r8.residualsignature")]
    ResidualSignature {
        #[serde(borrow)]
        signature: Cow<'t, str>,
    },
    #[serde(rename = "com.android.tools.r8.rewriteFrame")]
    RewriteFrame {
        #[serde(borrow)]
        conditions: Vec<Cow<'t, str>>,
        #[serde(borrow)]
        actions: Vec<Cow<'t, str>>,
    },
    #[serde(other)]
    Other,
}

fn primitive(letter: char) -> Option<&'static str> {
    Some(match letter {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        'V' => "void",
        _ => return None,
    })
}
