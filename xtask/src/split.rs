//! Splits the page's module in two: what a visitor needs who opens the page, watches a run, changes it and shares it, and the
//! rest, which is loaded when somebody goes towards it.
//!
//! The second module is made of whole functions of the first, with the data that only those use, and shares its memory, tables
//! and globals. A call from the
//! first into the second goes through the table of functions: the place holds a function of the page's JavaScript until the
//! second module is there, which puts its own in all these places as it is instantiated. Whoever is called too early loads it
//! on the spot and goes on; see [`crate::glue`]. Nothing in the Rust code knows of it.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Range;
use std::slice;

use anyhow::{Result, anyhow, ensure};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, ExportKind, ExportSection,
    FunctionSection, ImportSection, Instruction, Module, TableSection, TypeSection,
};
use wasmparser::{
    CodeSectionReader, DataKind, DataSectionReader, ElementItems, ElementKind, ElementSectionReader,
    ExportSectionReader, ExternalKind, FunctionBody, FunctionSectionReader, GlobalType, ImportSectionReader,
    KnownCustom, MemoryType, Name, Operator, Parser, Payload, TableSectionReader, TableType, TypeRef,
    TypeSectionReader,
};

use crate::order;
use crate::uses::{Uses, without};

/// What the first module imports the functions from that stand in for those of the second, by their places in the table.
pub(crate) const STAND_INS: &str = "l";
/// The name under which the first module exports its table of functions.
pub(crate) const TABLE: &str = "later";

/// As many bytes of data does it take to make two segments of one.
const APART: usize = 12;

/// Two modules made of one.
pub(crate) struct Halves {
    pub first: Vec<u8>,
    pub second: Vec<u8>,
    /// A line for each function of the second that somebody may call too early: its place in the table, and its name.
    pub calls: String,
}

/// Splits `wasm`, which still has the names that the linker gave its functions. Those go to the second module whose names, as
/// people write them, `is_later` says so of, whatever only they call, and the data that only they use. Functions that are
/// exported stay.
///
/// # Errors
/// When it is no module, has no names, or does something that is not known here.
pub(crate) fn split(wasm: &[u8], uses: &Uses, is_later: impl Fn(&str) -> bool) -> Result<Halves> {
    let plan = Plan::of(Whole::read(wasm)?, uses, is_later)?;
    // A second module works with the first it was made with and no other: what they share is named after both.
    let cut: Vec<u8> = plan.later.iter().flat_map(|function| function.to_le_bytes()).collect();
    let mark = format!("{:016x}", order::number(&[wasm, &cut].concat()));
    let mut first = Module::new();
    let done = First::new(&plan, &mark).parse_core_module(&mut first, Parser::new(0), wasm);
    done.map_err(|error| anyhow!("cannot write the first part: {error}"))?;
    let mut second = Module::new();
    let done = Second::new(&plan).write(&mark, &mut second);
    done.map_err(|error| anyhow!("cannot write the second part: {error}"))?;
    Ok(Halves { first: first.finish(), second: second.finish(), calls: plan.calls() })
}

/// What there is in a module.
#[derive(Default)]
struct Whole<'a> {
    types: Option<TypeSectionReader<'a>>,
    /// The type of each function, imported ones first.
    functions: Vec<u32>,
    imported: u32,
    bodies: Vec<FunctionBody<'a>>,
    names: BTreeMap<u32, &'a str>,
    /// Functions that are exported or started.
    roots: BTreeSet<u32>,
    tables: Vec<TableType>,
    memories: Vec<MemoryType>,
    globals: Vec<GlobalType>,
    /// Where each segment of the data goes, and its bytes.
    data: Vec<(u32, &'a [u8])>,
    /// Which function is where in a table: the first place of each, by function.
    seats: BTreeMap<u32, Seat>,
    /// Functions that somebody takes a reference of other than by a place in a table, or that have several.
    bound: BTreeSet<u32>,
    /// Which functions call a function.
    callers: BTreeMap<u32, BTreeSet<u32>>,
}

/// A place in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seat {
    table: u32,
    place: u32,
}

