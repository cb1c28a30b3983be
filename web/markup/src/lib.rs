//! `html!` for the page: the notation of Yew's macro of that name, with less code for each element.
//!
//! Yew's macro writes out how each element is put together, some 300 bytes of the module an element, and the page has
//! hundreds. This one writes a call for what an element begins with, one for each part that is not fixed, and one for its
//! end; `view::markup` in `web` puts the parts together.
//!
//! It takes what the page uses: elements and fragments; attributes with a literal, an expression in braces, or `{name}`;
//! `key`, `ref` and listeners; text and expressions in braces, `{ for … }`, and `if` with `else`. Components, properties
//! (`~name`) and dynamic tags are left to Yew's.

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// Markup in the notation of Yew's `html!`; gives a `yew::Html`.
#[proc_macro]
pub fn html(input: TokenStream) -> TokenStream {
    let mut reader = Reader::new(input, Span::call_site());
    let body = reader.nodes(None).unwrap_or_else(Wrong::report);
    code("{ let mut __m = crate::view::markup::Markup::new(); __0 __m.done() }", [body])
}

/// What is wrong with the markup, and where.
struct Wrong(Span, &'static str);

impl Wrong {
    fn report(self) -> TokenStream {
        let said = code("::core::compile_error!(__0);", [TokenTree::from(Literal::string(self.1)).into()]);
        let here = |mut token: TokenTree| {
            token.set_span(self.0);
            token
        };
        said.into_iter().map(here).collect()
    }
}

/// Rust code with `__0`, `__1` and so on replaced by `parts`, and `__m` by the variable that holds the markup, which no
/// expression of the caller can see.
fn code<const N: usize>(template: &str, parts: [TokenStream; N]) -> TokenStream {
    fill(template.parse().expect("our own code is Rust"), &parts)
}

fn fill(template: TokenStream, parts: &[TokenStream]) -> TokenStream {
    let mut filled = TokenStream::new();
    for token in template {
        match token {
            TokenTree::Group(group) => {
                let inner = fill(group.stream(), parts);
                filled.extend([TokenTree::from(Group::new(group.delimiter(), inner))]);
            }
            TokenTree::Ident(name) if name.to_string() == "__m" => {
                filled.extend([TokenTree::from(Ident::new("__m", Span::mixed_site()))]);
            }
            TokenTree::Ident(name) => {
                let number = name.to_string().strip_prefix("__").and_then(|n| n.parse::<usize>().ok());
                match number.and_then(|n| parts.get(n)) {
                    Some(part) => filled.extend(part.clone()),
                    None => filled.extend([TokenTree::from(name)]),
                }
            }
            other => filled.extend([other]),
        }
    }
    filled
}

/// Reads markup, token by token.
struct Reader {
    tokens: Vec<TokenTree>,
    at: usize,
    /// Where to say that something is missing at the end.
    end: Span,
}

/// An element as it is being read.
#[derive(Default)]
struct Element {
    /// Attributes that are literals: name and value.
    fixed: Vec<(String, TokenTree)>,
    /// Other attributes: name and expression.
    open: Vec<(String, TokenStream)>,
    /// The same for `class`; it comes last, as with Yew.
    class: Option<TokenStream>,
    /// Calls for everything that is no attribute.
    calls: TokenStream,
    /// Calls for listeners; they come after the attributes, as with Yew.
    listeners: TokenStream,
}

impl Reader {
    fn new(tokens: TokenStream, end: Span) -> Self {
        Self { tokens: tokens.into_iter().collect(), at: 0, end }
    }

    fn wrong<T>(&self, what: &'static str) -> Result<T, Wrong> {
        Err(Wrong(self.tokens.get(self.at).map_or(self.end, TokenTree::span), what))
    }

    fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Whether the next tokens are these signs.
    fn is(&self, signs: &str) -> bool {
        let mut tokens = self.tokens[self.at.min(self.tokens.len())..].iter();
        signs.chars().all(|sign| matches!(tokens.next(), Some(TokenTree::Punct(p)) if p.as_char() == sign))
    }

    /// Passes over these signs if they are next.
    fn skip(&mut self, signs: &str) -> bool {
        let is = self.is(signs);
        self.at += if is { signs.len() } else { 0 };
        is
    }

    fn expect(&mut self, signs: &str, what: &'static str) -> Result<(), Wrong> {
        if self.skip(signs) { Ok(()) } else { self.wrong(what) }
    }

    /// The group in braces that is next.
    fn braces(&mut self) -> Option<Group> {
        match self.tokens.get(self.at) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                self.at += 1;
                Some(group.clone())
            }
            _ => None,
        }
    }

    /// Whether the next token is this word.
    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.tokens.get(self.at), Some(TokenTree::Ident(name)) if name.to_string() == word);
        self.at += usize::from(is);
        is
    }

    /// A name, which may have dashes in it.
    fn name(&mut self) -> Result<String, Wrong> {
        let mut name = String::new();
        loop {
            match self.tokens.get(self.at) {
                Some(TokenTree::Ident(part)) => name.push_str(&part.to_string()),
                _ => return self.wrong("expected a name"),
            }
            self.at += 1;
            if !self.skip("-") {
                return Ok(name);
            }
            name.push('-');
        }
    }

    /// Calls for all nodes up to the closing tag of `element`, or up to the end.
    fn nodes(&mut self, element: Option<&str>) -> Result<TokenStream, Wrong> {
        let mut calls = TokenStream::new();
        loop {
            if self.is("</") {
                let Some(element) = element else {
                    return self.wrong("a closing tag without its opening tag");
                };
                self.at += 2;
                let closes = element.is_empty() || self.name()? == element;
                if !closes {
                    self.at -= 1;
                    return self.wrong("the closing tag of another element");
                }
                self.expect(">", "expected `>`")?;
                return Ok(calls);
            }
            if self.at >= self.tokens.len() {
                return if element.is_some() { self.wrong("a closing tag is missing") } else { Ok(calls) };
            }
            calls.extend(self.node()?);
        }
    }

    fn node(&mut self) -> Result<TokenStream, Wrong> {
        if self.skip("<>") {
            return Ok(code("__m.list(); __0 __m.close();", [self.nodes(Some(""))?]));
        }
        if self.skip("<") {
            return self.element();
        }
        if self.word("if") {
            return Ok(code("__m.list(); __0 __m.close();", [self.choice()?]));
        }
        if let Some(group) = self.braces() {
            let mut inner = Self::new(group.stream(), group.span_close());
            let is_loop = inner.word("for");
            let expression: TokenStream = inner.tokens.drain(inner.at..).collect();
            return Ok(if is_loop {
                code("#[allow(for_loops_over_fallibles)] for one in __0 { __m.put(one); }", [expression])
            } else {
                code("__m.put(__0);", [expression])
            });
        }
        match self.next() {
            Some(text @ TokenTree::Literal(_)) => Ok(code("__m.put(__0);", [text.into()])),
            _ => {
                self.at -= 1;
                self.wrong("expected an element, a text, an `if`, or an expression in braces")
            }
        }
    }

    /// What follows the word `if`.
    fn choice(&mut self) -> Result<TokenStream, Wrong> {
        let mut condition = TokenStream::new();
        let then = loop {
            if let Some(group) = self.braces() {
                break Self::new(group.stream(), group.span_close()).nodes(None)?;
            }
            match self.next() {
                Some(token) => condition.extend([token]),
                None => return self.wrong("an `if` without its block"),
            }
        };
        let other = if !self.word("else") {
            TokenStream::new()
        } else if self.word("if") {
            self.choice()?
        } else if let Some(group) = self.braces() {
            Self::new(group.stream(), group.span_close()).nodes(None)?
        } else {
            return self.wrong("an `else` without its block");
        };
        Ok(code("if __0 { __1 } else { __2 }", [condition, then, other]))
    }

    /// What follows `<`.
    fn element(&mut self) -> Result<TokenStream, Wrong> {
        let tag = self.name()?;
        let mut element = Element::default();
        let ends = loop {
            if self.skip("/>") {
                break true;
            }
            if self.skip(">") {
                break false;
            }
            self.attribute(&tag, &mut element)?;
        };
        let begin = element.begin(&tag);
        let children = if ends { TokenStream::new() } else { self.nodes(Some(&tag))? };
        Ok(code("__0 __1 __m.close();", [begin, children]))
    }

    fn attribute(&mut self, tag: &str, element: &mut Element) -> Result<(), Wrong> {
        if let Some(group) = self.braces() {
            element.add(tag, group.stream().to_string(), group.stream());
            return Ok(());
        }
        let name = self.name()?;
        self.expect("=", "expected `=` and a value")?;
        match self.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                element.add(tag, name, group.stream());
            }
            Some(value @ TokenTree::Literal(_)) if is_attribute(tag, &name) => {
                if value.to_string().contains(['\n', '\\']) {
                    return Err(Wrong(value.span(), "an attribute without line breaks and escapes"));
                }
                element.fixed.push((name, value));
            }
            Some(value @ TokenTree::Literal(_)) => element.add(tag, name, value.into()),
            Some(TokenTree::Ident(value)) if value.to_string() == "true" => {
                let value = Literal::string(&name).into();
                element.fixed.push((name, value));
            }
            _ => {
                self.at -= 1;
                return self.wrong("expected a literal, `true`, or an expression in braces");
            }
        }
        Ok(())
    }
}

