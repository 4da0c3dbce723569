//! From one obfuscated frame to the frames of the source.

use super::members::{Group, Member, Members, Named};
use super::positions::{Position, Positions};
use crate::model::several;
use loopbox_format::model::{Location, LocationId, Method, MethodId, Symbols};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many inlined frames one frame may become. R8 inlines a few levels deep; a forged mapping can claim any
/// number.
const MAX_INLINED: usize = 32;
/// When a frame may be one of several methods, its text has the names of this many of them at most.
const MAX_NAMED: usize = 3;
/// How many of the possible methods of a frame get a separate line in a text. A class has some overloads of a
/// name; a forged mapping can claim any number.
const MAX_EACH: usize = 32;

/// Replaces a location that the file refers to but does not have.
const UNKNOWN: Location = Location::Frame { method: MethodId(u32::MAX), dex_pc: None, line: None };

/// Retraces locations and collects the new symbol tables.
pub(super) struct Retracer<'m> {
    members: &'m Members<'m>,
    positions: &'m Positions,
    symbols: Symbols,
    methods: HashMap<Method, MethodId>,
    locations: HashMap<Location, LocationId>,
    retraced: HashMap<(Location, Option<u32>), Rc<[LocationId]>>,
    looked_up: HashSet<MethodId>,
    found: HashSet<MethodId>,
}

/// The methods that a frame may be, and its line.
type Source<'g> = (Vec<&'g Member<'g>>, Option<u32>);

/// What is known about a frame of a text from the lines above that frame.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The position of the outlined code that the frame calls.
    pub outline: Option<u32>,
    /// The class of the exception that was thrown in the frame, by its name in the text.
    pub thrown: Option<String>,
}

/// The mapping's entries for a frame.
struct Found {
    /// The frames of the source, top frame first.
    frames: Vec<Original>,
    /// Whether the mapping has the method.
    is_known: bool,
}

/// A frame of the source.
struct Original {
    class: String,
    method: String,
    file: String,
    line: Option<u32>,
    /// The possible methods of the frame, each as a frame; empty when there is only one.
    each: Vec<Original>,
}

/// A frame as a text, in the form that ART and exceptions print.
pub(super) struct Printed {
    /// The frame with its method, or with the names of all methods that it may be.
    pub frame: String,
    /// The possible methods, each as a frame; empty when there is only one.
    pub each: Vec<String>,
}

impl<'m> Retracer<'m> {
    pub(super) fn new(members: &'m Members<'m>, positions: &'m Positions) -> Self {
        Self {
            members,
            positions,
            symbols: Symbols::default(),
            methods: HashMap::new(),
            locations: HashMap::new(),
            retraced: HashMap::new(),
            looked_up: HashSet::new(),
            found: HashSet::new(),
        }
    }

    /// Two counts: the methods of mapped classes that were looked up, and those of them that the mapping has.
    pub(super) fn method_counts(&self) -> (usize, usize) {
        (self.looked_up.len(), self.found.len())
    }

    pub(super) fn into_symbols(self) -> Symbols {
        self.symbols
    }

    /// Retraces a stack, outermost frame first, to locations of the new symbol tables.
    pub(super) fn stack(&mut self, old: &Symbols, stack: &[LocationId]) -> Vec<LocationId> {
        let mut out: Vec<LocationId> = Vec::with_capacity(stack.len());
        let mut outline = None;
        // From the top down: an outlined frame hands its position to its caller.
        for &location in stack.iter().rev() {
            let location = old.location(location).copied().unwrap_or(UNKNOWN);
            if let Some(position) = self.outline_position(old, location) {
                outline = Some(position);
                continue;
            }
            out.extend(self.location(old, location, outline.take()).iter());
        }
        out.reverse();
        out
    }

    /// The original name of a class that was renamed.
    pub(super) fn class(&self, class: &str) -> Option<&str> {
        self.members.class(class)
    }

