//! Numbers the local variables of the page's functions by how often they are used.
//!
//! The compiler numbers them as they come. With the most used of each type first, functions that have nothing else in
//! common still name their variables alike, and the packed module is half a percent smaller.

use std::cmp::Reverse;
use std::convert::Infallible;

use anyhow::{Context, Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, Function, Instruction, Module, ValType};
use wasmparser::{FunctionBody, Operator, Parser, Payload};

/// The order of types among the variables of a function; any other comes after these.
const TYPES: [ValType; 4] = [ValType::I32, ValType::I64, ValType::F32, ValType::F64];

/// `wasm` with the variables of its functions, parameters aside, sorted by type and use.
///
/// # Errors
/// When it is no module.
pub(crate) fn by_use(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut renumber = Renumber { parameters: parameters(wasm)?.into_iter() };
    let mut module = Module::new();
    let done = renumber.parse_core_module(&mut module, Parser::new(0), wasm);
    done.map_err(|error| anyhow!("cannot write the module again: {error}"))?;
    Ok(module.finish())
}

/// How many parameters each of the module's own functions has.
fn parameters(wasm: &[u8]) -> Result<Vec<u32>> {
    let (mut of_types, mut of_functions) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    of_types.push(u32::try_from(ty?.params().len())?);
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section {
                    of_functions.push(*of_types.get(ty? as usize).context("a function of no type")?);
                }
            }
            _ => {}
        }
    }
    Ok(of_functions)
}

struct Renumber {
    /// Parameters of the functions that are still to come.
    parameters: std::vec::IntoIter<u32>,
}

impl Reencode for Renumber {
    type Error = Infallible;

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let parameters = self.parameters.next().unwrap_or(0);
        let variables = Variables::of(self, parameters, &body)?;
        let mut function = Function::new_with_locals_types(variables.types.iter().copied());
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            function.instruction(&variables.renamed(self.parse_instruction(&mut reader)?));
        }
        code.function(&function);
        Ok(())
    }
}

/// The variables of a function, and their new numbers.
struct Variables {
    /// How many numbers are the parameters'; they stay.
    parameters: u32,
    /// The new number of each, counted after the parameters.
    places: Vec<u32>,
    /// The type of each, in the new order.
    types: Vec<ValType>,
}

impl Variables {
    fn of(types: &mut Renumber, parameters: u32, body: &FunctionBody<'_>) -> Result<Self, Error<Infallible>> {
        let mut old = Vec::new();
        for run in body.get_locals_reader()? {
            let (count, ty) = run?;
            old.extend(std::iter::repeat_n(types.val_type(ty)?, count as usize));
        }
        let mut uses = vec![0_u32; old.len()];
        for operator in body.get_operators_reader()? {
            use Operator::{LocalGet, LocalSet, LocalTee};
            if let LocalGet { local_index } | LocalSet { local_index } | LocalTee { local_index } = operator?
                && let Some(own) = local_index.checked_sub(parameters)
                && let Some(uses) = uses.get_mut(own as usize)
            {
                *uses += 1;
            }
        }
        let rank = |ty: ValType| TYPES.iter().position(|one| *one == ty).unwrap_or(TYPES.len());
        let mut order: Vec<usize> = (0..old.len()).collect();
        order.sort_by_key(|&one| (rank(old[one]), Reverse(uses[one])));
        let mut places = vec![0; old.len()];
        for (new, &one) in (0..).zip(&order) {
            places[one] = new;
        }
        Ok(Self { parameters, places, types: order.into_iter().map(|one| old[one]).collect() })
    }

    fn renamed<'a>(&self, instruction: Instruction<'a>) -> Instruction<'a> {
        match instruction {
            Instruction::LocalGet(old) => Instruction::LocalGet(self.number(old)),
            Instruction::LocalSet(old) => Instruction::LocalSet(self.number(old)),
            Instruction::LocalTee(old) => Instruction::LocalTee(self.number(old)),
            other => other,
        }
    }

    fn number(&self, old: u32) -> u32 {
        let own = old.checked_sub(self.parameters).and_then(|own| self.places.get(own as usize));
        own.map_or(old, |place| self.parameters + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{FunctionSection, TypeSection};

    /// A module with one function of one parameter, made of these instructions.
    fn module(variables: &[ValType], instructions: &[Instruction<'_>]) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], []);
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut body = Function::new_with_locals_types(variables.iter().copied());
        for instruction in instructions {
            body.instruction(instruction);
        }
        let mut code = CodeSection::new();
        code.function(body.instruction(&Instruction::End));
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        module.finish()
    }

    #[test]
    fn the_most_used_of_a_type_comes_first_and_parameters_stay() {
        use Instruction::{Drop, LocalGet, LocalSet, LocalTee};
        let (i, f) = (ValType::I32, ValType::F64);
        let old = [LocalGet(0), LocalSet(2), LocalGet(3), LocalTee(3), Drop, LocalGet(1), Drop];
        let new = [LocalGet(0), LocalSet(2), LocalGet(1), LocalTee(1), Drop, LocalGet(3), Drop];
        let sorted = by_use(&module(&[f, i, i], &old)).expect("a module");
        assert_eq!(sorted, module(&[i, i, f], &new));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(by_use(b"not a module").is_err());
    }
}
