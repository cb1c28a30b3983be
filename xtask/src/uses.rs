//! What of a module's data each of its functions uses.
//!
//! A finished module does not say: an address in it is a number like any other. The linker knows, and with `--emit-relocs`
//! leaves its knowledge in the module: which objects the data consists of, and every place in code and data where the address
//! of one stands. See the WebAssembly tool conventions, Linking.md, "Relocation Sections".

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use wasmparser::{
    DataKind, KnownCustom, Linking, Name, Operator, Parser, Payload, RelocationEntry, RelocationType,
    SymbolFlags, SymbolInfo, TypeRef,
};

/// What of the data each function uses, and each part of the data of the rest.
#[derive(Default)]
pub(crate) struct Uses {
    /// Where each object is in memory.
    objects: Vec<Range<u32>>,
    /// The objects whose addresses a function has, by the function's name as the linker knows it.
    by_function: BTreeMap<String, BTreeSet<usize>>,
    /// The objects whose addresses an object has.
    by_object: BTreeMap<usize, BTreeSet<usize>>,
    /// The objects whose addresses stand in no object that is known.
    by_others: BTreeSet<usize>,
}

impl Uses {
    /// Reads it from a module as the linker leaves it.
    ///
    /// # Errors
    /// When it is no module or was linked without `--emit-relocs`.
    pub(crate) fn read(wasm: &[u8]) -> Result<Self> {
        let mut linked = Linked::default();
        for payload in Parser::new(0).parse_all(wasm) {
            linked.take(payload?)?;
        }
        linked.uses()
    }

    /// Of these objects, what functions and objects have the addresses of.
    #[cfg(test)]
    pub(crate) fn made_of(
        objects: &[Range<u32>],
        by_function: &[(&str, &[usize])],
        by_object: &[(usize, &[usize])],
    ) -> Self {
        let set = |objects: &[usize]| objects.iter().copied().collect();
        Self {
            objects: objects.to_vec(),
            by_function: by_function.iter().map(|(name, had)| ((*name).to_owned(), set(had))).collect(),
            by_object: by_object.iter().map(|(object, had)| (*object, set(had))).collect(),
            by_others: BTreeSet::new(),
        }
    }

    /// Whether the linker knew this function.
    pub(crate) fn knows(&self, function: &str) -> bool {
        self.by_function.contains_key(function)
    }

    /// The parts of memory that these functions do without, and others use: in order, none touching another.
    pub(crate) fn spared_by<'a>(&self, functions: impl Iterator<Item = &'a str>) -> Vec<Range<u32>> {
        let functions = functions.filter_map(|name| self.by_function.get(name));
        let used = self.reached(functions.chain([&self.by_others]));
        let by_any = self.reached(self.by_function.values());
        let places = |objects: &mut dyn Iterator<Item = usize>| {
            union(objects.map(|object| self.objects[object].clone()).collect())
        };
        // Objects may share bytes.
        without(&places(&mut by_any.difference(&used).copied()), &places(&mut used.iter().copied()))
    }

    /// The objects that are had from these on.
    fn reached<'a>(&self, from: impl Iterator<Item = &'a BTreeSet<usize>>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<usize> = from.flatten().copied().collect();
        while let Some(object) = next.pop() {
            if reached.insert(object) {
                next.extend(self.by_object.get(&object).into_iter().flatten());
            }
        }
        reached
    }
}

/// The same bytes in as few ranges as can be, in order.
fn union(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut out: Vec<Range<u32>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// What is left of `ranges` without the bytes of `others`; both in order.
pub(crate) fn without(ranges: &[Range<u32>], others: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut start = range.start;
        for other in others.iter().filter(|other| other.start < range.end && other.end > range.start) {
            left.push(start..other.start.max(start));
            start = other.end;
        }
        left.push(start.min(range.end)..range.end);
    }
    left.retain(|range| !range.is_empty());
    left
}

/// What a linked module says of itself.
#[derive(Default)]
struct Linked<'a> {
    imported: u32,
    /// Where each function's body is in the file, in order.
    bodies: Vec<Range<usize>>,
    names: BTreeMap<u32, &'a str>,
    /// Where the content of the sections begins in the file that relocations count from.
    code: usize,
    data: usize,
    /// Of each segment, where it is in memory and in the file.
    segments: Vec<(u32, Range<usize>)>,
    symbols: Vec<Option<Symbol>>,
    in_code: Vec<RelocationEntry>,
    in_data: Vec<RelocationEntry>,
    has_relocations: bool,
}