    /// The frames of the source for a frame that ART has printed, `a.b.c(SourceFile:12)`, innermost first.
    /// When the frame is outlined code, the list is empty, and `above` gets the frame's position, for the
    /// caller's frame. `None` for a frame that the mapping does not have.
    pub(super) fn printed_frame(&self, frame: &str, above: &mut Above) -> Option<Vec<Printed>> {
        // A source may have brackets, too.
        let (name, place) = frame.strip_suffix(')')?.split_once('(')?;
        let (class, method) = name.trim_end().rsplit_once('.')?;
        let line = place.rsplit_once(':').and_then(|(_, line)| line.parse().ok());
        if self.is_outline(class, method) {
            above.outline = Some(line.unwrap_or(0));
            return Some(Vec::new());
        }
        let above = std::mem::take(above);
        // Without its descriptor, which ART does not print.
        let found = self.originals(class, method, "", line.map(Position::of_line), &above)?;
        let printed = |original: &Original| Printed {
            frame: original.printed(place),
            each: original.each.iter().map(|one| one.printed(place)).collect(),
        };
        Some(found.frames.iter().map(printed).collect())
    }

    fn is_outline(&self, class: &str, method: &str) -> bool {
        self.members.named(class, method).is_some_and(Named::is_outline)
    }

    fn outline_position(&self, old: &Symbols, location: Location) -> Option<u32> {
        let Location::Frame { method, dex_pc, line } = location else { return None };
        let method = old.method(method)?;
        let outlined = self.is_outline(&method.class, &method.name);
        outlined.then(|| self.position(method, dex_pc, line).map_or(0, |position| position.number))
    }

    fn position(&self, method: &Method, dex_pc: Option<u32>, line: Option<u32>) -> Option<Position> {
        let named = self.members.named(&method.class, &method.name).filter(|named| named.is_overloaded());
        let has_own_table = named.is_some_and(|named| {
            let groups = self.members.of_descriptor(named, &method.signature);
            !(self.positions.one_of_a_name_has_pcs() && named.is_first(&groups))
        });
        self.positions.of(&method.source_file, dex_pc.filter(|_| !has_own_table), line)
    }

    /// The retraced frames of a location, top frame first.
    fn location(&mut self, old: &Symbols, location: Location, outline: Option<u32>) -> Rc<[LocationId]> {
        if let Some(known) = self.retraced.get(&(location, outline)) {
            return Rc::clone(known);
        }
        let new = self.read(old, location, outline);
        self.retraced.insert((location, outline), Rc::clone(&new));
        new
    }

    fn read(&mut self, old: &Symbols, location: Location, outline: Option<u32>) -> Rc<[LocationId]> {
        let Location::Frame { method: index, dex_pc, line } = location else {
            return Rc::new([self.intern(location)]);
        };
        let Some(method) = old.method(index) else {
            return Rc::new([self.intern(UNKNOWN)]);
        };
        let position = self.position(method, dex_pc, line);
        let above = Above { outline, thrown: None };
        let found = self.originals(&method.class, &method.name, &method.signature, position, &above);
        let Some(found) = found else {
            let method = self.method(method.clone());
            return Rc::new([self.intern(Location::Frame { method, dex_pc, line })]);
        };
        self.count(index, method, &found);
        let outermost = found.frames.len().saturating_sub(1);
        found
            .frames
            .into_iter()
            .enumerate()
            .map(|(i, original)| {
                let signature =
                    if i == outermost { self.descriptor(&method.signature) } else { String::new() };
                let method = self.method(Method {
                    class: original.class,
                    name: original.method,
                    signature,
                    source_file: original.file,
                });
                // An inlined frame has no dex pc; that of its caller shows that it is not a native
                // frame.
                self.intern(Location::Frame { method, dex_pc, line: original.line })
            })
            .collect()
    }

    fn count(&mut self, index: MethodId, method: &Method, found: &Found) {
        if found.is_known {
            self.found.insert(index);
            self.looked_up.insert(index);
        } else {
            let constructor = method.name == "<init>" || method.name == "<clinit>";
            let kept = self.members.class(&method.class) == Some(&method.class);
            if !constructor && !kept {
                self.looked_up.insert(index);
            }
        }
    }