impl<'a> Whole<'a> {
    fn read(wasm: &'a [u8]) -> Result<Self> {
        let mut whole = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => whole.types = Some(section),
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            TypeRef::Func(ty) => {
                                whole.functions.push(ty);
                                whole.imported += 1;
                            }
                            other => return Err(anyhow!("the module imports {other:?}")),
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        whole.functions.push(ty?);
                    }
                }
                Payload::TableSection(section) => {
                    for table in section {
                        whole.tables.push(table?.ty);
                    }
                }
                Payload::MemorySection(section) => {
                    whole.memories = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        whole.globals.push(global?.ty);
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.kind == ExternalKind::Func {
                            whole.roots.insert(export.index);
                        }
                    }
                }
                Payload::StartSection { func, .. } => {
                    whole.roots.insert(func);
                }
                Payload::ElementSection(section) => whole.read_elements(section)?,
                Payload::DataSection(section) => whole.read_data(section)?,
                Payload::CodeSectionEntry(body) => whole.bodies.push(body),
                Payload::CustomSection(section) if section.name() == "name" => {
                    let KnownCustom::Name(names) = section.as_known() else { continue };
                    for part in names {
                        let Name::Function(names) = part? else { continue };
                        for name in names {
                            let name = name?;
                            whole.names.insert(name.index, name.name);
                        }
                    }
                }
                _ => {}
            }
        }
        whole.read_calls()?;
        Ok(whole)
    }

    fn read_data(&mut self, section: DataSectionReader<'a>) -> Result<()> {
        for segment in section {
            let segment = segment?;
            let DataKind::Active { memory_index: 0, offset_expr } = segment.kind else {
                return Err(anyhow!("a segment of the data is for another memory or for later"));
            };
            let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
                return Err(anyhow!("a segment of the data is not at a fixed place"));
            };
            self.data.push((value.cast_unsigned(), segment.data));
        }
        Ok(())
    }

    fn read_elements(&mut self, section: ElementSectionReader<'_>) -> Result<()> {
        for element in section {
            let element = element?;
            let start = match element.kind {
                ElementKind::Active { table_index, offset_expr } => {
                    let mut offset = offset_expr.get_operators_reader();
                    match offset.read()? {
                        Operator::I32Const { value } => {
                            Some((table_index.unwrap_or(0), value.cast_unsigned()))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            let ElementItems::Functions(functions) = element.items else { continue };
            for (place, function) in (0..).zip(functions) {
                let function = function?;
                let seat = start.map(|(table, start)| Seat { table, place: start + place });
                match seat {
                    Some(seat) if !self.seats.contains_key(&function) => {
                        self.seats.insert(function, seat);
                    }
                    _ => {
                        self.bound.insert(function);
                    }
                }
            }
        }
        Ok(())
    }

    /// The name of a function as people write it.
    fn name(&self, function: u32) -> String {
        self.names
            .get(&function)
            .map_or_else(String::new, |name| format!("{:#}", rustc_demangle::demangle(name)))
    }

    /// The parts of memory whose first content these functions do without. What is shorter than it costs to tell apart stays
    /// where its surroundings are.
    fn spared(&self, uses: &Uses, functions: impl Iterator<Item = u32> + Clone) -> Result<Vec<Range<u32>>> {
        let name = |function: u32| self.names.get(&function).copied().unwrap_or_default();
        let mut spared = uses.spared_by(functions.clone().map(name));
        // Of functions that came after the linker nothing is known but the numbers in them.
        let mut numbers = BTreeSet::new();
        for function in functions.filter(|&function| !uses.knows(name(function))) {
            let mut reader = self.bodies[(function - self.imported) as usize].get_operators_reader()?;
            while !reader.eof() {
                if let Operator::I32Const { value } = reader.read()? {
                    numbers.insert(value.cast_unsigned());
                }
            }
        }
        spared.retain(|range| range.len() >= APART && numbers.range(range.clone()).next().is_none());
        Ok(spared)
    }

    fn read_calls(&mut self) -> Result<()> {
        for (caller, body) in (self.imported..).zip(&self.bodies) {
            let mut reader = body.get_operators_reader()?;
            while !reader.eof() {
                match reader.read()? {
                    Operator::Call { function_index } => {
                        self.callers.entry(function_index).or_default().insert(caller);
                    }
                    Operator::RefFunc { function_index } | Operator::ReturnCall { function_index } => {
                        self.bound.insert(function_index);
                        self.callers.entry(function_index).or_default().insert(caller);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a name begins as a pattern says, in which `*` stands for anything. The brackets around what a method belongs to do
/// not count.
pub(crate) fn begins(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(first) = pieces.next() else { return true };
    let Some(mut rest) = name.trim_start_matches('<').strip_prefix(first) else { return false };
    pieces.all(|piece| {
        let found = rest.find(piece);
        rest = found.map_or("", |at| &rest[at + piece.len()..]);
        found.is_some()
    })
}

/// Who goes where.
struct Plan<'a> {
    whole: Whole<'a>,
    /// The functions of the second module, in order.
    later: Vec<u32>,
    /// Those of them that the first calls, or that anybody finds in a table, with their places.
    seats: BTreeMap<u32, Seat>,
    /// The same functions in the order in which what stands in for them is imported.
    stand_ins: Vec<u32>,
    /// Which table has room made for more, and how many places.
    table: u32,
    more: u32,
    /// Functions of the first module that the second calls.
    shared: BTreeSet<u32>,
    /// The parts of memory whose first content comes with the second module, in order.
    data: Vec<Range<u32>>,
}

impl<'a> Plan<'a> {
    fn of(whole: Whole<'a>, uses: &Uses, is_later: impl Fn(&str) -> bool) -> Result<Self> {
        ensure!(!whole.names.is_empty(), "the module has no names to tell its parts by");
        ensure!(whole.imported > 0, "the module imports nothing, so it has nowhere to import stand-ins");
        let table = whole.seats.values().next().map(|seat| seat.table);
        let table = table.ok_or_else(|| anyhow!("the module has no table of functions"))?;
        ensure!(
            whole.seats.values().all(|seat| seat.table == table),
            "there are several tables of functions"
        );
        let own = whole.imported..u32::try_from(whole.functions.len())?;
        let may_go = |function: &u32| !whole.roots.contains(function) && !whole.bound.contains(function);
        let named = |function: &u32| is_later(&whole.name(*function));
        let mut later: BTreeSet<u32> = own.clone().filter(may_go).filter(named).collect();
        // What only those call goes with them.
        loop {
            let follows = |function: &u32| {
                !later.contains(function)
                    && !whole.seats.contains_key(function)
                    && whole.callers.get(function).is_some_and(|callers| callers.is_subset(&later))
            };
            let more: Vec<u32> = own.clone().filter(may_go).filter(follows).collect();
            if more.is_empty() {
                break;
            }
            later.extend(more);
        }
        let (mut seats, mut more) = (BTreeMap::new(), 0);
        let size = whole.tables.get(table as usize).map_or(0, |table| table.initial);
        let size = u32::try_from(size)?;
        // Those of a type have places that follow one another, and are imported so: that packs best.
        let mut by_type: Vec<u32> = later.iter().copied().collect();
        by_type.sort_by_key(|&function| whole.functions[function as usize]);
        for function in by_type {
            let called = whole.callers.get(&function).is_some_and(|callers| !callers.is_subset(&later));
            if let Some(&seat) = whole.seats.get(&function) {
                seats.insert(function, seat);
            } else if called {
                seats.insert(function, Seat { table, place: size + more });
                more += 1;
            }
        }
        let mut stand_ins: Vec<u32> = seats.keys().copied().collect();
        stand_ins.sort_by_key(|function| (whole.functions[*function as usize], seats[function].place));
        let calls = |(function, callers): (&u32, &BTreeSet<u32>)| {
            (!later.contains(function) && !callers.is_disjoint(&later)).then_some(*function)
        };
        let shared = whole.callers.iter().filter_map(calls).collect();
        let first = own.filter(|function| !later.contains(function));
        let data = whole.spared(uses, first)?;
        Ok(Self { later: later.into_iter().collect(), whole, seats, stand_ins, table, more, shared, data })
    }

    fn is_later(&self, function: u32) -> bool {
        self.later.binary_search(&function).is_ok()
    }

    /// The type of a function.
    fn type_of(&self, function: u32) -> u32 {
        self.whole.functions[function as usize]
    }

    fn body(&self, function: u32) -> &FunctionBody<'a> {
        &self.whole.bodies[(function - self.whole.imported) as usize]
    }

    fn calls(&self) -> String {
        let mut lines: Vec<(u32, u32)> =
            self.seats.iter().map(|(&function, seat)| (seat.place, function)).collect();
        lines.sort_unstable();
        let line = |(place, function)| format!("{place} {}\n", self.whole.name(function));
        lines.into_iter().map(line).collect()
    }

    /// The data of the first module or of the second.
    fn data(&self, is_second: bool) -> DataSection {
        let mut section = DataSection::new();
        for &(start, bytes) in &self.whole.data {
            let whole = start..start + bytes.len() as u32;
            let first = without(slice::from_ref(&whole), &self.data);
            let ranges = if is_second { without(slice::from_ref(&whole), &first) } else { first };
            for range in ranges {
                let place = ConstExpr::i32_const(range.start.cast_signed());
                let (from, to) = (range.start - start, range.end - start);
                section.active(0, &place, bytes[from as usize..to as usize].iter().copied());
            }
        }
        section
    }

    /// What both modules share besides functions, with the name that the first exports it by.
    fn common(&self, mark: &str) -> Vec<(String, ExportKind, u32)> {
        let kinds = [
            ("m", ExportKind::Memory, self.whole.memories.len()),
            ("t", ExportKind::Table, self.whole.tables.len()),
            ("g", ExportKind::Global, self.whole.globals.len()),
        ];
        let each = |(letter, kind, n): (&'static str, ExportKind, usize)| {
            (0..n as u32).map(move |at| (format!("{mark}{letter}{at}"), kind, at))
        };
        kinds.into_iter().flat_map(each).collect()
    }
}

/// The name by which the first module exports a function for the second: its number among those, with a sign that no other
/// name has.
fn shared_name(number: usize) -> String {
    format!("'{number:x}")
}

/// Writes the first module.
struct First<'a> {
    plan: &'a Plan<'a>,
    mark: &'a str,
    /// The new number of each function, or of what stands in for it.
    numbers: Vec<u32>,
}

impl<'a> First<'a> {
    fn new(plan: &'a Plan<'a>, mark: &'a str) -> Self {
        let imported = plan.whole.imported;
        let mut numbers: Vec<u32> = (0..imported).collect();
        let mut next = imported + plan.seats.len() as u32;
        for function in imported..plan.whole.functions.len() as u32 {
            // Nobody asks for one that only others of the second module know.
            numbers.push(if plan.is_later(function) { 0 } else { next });
            next += u32::from(!plan.is_later(function));
        }
        for (number, &function) in (imported..).zip(&plan.stand_ins) {
            numbers[function as usize] = number;
        }
        Self { plan, mark, numbers }
    }
}

type Written = Result<(), Error<Infallible>>;

impl Reencode for First<'_> {
    type Error = Infallible;

    fn function_index(&mut self, old: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.numbers[old as usize])
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Written {
        for import in section.into_imports() {
            self.parse_import(imports, import?)?;
        }
        for &function in &self.plan.stand_ins {
            let ty = EntityType::Function(self.plan.type_of(function));
            imports.import(STAND_INS, &self.plan.seats[&function].place.to_string(), ty);
        }
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Written {
        for (function, ty) in (self.plan.whole.imported..).zip(section) {
            if !self.plan.is_later(function) {
                functions.function(ty?);
            }
        }
        Ok(())
    }

    fn parse_table_section(&mut self, tables: &mut TableSection, section: TableSectionReader<'_>) -> Written {
        for (at, table) in (0..).zip(section) {
            let mut table = table?;
            if at == self.plan.table {
                let more = u64::from(self.plan.more);
                table.ty.initial += more;
                table.ty.maximum = table.ty.maximum.map(|most| most + more);
            }
            self.parse_table(tables, table)?;
        }
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Written {
        for export in section {
            self.parse_export(exports, export?)?;
        }
        exports.export(TABLE, ExportKind::Table, self.plan.table);
        for (name, kind, at) in self.plan.common(self.mark) {
            exports.export(&name, kind, at);
        }
        for (number, &function) in self.plan.shared.iter().enumerate() {
            let at = self.function_index(function)?;
            exports.export(&shared_name(number), ExportKind::Func, at);
        }
        Ok(())
    }

    fn parse_element_section(
        &mut self,
        elements: &mut ElementSection,
        section: ElementSectionReader<'_>,
    ) -> Written {
        for element in section {
            self.parse_element(elements, element?)?;
        }
        let size = self.plan.whole.tables[self.plan.table as usize].initial as u32;
        let mut added: Vec<(u32, u32)> =
            self.plan.seats.iter().map(|(&function, seat)| (seat.place, function)).collect();
        added.retain(|&(place, _)| place >= size);
        added.sort_unstable();
        if !added.is_empty() {
            let stand_ins = added
                .into_iter()
                .map(|(_, function)| self.function_index(function))
                .collect::<Result<Vec<_>, _>>()?;
            let start = ConstExpr::i32_const(size.cast_signed());
            elements.active(Some(self.plan.table), &start, Elements::Functions(stand_ins.into()));
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Written {
        for (function, body) in (self.plan.whole.imported..).zip(section) {
            let body = body?;
            if !self.plan.is_later(function) {
                self.parse_function_body(code, body)?;
            }
        }
        Ok(())
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Written {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            match reader.read()? {
                Operator::Call { function_index } if self.plan.is_later(function_index) => {
                    let Seat { table, place } = self.plan.seats[&function_index];
                    function.instruction(&Instruction::I32Const(place.cast_signed()));
                    let type_index = self.plan.type_of(function_index);
                    function.instruction(&Instruction::CallIndirect { type_index, table_index: table });
                }
                other => {
                    function.instruction(&self.instruction(other)?);
                }
            }
        }
        code.function(&function);
        Ok(())
    }

    fn data_count(&mut self, _: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.plan.data(false).len())
    }

    fn parse_data_section(&mut self, data: &mut DataSection, _: DataSectionReader<'_>) -> Written {
        *data = self.plan.data(false);
        Ok(())
    }

    // Names and what the linker said have served, and browsers ask for nothing else.
    fn parse_custom_section(&mut self, _: &mut Module, _: wasmparser::CustomSectionReader<'_>) -> Written {
        Ok(())
    }
}

/// Writes the second module.
struct Second<'a> {
    plan: &'a Plan<'a>,
    /// The new number of each function that it imports or has.
    numbers: BTreeMap<u32, u32>,
}

impl<'a> Second<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        let order = plan.shared.iter().chain(&plan.later).copied();
        Self { plan, numbers: order.zip(0..).collect() }
    }

    fn write(&mut self, mark: &str, module: &mut Module) -> Written {
        let plan = self.plan;
        let mut types = TypeSection::new();
        if let Some(section) = plan.whole.types.clone() {
            self.parse_type_section(&mut types, section)?;
        }
        module.section(&types);

        // All from one object: what the first module exports.
        let mut imports = ImportSection::new();
        for (name, kind, at) in plan.common(mark) {
            let at = at as usize;
            let entity = match kind {
                ExportKind::Memory => EntityType::Memory(self.memory_type(plan.whole.memories[at])?),
                ExportKind::Table => {
                    let mut table = self.table_type(plan.whole.tables[at])?;
                    if at == plan.table as usize {
                        table.minimum += u64::from(plan.more);
                        table.maximum = table.maximum.map(|most| most + u64::from(plan.more));
                    }
                    EntityType::Table(table)
                }
                _ => EntityType::Global(self.global_type(plan.whole.globals[at])?),
            };
            imports.import("", &name, entity);
        }
        for (number, &function) in plan.shared.iter().enumerate() {
            imports.import("", &shared_name(number), EntityType::Function(plan.type_of(function)));
        }
        module.section(&imports);

        let mut functions = FunctionSection::new();
        for &function in &plan.later {
            functions.function(plan.type_of(function));
        }
        module.section(&functions);

        let mut elements = ElementSection::new();
        let mut by_place: Vec<(u32, u32)> = Vec::new();
        for (&function, seat) in &plan.seats {
            by_place.push((seat.place, self.function_index(function)?));
        }
        by_place.sort_unstable();
        for run in by_place.chunk_by(|(a, _), (b, _)| a + 1 == *b) {
            let here: Vec<u32> = run.iter().map(|&(_, function)| function).collect();
            let start = ConstExpr::i32_const(run[0].0.cast_signed());
            elements.active(Some(plan.table), &start, Elements::Functions(here.into()));
        }
        module.section(&elements);

        let mut code = CodeSection::new();
        for &function in &plan.later {
            self.parse_function_body(&mut code, plan.body(function).clone())?;
        }
        module.section(&code);
        module.section(&plan.data(true));
        Ok(())
    }
}

impl Reencode for Second<'_> {
    type Error = Infallible;

    fn function_index(&mut self, old: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.numbers[&old])
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // ranges are what is meant
mod tests {
    use super::*;
    use wasm_encoder::{
        Function, GlobalSection, GlobalType, MemorySection, MemoryType, NameMap, NameSection, RefType,
        TableType, ValType,
    };
    use wasmparser::Validator;

    /// What the functions of the test's module are called and whom they call, from number 1 on; 0 is imported.
    const FUNCTIONS: [(&str, &[u32]); 6] = [
        ("open::page", &[2, 4, 0]),
        ("<rest::Panel>::show", &[3, 4, 0]),
        ("only::for_panels", &[]),
        ("shared", &[]),
        ("rest::found_in_the_table", &[3]),
        ("rest::exported", &[]),
    ];

    fn module(named: bool) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        imports.import("page", "first", EntityType::Function(0));
        let (mut functions, mut code, mut names) =
            (FunctionSection::new(), CodeSection::new(), NameMap::new());
        for ((name, calls), number) in FUNCTIONS.iter().zip(1..) {
            functions.function(0);
            names.append(number, name);
            let mut body = Function::new([]);
            body.instruction(&Instruction::GlobalGet(0)).instruction(&Instruction::Drop);
            for &callee in *calls {
                body.instruction(&Instruction::Call(callee));
            }
            body.instruction(&Instruction::End);
            code.function(&body);
        }
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            minimum: 3,
            maximum: Some(3),
            table64: false,
            shared: false,
        });
        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut globals = GlobalSection::new();
        let stack = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        globals.global(stack, &ConstExpr::i32_const(1024));
        let mut exports = ExportSection::new();
        exports.export("open", ExportKind::Func, 1).export("exported", ExportKind::Func, 6);
        let mut elements = ElementSection::new();
        elements.active(None, &ConstExpr::i32_const(1), Elements::Functions(vec![4, 5].into()));
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&tables).section(&memories);
        module.section(&globals).section(&exports).section(&elements).section(&code);
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(1024), (0..64).map(|byte| b'a' + byte / 16));
        module.section(&data);
        if named {
            let mut section = NameSection::new();
            section.functions(&names);
            module.section(&section);
        }
        module.finish()
    }

    /// The first function and the panel have an object each of the data; the panel's has the address of the next, and nobody
    /// that of the last.
    fn uses() -> Uses {
        Uses::made_of(
            &[1024..1040, 1040..1056, 1056..1072, 1072..1088],
            &[("open::page", &[0]), ("<rest::Panel>::show", &[1]), ("shared", &[])],
            &[(1, &[2])],
        )
    }

    /// Where a module's data goes, and its bytes.
    fn data(wasm: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut whole = Whole::default();
        for payload in Parser::new(0).parse_all(wasm) {
            if let Payload::DataSection(section) = payload.expect("read") {
                whole.read_data(section).expect("data at fixed places");
            }
        }
        whole.data.into_iter().map(|(at, bytes)| (at, bytes.to_vec())).collect()
    }

    fn is_later(name: &str) -> bool {
        begins(name, "rest::")
    }

    /// Imports and exports of a module, and how many functions it has.
    fn outside(wasm: &[u8]) -> (Vec<String>, Vec<String>, usize) {
        Validator::new().validate_all(wasm).expect("a sound module");
        let (mut imports, mut exports, mut bodies) = (Vec::new(), Vec::new(), 0);
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.expect("read") {
                Payload::ImportSection(section) => {
                    let named = |import: wasmparser::Import<'_>| format!("{}.{}", import.module, import.name);
                    imports = section.into_imports().map(|import| named(import.unwrap())).collect();
                }
                Payload::ExportSection(section) => {
                    exports = section.into_iter().map(|export| export.unwrap().name.to_owned()).collect();
                }
                Payload::CodeSectionEntry(_) => bodies += 1,
                Payload::CustomSection(section) => assert_ne!(section.name(), "name"),
                _ => {}
            }
        }
        (imports, exports, bodies)
    }

    #[test]
    fn what_is_named_goes_with_what_only_it_calls_and_what_is_exported_stays() {
        let halves = split(&module(true), &uses(), is_later).expect("splits");
        let (imports, exports, bodies) = outside(&halves.first);
        // The panel gets the place behind the table's, the other is in the table already: those of a type come by place.
        assert_eq!(imports, ["page.first", "l.2", "l.3"]);
        assert_eq!(bodies, 3, "open, shared and exported");
        let (wanted, _, bodies) = outside(&halves.second);
        assert_eq!(bodies, 3, "the panel, what it alone calls, and the one in the table");
        for name in wanted.iter().map(|name| name.strip_prefix('.').expect("from the first module")) {
            assert!(exports.iter().any(|export| export == name), "{name} is not among {exports:?}");
        }
        assert!(wanted.ends_with(&[".'0".to_owned(), ".'1".to_owned()]), "{wanted:?}");
    }

    #[test]
    fn data_goes_with_those_who_alone_use_it() {
        let halves = split(&module(true), &uses(), is_later).expect("splits");
        assert_eq!(data(&halves.first), [(1024, vec![b'a'; 16]), (1072, vec![b'd'; 16])]);
        let (b, c) = (vec![b'b'; 16], vec![b'c'; 16]);
        assert_eq!(data(&halves.second), [(1040, [b, c].concat())]);
        // If the first part has the address of the panel's object, it has what that has, too.
        let name = "only::for_panels";
        let more = Uses::made_of(&[1040..1056, 1056..1072], &[("shared", &[0]), (name, &[0])], &[(0, &[1])]);
        let halves = split(&module(true), &more, is_later).expect("splits");
        assert_eq!((data(&halves.first).len(), data(&halves.second).len()), (1, 0));
    }

    #[test]
    fn data_stays_where_a_function_that_the_linker_does_not_know_has_a_number_in_it() {
        // "rest::exported" is not in `uses`, stays, and has this number.
        let mut wasm = module(true);
        let number = [0x23, 0x00, 0x1a, 0x0b];
        let at = wasm.windows(4).rposition(|bytes| bytes == number).expect("the last body");
        wasm[at..at + 3].copy_from_slice(&[0x41, 0x05, 0x1a]);
        let near = Uses::made_of(&[0..16], &[("<rest::Panel>::show", &[0])], &[]);
        let whole = Whole::read(&wasm).expect("a module");
        assert_eq!(whole.spared(&near, [6].into_iter()).expect("told"), []);
        assert_eq!(whole.spared(&near, [1].into_iter()).expect("told"), [0..16]);
    }

    #[test]
    fn halves_of_different_programs_or_cuts_do_not_fit() {
        let mut other = module(true);
        let at = other.windows(6).position(|bytes| bytes == b"shared").expect("a name");
        other[at] = b'S';
        let one = split(&module(true), &uses(), is_later).expect("splits");
        let others =
            [split(&other, &uses(), is_later), split(&module(true), &uses(), |name| name.contains("table"))];
        let (wanted, _, _) = outside(&one.second);
        for other in others {
            let (_, exports, _) = outside(&other.expect("splits").first);
            assert!(
                !exports.iter().any(|export| format!(".{export}") == wanted[0]),
                "{wanted:?} of {exports:?}"
            );
        }
    }

    #[test]
    fn nothing_to_defer_leaves_a_second_part_that_does_nothing() {
        let halves = split(&module(true), &uses(), |_| false).expect("splits");
        assert_eq!((outside(&halves.first).2, outside(&halves.second).2), (6, 0));
    }

    #[test]
    fn names_are_told_by_how_they_begin() {
        assert!(begins("<<a::B>::c::{closure#0} as core::D>::d", "a::B>::c"));
        assert!(begins("core::drop::<a::B>", "core::*a::B"));
        assert!(begins("core::drop::<a::B>", "*a::"));
        assert!(!begins("core::drop::<a::B>", "a::B"));
        assert!(!begins("core::drop::<a::B>", "core::*B*a"));
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        assert!(split(&module(false), &uses(), is_later).is_err(), "no names");
        assert!(split(b"not a module", &uses(), is_later).is_err());
    }
}
