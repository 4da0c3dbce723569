//! From one obfuscated frame to the frames of the source.

use loopbox_format::model::{Location, LocationId, Method, MethodId, Symbols};
use proguard::{ProguardCache, StackFrame};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many inlined frames one frame may become. R8 inlines a few levels deep; a forged mapping can claim any number.
const MAX_INLINED: usize = 32;

/// Stands for locations that the file does not have.
const UNKNOWN: Location = Location::Frame { method: MethodId(u32::MAX), dex_pc: None, line: None };

/// Retraces locations and collects the new symbol tables.
pub(super) struct Retracer<'m> {
    cache: &'m ProguardCache<'m>,
    pc_as_line: bool,
    symbols: Symbols,
    methods: HashMap<Method, MethodId>,
    locations: HashMap<Location, LocationId>,
    retraced: HashMap<(Location, Option<usize>), Rc<[LocationId]>>,
    looked_up: HashSet<MethodId>,
    found: HashSet<MethodId>,
}

/// A frame of the source.
struct Original {
    class: String,
    method: String,
    file: String,
    line: Option<u32>,
}

impl<'m> Retracer<'m> {
    pub(super) fn new(cache: &'m ProguardCache<'m>, pc_as_line: bool) -> Self {
        Self {
            cache,
            pc_as_line,
            symbols: Symbols::default(),
            methods: HashMap::new(),
            locations: HashMap::new(),
            retraced: HashMap::new(),
            looked_up: HashSet::new(),
            found: HashSet::new(),
        }
    }