    /// The frames of the source, top first; `None` when the mapping does not have the class.
    fn originals(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
        position: Option<Position>,
        above: &Above,
    ) -> Option<Found> {
        let original = self.members.class(class)?;
        let named = self.members.named(class, method);
        let groups = named.map(|named| self.members.of_descriptor(named, descriptor)).unwrap_or_default();
        if groups.is_empty() {
            // It kept its name, or the mapping is of another build.
            let frame = Original {
                class: original.to_owned(),
                method: method.to_owned(),
                file: self.file(original, original),
                line: position.and_then(Position::line).filter(|line| *line > 0),
                each: Vec::new(),
            };
            return Some(Found { frames: vec![frame], is_known: false });
        }
        let thrown = above.thrown.as_deref();
        let called = above.outline.and_then(|outlined| outlined_at(&groups, position, outlined));
        let frames = if let Some((groups, position)) = called {
            self.at(&groups, Some(position), thrown)
        } else {
            let own: Vec<_> = groups.into_iter().filter(|group| !group.is_outlined).collect();
            self.at(&own, position, thrown)
        };
        let frames = frames.into_iter().map(|frame| self.original(frame, original)).collect();
        Some(Found { frames, is_known: true })
    }

    /// The source's frames of a position, from these groups of the mapping. The result is a single frame when
    /// no group or several groups have the position. It is empty for code that a compiler made.
    fn at<'g>(
        &self,
        groups: &[&'g Group<'m>],
        position: Option<Position>,
        thrown: Option<&str>,
    ) -> Vec<Source<'g>> {
        if let Some(position) = position {
            let here: Vec<_> = groups.iter().copied().filter(|group| group.has(position.number)).collect();
            if let [group] = here[..] {
                return self.inlined(group, Some(position.number), thrown);
            }
            if !here.is_empty() {
                return self.one_of(&here, Some(position.number)).into_iter().collect();
            }
            let whole: Vec<_> = groups.iter().copied().filter(|group| group.range.is_none()).collect();
            if !whole.is_empty() {
                return self.one_of(&whole, position.line()).into_iter().collect();
            }
        }
        match groups {
            [group] if group.is_everywhere() => self.inlined(group, None, thrown),
            _ => {
                // Of a position that the mapping does not have nobody knows the line.
                let known = |(methods, line): Source<'g>| (methods, line.filter(|_| position.is_none()));
                self.one_of(groups, None).map(known).into_iter().collect()
            }
        }
    }

    /// The frames of a position: the inlined methods, and the method into which they were inlined.
    fn inlined<'g>(
        &self,
        group: &'g Group<'m>,
        position: Option<u32>,
        thrown: Option<&str>,
    ) -> Vec<Source<'g>> {
        let line = |member: &Member<'_>| member.line(group.range, position);
        self.shown(group)
            .skip(group.made_for(thrown))
            .take(MAX_INLINED)
            .map(|member| (vec![member], line(member)))
            .collect()
    }

    /// The method of a frame, or all possible methods when it is not known which of them was inlined or which
    /// overload is the right one.
    fn one_of<'g>(&self, groups: &[&'g Group<'m>], position: Option<u32>) -> Option<Source<'g>> {
        let mut methods: Vec<&Member<'_>> = Vec::new();
        let mut lines = HashSet::new();
        let mut known = HashSet::new();
        for group in groups {
            let Some(outermost) = self.shown(group).last() else { continue };
            lines.insert(outermost.line(group.range, position));
            if known.insert((outermost.class, outermost.name)) {
                methods.push(outermost);
            }
        }
        let mut lines = lines.into_iter();
        let line = lines.next().flatten().filter(|_| lines.next().is_none());
        (!methods.is_empty()).then_some((methods, line))
    }

    /// The frames of a group without those that a compiler made, as in R8's retrace.
    fn shown<'g>(&self, group: &'g Group<'m>) -> impl DoubleEndedIterator<Item = &'g Member<'m>> {
        group.frames.iter().filter(|member| !self.members.is_synthesized(member))
    }

    /// A frame with its file, and the names of all methods that it may be.
    fn original(&self, (methods, line): Source<'_>, found_in: &str) -> Original {
        let class = methods.first().map_or(found_in, |method| method.class);
        let named = methods.iter().take(MAX_NAMED).map(|method| (method.class, method.name));
        let one = |method: &&Member<'_>| Original {
            class: method.class.to_owned(),
            method: method.name.to_owned(),
            file: self.file(method.class, found_in),
            line,
            each: Vec::new(),
        };
        let are_several = methods.len() > 1;
        Original {
            class: class.to_owned(),
            method: several::join(class, named, methods.len().saturating_sub(MAX_NAMED)),
            file: self.file(class, found_in),
            line,
            each: methods.iter().filter(|_| are_several).take(MAX_EACH).map(one).collect(),
        }
    }

    /// The source file of a class, as the mapping names it. If the mapping names none, the result is the name
    /// that a compiler would give to the file. Its extension is then that of the file of the class
    /// `found_in`.
    fn file(&self, class: &str, found_in: &str) -> String {
        if let Some(file) = self.members.file(class) {
            return file.to_owned();
        }
        let name = class.rsplit('.').next().unwrap_or(class);
        let outer = name.split('$').next().unwrap_or(name);
        // Kotlin's functions outside of classes are in the class `FileKt`, or in one nested in it.
        let kotlin = name.split('$').filter_map(|part| part.strip_suffix("Kt")).find(|part| !part.is_empty());
        if let Some(kotlin) = kotlin {
            return format!("{kotlin}.kt");
        }
        let extension = self.members.file(found_in).and_then(|file| Some(file.rsplit_once('.')?.1));
        format!("{outer}.{}", extension.unwrap_or("java"))
    }

    fn method(&mut self, method: Method) -> MethodId {
        if let Some(&known) = self.methods.get(&method) {
            return known;
        }
        let index = self.symbols.push_method(method.clone());
        self.methods.insert(method, index);
        index
    }

    fn intern(&mut self, location: Location) -> LocationId {
        *self.locations.entry(location).or_insert_with(|| self.symbols.push_location(location))
    }

    /// A descriptor, such as `(La/b;I)V`, with its classes deobfuscated.
    fn descriptor(&self, descriptor: &str) -> String {
        let mut out = String::with_capacity(descriptor.len());
        let mut rest = descriptor;
        while let Some((before, from)) = rest.split_once('L') {
            let Some((class, after)) = from.split_once(';') else { break };
            let original = self.members.class(&class.replace('/', "."));
            out.push_str(before);
            out.push('L');
            out.push_str(&original.map_or_else(|| class.to_string(), |name| name.replace('.', "/")));
            out.push(';');
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// R8 maps a position in outlined code to a position in the method that calls this code. Finds the caller's
/// position for the position `outlined`, and the groups that contain the caller's position.
fn outlined_at<'g, 'm>(
    groups: &[&'g Group<'m>],
    position: Option<Position>,
    outlined: u32,
) -> Option<(Vec<&'g Group<'m>>, Position)> {
    let is_here = |group: &&&Group<'_>| {
        group.range.is_none() || position.is_some_and(|position| group.has(position.number))
    };
    let (overload, at) = groups
        .iter()
        .filter(is_here)
        .find_map(|group| Some((group.overload, *group.outline_positions.get(&outlined)?)))?;
    let of_call = |group: &&Group<'_>| group.overload == overload && group.has(at);
    let (called, own): (Vec<_>, Vec<_>) =
        groups.iter().copied().filter(of_call).partition(|group| group.is_outlined);
    Some((if called.is_empty() { own } else { called }, Position::of_line(at)))
}

impl Original {
    /// The frame in the form that ART and exceptions print. `place` is what stands in the brackets of the
    /// obfuscated frame; only `Native method` is kept.
    fn printed(&self, place: &str) -> String {
        let place = match (self.line, self.file.as_str()) {
            _ if place.eq_ignore_ascii_case("Native method") => place.to_owned(),
            (Some(line), "") => format!("unavailable:{line}"),
            (Some(line), file) => format!("{file}:{line}"),
            (None, "") => "unavailable".to_owned(),
            (None, file) => file.to_owned(),
        };
        format!("{}.{}({place})", self.class, self.method)
    }
}
