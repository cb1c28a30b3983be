//! Leaves out the types of functions that a module does not use, and numbers the others by how often they are: half of a module
//! has the types of the whole, and small numbers are short.

use std::cmp::Reverse;
use std::convert::Infallible;

use anyhow::{Context, Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{Module, TypeSection};
use wasmparser::{BlockType, FuncType, Operator, Parser, Payload, TypeRef, TypeSectionReader};

/// `wasm` with the types that it uses.
///
/// # Errors
/// When it is no module.
pub(crate) fn by_use(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut used = Used::of(wasm)?;
    let mut module = Module::new();
    let done = used.parse_core_module(&mut module, Parser::new(0), wasm);
    done.map_err(|error| anyhow!("cannot write the module again: {error}"))?;
    Ok(module.finish())
}

struct Used {
    types: Vec<FuncType>,
    /// The used ones, in the new order.
    order: Vec<usize>,
}

impl Used {
    fn of(wasm: &[u8]) -> Result<Self> {
        let (mut types, mut uses) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    types = section.into_iter_err_on_gc_types().collect::<Result<_, _>>()?;
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        if let TypeRef::Func(ty) = import?.ty {
                            uses.push(ty);
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        uses.push(ty?);
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    for operator in body.get_operators_reader()? {
                        match operator? {
                            Operator::CallIndirect { type_index: ty, .. }
                            | Operator::ReturnCallIndirect { type_index: ty, .. }
                            | Operator::Block { blockty: BlockType::FuncType(ty) }
                            | Operator::Loop { blockty: BlockType::FuncType(ty) }
                            | Operator::If { blockty: BlockType::FuncType(ty) } => uses.push(ty),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let mut counts = vec![0_usize; types.len()];
        for ty in uses {
            *counts.get_mut(ty as usize).context("a function of no type")? += 1;
        }
        let mut order: Vec<usize> = (0..types.len()).filter(|&ty| counts[ty] > 0).collect();
        order.sort_by_key(|&ty| Reverse(counts[ty]));
        Ok(Self { types, order })
    }
}

impl Reencode for Used {
    type Error = Infallible;

    fn type_index(&mut self, old: u32) -> Result<u32, Error<Infallible>> {
        let new = self.order.iter().position(|&ty| ty == old as usize);
        Ok(new.map_or(old, |new| new as u32))
    }

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        _: TypeSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        for at in self.order.clone() {
            let ty = self.func_type(self.types[at].clone())?;
            types.ty().func_type(&ty);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, ValType};

    /// A module with these types, of whose functions each has the next type of `used`.
    fn module(types: &[&[ValType]], used: &[u32]) -> Vec<u8> {
        let (mut section, mut functions, mut code) =
            (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        for parameters in types {
            section.ty().function(parameters.iter().copied(), []);
        }
        for &ty in used {
            functions.function(ty);
            code.function(Function::new([]).instruction(&Instruction::End));
        }
        let mut module = Module::new();
        module.section(&section).section(&functions).section(&code);
        module.finish()
    }

    #[test]
    fn the_most_used_comes_first_and_the_unused_goes() {
        let (a, b, c): (&[_], &[_], &[_]) = (&[ValType::I32], &[ValType::I64], &[ValType::F64]);
        let lean = by_use(&module(&[a, b, c], &[0, 2, 2])).expect("a module");
        assert_eq!(lean, module(&[c, a], &[1, 0, 0]));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(by_use(b"not a module").is_err());
    }
}