    /// The number of methods of mapped classes that were looked up, and of those that the mapping has.
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
        self.cache.remap_class(class)
    }

    /// A frame as ART prints it, `a.b.c(SourceFile:12)`, as lines of the source, innermost first; none for outlined code, which
    /// hands its position to its caller. `None` for a frame that the mapping does not have.
    pub(super) fn printed_frame(&self, frame: &str, outline: &mut Option<usize>) -> Option<Vec<String>> {
        let (name, place) = frame.strip_suffix(')')?.rsplit_once('(')?;
        let (class, method) = name.rsplit_once('.')?;
        let line = place.rsplit_once(':').and_then(|(_, line)| line.parse().ok());
        if self.cache.is_outline_frame(class, method) {
            *outline = Some(line.unwrap_or(0));
            return Some(Vec::new());
        }
        let original_class = self.cache.remap_class(class)?;
        // Without its descriptor, which ART does not print.
        let known = Method {
            class: class.into(),
            name: method.into(),
            signature: String::new(),
            source_file: String::new(),
        };
        let mut found = self.by_line(&known, line, outline.take());
        if found.is_empty() {
            found = self.by_parameters(&known);
        }
        let lines: Vec<String> = found.iter().map(|original| original.printed(place)).collect();
        Some(if lines.is_empty() { vec![format!("  at {original_class}.{method}({place})")] } else { lines })
    }

    fn outline_position(&self, old: &Symbols, location: Location) -> Option<usize> {
        let Location::Frame { method, dex_pc, line } = location else { return None };
        let method = old.method(method)?;
        let outlined = self.cache.is_outline_frame(&method.class, &method.name);
        outlined.then(|| self.effective_line(line, dex_pc).unwrap_or(0))
    }

    /// The line number as a stack trace of ART prints it.
    fn effective_line(&self, line: Option<u32>, dex_pc: Option<u32>) -> Option<usize> {
        line.or(dex_pc.filter(|_| self.pc_as_line)).map(|line| line as usize)
    }

    /// The retraced frames of a location, top frame first.
    fn location(&mut self, old: &Symbols, location: Location, outline: Option<usize>) -> Rc<[LocationId]> {
        if let Some(known) = self.retraced.get(&(location, outline)) {
            return Rc::clone(known);
        }
        let new = self.read(old, location, outline);
        self.retraced.insert((location, outline), Rc::clone(&new));
        new
    }

    fn read(&mut self, old: &Symbols, location: Location, outline: Option<usize>) -> Rc<[LocationId]> {
        let Location::Frame { method: index, dex_pc, line } = location else {
            return Rc::new([self.intern(location)]);
        };
        let Some(method) = old.method(index) else {
            return Rc::new([self.intern(UNKNOWN)]);
        };
        let originals = self.originals(index, method, self.effective_line(line, dex_pc), outline);
        if originals.is_empty() {
            let method = self.method(method.clone());
            return Rc::new([self.intern(Location::Frame { method, dex_pc, line })]);
        }
        let outermost = originals.len() - 1;
        originals
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
                // An inlined frame has no dex pc of its own; that of its caller shows that it is not a native frame.
                self.intern(Location::Frame { method, dex_pc, line: original.line })
            })
            .collect()
    }

    /// The frames of the source, top first; empty when the mapping does not have the class.
    fn originals(
        &mut self,
        index: MethodId,
        method: &Method,
        line: Option<usize>,
        outline: Option<usize>,
    ) -> Vec<Original> {
        let Some(class) = self.cache.remap_class(&method.class) else { return Vec::new() };
        let constructor = method.name == "<init>" || method.name == "<clinit>";
        if !constructor {
            self.looked_up.insert(index);
        }
        let mut found = self.by_line(method, line, outline);
        if found.is_empty() {
            found = self.by_parameters(method);
        }
        if found.is_empty() {
            // The class is known and the method is not: it kept its name, or the mapping is of another build.
            let file = String::new();
            found.push(Original { class: class.to_string(), method: method.name.clone(), file, line: None });
            if class == method.class {
                self.looked_up.remove(&index);
            }
        } else {
            self.found.insert(index);
            self.looked_up.insert(index);
        }
        found
    }

    fn by_line(&self, method: &Method, line: Option<usize>, mut outline: Option<usize>) -> Vec<Original> {
        let Some(line) = line.filter(|line| *line > 0) else { return Vec::new() };
        let frame = StackFrame::new(&method.class, &method.name, line);
        let frame = self.cache.prepare_frame_for_mapping(&frame, &mut outline);
        let frames: Vec<StackFrame<'_>> = self.cache.remap_frame(&frame).take(MAX_INLINED).collect();
        // Frames that the compiler synthesized are left out, as in R8's retrace, unless there is no other frame.
        let only_synthesized = frames.iter().all(StackFrame::method_synthesized);
        let kept = frames.iter().filter(|frame| only_synthesized || !frame.method_synthesized());
        kept.map(|frame| Original::new(frame, frame.line())).collect()
    }

    /// Without a line the descriptor still distinguishes overloads; inlined frames cannot be known.
    fn by_parameters(&self, method: &Method) -> Vec<Original> {
        let descriptor = self.cache.deobfuscate_signature(&method.signature);
        let by_parameters = descriptor.and_then(|descriptor| {
            let parameters = descriptor.parameters_types().collect::<Vec<_>>().join(",");
            let frame = StackFrame::with_parameters(&method.class, &method.name, &parameters);
            self.cache.remap_frame(&frame).take(MAX_INLINED).last().map(|frame| Original::new(&frame, None))
        });
        let original = by_parameters.or_else(|| {
            let (class, name) = self.cache.remap_method(&method.class, &method.name)?;
            let file = String::new();
            Some(Original { class: class.to_string(), method: name.to_string(), file, line: None })
        });
        original.into_iter().collect()
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
            let original = self.cache.remap_class(&class.replace('/', "."));
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

impl Original {
    /// As ART prints a frame; `place` stands for one that the mapping does not have.
    fn printed(&self, place: &str) -> String {
        let place = match (self.line, self.file.as_str()) {
            _ if place == "Native method" => place.to_owned(),
            (Some(line), "") => format!("unavailable:{line}"),
            (Some(line), file) => format!("{file}:{line}"),
            (None, "") => "unavailable:-1".to_owned(),
            (None, file) => format!("{file}:-1"),
        };
        format!("  at {}.{}({place})", self.class, self.method)
    }

    fn new(frame: &StackFrame<'_>, line: Option<usize>) -> Self {
        Self {
            class: frame.class().to_string(),
            method: frame.method().to_string(),
            file: frame.file().unwrap_or_default().to_string(),
            line: line.filter(|line| *line > 0).and_then(|line| u32::try_from(line).ok()),
        }
    }
}