/// An object, by the number of its segment and its place there.
struct Symbol {
    segment: usize,
    place: Range<u32>,
}

impl<'a> Linked<'a> {
    fn take(&mut self, payload: Payload<'a>) -> Result<()> {
        match payload {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    self.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionStart { range, .. } => self.code = range.start,
            Payload::CodeSectionEntry(body) => self.bodies.push(body.range()),
            Payload::DataSection(section) => {
                self.data = section.range().start;
                for segment in section {
                    let segment = segment?;
                    let DataKind::Active { offset_expr, .. } = segment.kind else { continue };
                    let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
                        anyhow::bail!("a segment of the data is not at a fixed place");
                    };
                    let file = segment.range.end - segment.data.len()..segment.range.end;
                    self.segments.push((value.cast_unsigned(), file));
                }
            }
            Payload::CustomSection(section) => match section.as_known() {
                KnownCustom::Name(names) => {
                    for part in names {
                        if let Name::Function(names) = part? {
                            for name in names {
                                let name = name?;
                                self.names.insert(name.index, name.name);
                            }
                        }
                    }
                }
                KnownCustom::Linking(linking) => {
                    for part in linking.subsections() {
                        if let Linking::SymbolTable(symbols) = part? {
                            for symbol in symbols {
                                self.symbols.push(object(symbol?));
                            }
                        }
                    }
                }
                KnownCustom::Reloc(relocations) => {
                    self.has_relocations = true;
                    let of = match section.name() {
                        "reloc.CODE" => &mut self.in_code,
                        "reloc.DATA" => &mut self.in_data,
                        _ => return Ok(()),
                    };
                    *of = relocations.entries().into_iter().collect::<Result<_, _>>()?;
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn uses(&self) -> Result<Uses> {
        ensure!(self.has_relocations, "the module was linked without --emit-relocs");
        let mut uses = Uses::default();
        let mut numbers = BTreeMap::new();
        for (number, symbol) in self.symbols.iter().enumerate() {
            let Some(symbol) = symbol else { continue };
            let (start, _) = self.segments.get(symbol.segment).context("an object of no segment")?;
            numbers.insert(number, uses.objects.len());
            uses.objects.push(start + symbol.place.start..start + symbol.place.end);
        }
        let of = |relocation: &RelocationEntry| {
            let is_address = matches!(
                relocation.ty,
                RelocationType::MemoryAddrLeb
                    | RelocationType::MemoryAddrSleb
                    | RelocationType::MemoryAddrI32
                    | RelocationType::MemoryAddrRelSleb
                    | RelocationType::MemoryAddrLocrelI32
            );
            if is_address { numbers.get(&(relocation.index as usize)).copied() } else { None }
        };
        for (number, _) in (self.imported..).zip(&self.bodies) {
            let name = self.names.get(&number).context("a function has no name")?;
            uses.by_function.entry((*name).to_owned()).or_default();
        }
        for relocation in &self.in_code {
            let Some(object) = of(relocation) else { continue };
            let at = self.code + relocation.offset as usize;
            let body = self.bodies.partition_point(|body| body.end <= at);
            let name = self.names.get(&(self.imported + u32::try_from(body)?));
            let name = name.context("an address stands behind the code")?;
            uses.by_function.entry((*name).to_owned()).or_default().insert(object);
        }
        // Which object is at a place of the data: those that share bytes all have what stands there.
        let mut holders: Vec<usize> = (0..uses.objects.len()).collect();
        holders.sort_unstable_by_key(|&object| uses.objects[object].start);
        for relocation in &self.in_data {
            let Some(object) = of(relocation) else { continue };
            let at = self.data + relocation.offset as usize;
            let segment = self.segments.iter().find(|(_, file)| file.contains(&at));
            let (start, file) = segment.context("an address stands outside the data")?;
            let at = start + u32::try_from(at - file.start)?;
            let until = holders.partition_point(|&holder| uses.objects[holder].start <= at);
            let mut is_known = false;
            for &holder in holders[..until].iter().filter(|&&holder| uses.objects[holder].contains(&at)) {
                uses.by_object.entry(holder).or_default().insert(object);
                is_known = true;
            }
            if !is_known {
                uses.by_others.insert(object);
            }
        }
        Ok(uses)
    }
}

fn object(symbol: SymbolInfo<'_>) -> Option<Symbol> {
    match symbol {
        SymbolInfo::Data { flags, symbol: Some(place), .. } if !flags.contains(SymbolFlags::ABSOLUTE) => {
            let place = Symbol {
                segment: place.index as usize,
                place: place.offset..place.offset.checked_add(place.size)?,
            };
            Some(place)
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // ranges are what is meant
mod tests {
    use super::*;
    use wasm_encoder::{
        CodeSection, ConstExpr, CustomSection, DataSection, Function, FunctionSection, Instruction,
        LinkingSection, MemorySection, MemoryType, Module, NameMap, NameSection, SymbolTable, TypeSection,
    };

    /// A number as linkers write it, in five bytes.
    fn padded(n: u32) -> [u8; 5] {
        std::array::from_fn(|at| (n >> (7 * at)) as u8 & 0x7f | if at < 4 { 0x80 } else { 0 })
    }

    /// A module of two functions, each with an address, and of three objects of eight bytes, of which the second has the address
    /// of the third.
    fn linked(with_relocations: bool) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        for object in 0..2 {
            functions.function(0);
            let mut body = Function::new([]);
            body.raw([0x41]).raw(padded(1024 + 8 * object)).instruction(&Instruction::Drop);
            code.function(body.instruction(&Instruction::End));
        }
        let mut memories = MemorySection::new();
        let memory =
            MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
        memories.memory(memory);
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(1024), [0; 24]);
        let mut names = NameMap::new();
        names.append(0, "first");
        names.append(1, "second");
        let mut section = NameSection::new();
        section.functions(&names);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&memories).section(&code).section(&data);
        module.section(&section);
        if with_relocations {
            let mut symbols = SymbolTable::new();
            for (name, offset) in [("a", 0), ("b", 8), ("c", 16)] {
                let place = wasm_encoder::DataSymbolDefinition { index: 0, offset, size: 8 };
                symbols.data(0, name, Some(place));
            }
            module.section(LinkingSection::new().symbol_table(&symbols));
            // Kind, offset, symbol, addend. A body is its size, no variables, the instruction, its number; after how many
            // bodies there are. What a segment is takes seven bytes.
            let in_code = [[4, 4, 0, 0], [4, 14, 1, 0]];
            let in_data = [[5, 7 + 8, 2, 0]];
            for (name, section, entries) in [("reloc.CODE", 3, &in_code[..]), ("reloc.DATA", 4, &in_data[..])]
            {
                let bytes = [&[section, entries.len() as u8][..], entries.concat().as_slice()].concat();
                module.section(&CustomSection { name: name.into(), data: bytes.into() });
            }
        }
        module.finish()
    }

    #[test]
    fn the_linker_says_who_uses_what() {
        let uses = Uses::read(&linked(true)).expect("a linked module");
        assert_eq!(uses.objects, [1024..1032, 1032..1040, 1040..1048]);
        assert!(uses.knows("first") && uses.knows("second") && !uses.knows("third"));
        assert_eq!(
            uses.spared_by(["first"].into_iter()),
            [1032..1048],
            "and what only the second's object has"
        );
        assert_eq!(uses.spared_by(["second"].into_iter()), [1024..1032]);
        assert_eq!(uses.spared_by(["first", "second"].into_iter()), []);
        assert!(Uses::read(&linked(false)).is_err(), "nobody asked the linker");
        assert!(Uses::read(b"not a module").is_err());
    }

    #[test]
    fn ranges_are_put_together_and_taken_apart() {
        assert_eq!(union(vec![8..12, 0..4, 4..6, 5..7, 9..9]), [0..7, 8..12]);
        assert_eq!(without(&[0..10, 12..20], &[0..2, 4..5, 9..13, 19..30]), [2..4, 5..9, 13..19]);
        assert_eq!(without(&[0..10], &[]), [0..10]);
        assert_eq!(without(&[2..4], &[0..8]), []);
    }
}