/// Whether the name is that of an attribute, and not of something else that is written like one.
fn is_attribute(tag: &str, name: &str) -> bool {
    match name {
        "key" | "ref" => false,
        "value" => !matches!(tag, "input" | "textarea"),
        "checked" => tag != "input",
        _ => !name.starts_with("on"),
    }
}

impl Element {
    /// Adds an attribute or whatever else this name stands for.
    fn add(&mut self, tag: &str, name: String, value: TokenStream) {
        const TYPED: &str = "__m.typed(crate::view::markup::Attribute::value(__0, \"value\"));";
        const LISTEN: &str = "__m.listen(::yew::html::__0::Wrapper::__macro_new(__1));";
        match name.as_str() {
            "class" => self.class = Some(value),
            _ if is_attribute(tag, &name) => self.open.push((name, value)),
            "key" => self.calls.extend(code("__m.key(__0);", [value])),
            "ref" => self.calls.extend(code("__m.refer(__0);", [value])),
            "value" => self.calls.extend(code(TYPED, [value])),
            "checked" => self.calls.extend(code("__m.checked(__0);", [value])),
            event => {
                let event = TokenTree::from(Ident::new(event, Span::call_site()));
                self.listeners.extend(code(LISTEN, [event.into(), value]));
            }
        }
    }

    /// Calls for the beginning of the element. What is known of it is one text: a line with its tag, then one for each
    /// attribute that is fixed, `name=value`, then the names of the others.
    fn begin(self, tag: &str) -> TokenStream {
        let text = |text: &str| TokenStream::from(TokenTree::from(Literal::string(text)));
        let (mut known, mut values) = (text(tag), TokenStream::new());
        for (name, value) in self.fixed {
            known.extend(code(", __0, __1", [text(&format!("\n{name}=")), value.into()]));
        }
        for (name, value) in self.open {
            known.extend(code(", __0", [text(&format!("\n{name}"))]));
            let call = "__m.attribute(crate::view::markup::Attribute::value(__0, __1));";
            values.extend(code(call, [value, text(&name)]));
        }
        if let Some(class) = self.class {
            known.extend(code(", __0", [text("\nclass")]));
            values.extend(code("__m.class(crate::view::markup::Attribute::value(__0, \"class\"));", [class]));
        }
        let begin = "__m.open(::core::concat!(__0)); __1 __2 __3";
        code(begin, [known, self.calls, values, self.listeners])
    }
}
