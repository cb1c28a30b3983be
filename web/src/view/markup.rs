//! What `html!` is made of: parts come one after the other, and an element is put together when it ends.
//!
//! One copy of this serves all elements of the page. Yew's own macro writes the same out for each.

use std::cell::RefCell;
use std::rc::Rc;
use yew::html::IntoPropValue;
use yew::prelude::*;
use yew::virtual_dom::{AttributeOrProperty, Attributes, Key, Listener, VList, VNode, VTag, VText};

/// Markup in the notation of Yew's `html!`, for what it says of itself a fraction of the size.
pub(crate) use tidegate_markup::html;

/// What is known of an element before the page runs.
#[derive(Clone, Copy)]
struct Plan {
    /// The text that it was read from: one text, one plan.
    text: &'static str,
    tag: &'static str,
    /// Attributes that never change.
    fixed: &'static [(&'static str, AttributeOrProperty)],
    /// Names of all attributes, those that never change first; empty if all of them are fixed.
    keys: &'static [&'static str],
}

thread_local! {
    /// The plans of all elements that there were so far, by their texts' places. As tables in the program they would pack
    /// badly; and Yew knows attributes as the same by their place.
    static PLANS: RefCell<Vec<Plan>> = const { RefCell::new(Vec::new()) };
}

impl Plan {
    /// The plan that a text is: a line with the tag, then one for each attribute that is fixed, `name=value`, then the names
    /// of the others.
    fn of(text: &'static str) -> Self {
        let place = |text: &str| (text.as_ptr() as usize, text.len());
        PLANS.with_borrow_mut(|plans| {
            match plans.binary_search_by_key(&place(text), |plan| place(plan.text)) {
                Ok(at) => plans[at],
                Err(at) => {
                    let plan = Self::read(text);
                    plans.insert(at, plan);
                    plan
                }
            }
        })
    }

    fn read(text: &'static str) -> Self {
        let (mut fixed, mut keys, mut is_open) = (Vec::new(), Vec::new(), false);
        let mut lines = text.split('\n');
        let tag = lines.next().unwrap_or_default();
        for line in lines {
            let (name, value) = line.split_once('=').unzip();
            let name = name.unwrap_or(line);
            keys.push(name);
            match value {
                Some(value) => fixed.push((name, AttributeOrProperty::Static(value))),
                None => is_open = true,
            }
        }
        // There are as many as there are elements in the page's markup, and they are needed as long as it is.
        Self { text, tag, fixed: fixed.leak(), keys: if is_open { keys.leak() } else { &[] } }
    }
}

/// An element, or a list if it has no plan, whose end has not come yet.
#[derive(Default)]
struct Open {
    plan: Option<Plan>,
    values: Vec<Option<AttributeOrProperty>>,
    listeners: Vec<Option<Rc<dyn Listener>>>,
    key: Option<Key>,
    node: NodeRef,
    typed: Option<AttrValue>,
    checked: Option<bool>,
    children: Vec<VNode>,
}

impl Open {
    fn close(self) -> VNode {
        let children = VNode::from(VList::with_children(self.children, None));
        let Some(plan) = self.plan else { return children };
        let mut tag = VTag::new(plan.tag);
        tag.set_attributes(if plan.keys.is_empty() {
            Attributes::Static(plan.fixed)
        } else {
            Attributes::Dynamic { keys: plan.keys, values: self.values.into() }
        });
        if !self.listeners.is_empty() {
            tag.set_listeners(self.listeners.into());
        }
        tag.key = self.key;
        tag.node_ref = self.node;
        if let Some(typed) = self.typed {
            tag.set_value(typed);
        }
        if let Some(checked) = self.checked {
            tag.set_checked(checked);
        }
        if let Some(place) = tag.children_mut() {
            *place = children;
        }
        tag.into()
    }
}

/// Markup in the making.
///
/// What it holds is behind a pointer, and each method hands that on to a function of its own: so what is repeated at each
/// part of an element is one small variable and one call.
pub(crate) struct Markup(Box<Making>);

struct Making {
    /// The innermost element that has not ended.
    inner: Open,
    /// What that is in, the innermost last.
    outer: Vec<Open>,
}

impl Making {
    #[inline(never)]
    fn new() -> Box<Self> {
        Box::new(Self { inner: Open::default(), outer: Vec::new() })
    }

    #[inline(never)]
    fn open(&mut self, text: &'static str) {
        let plan = Plan::of(text);
        let fixed = if plan.keys.is_empty() { &[] } else { plan.fixed };
        self.begin(Open { plan: Some(plan), ..Open::default() });
        for (_, value) in fixed {
            if let AttributeOrProperty::Static(value) = value {
                self.attribute(Some(AttrValue::Static(value)));
            }
        }
    }

    #[inline(never)]
    fn list(&mut self) {
        self.begin(Open::default());
    }

    #[inline(never)]
    fn begin(&mut self, open: Open) {
        self.outer.push(std::mem::replace(&mut self.inner, open));
    }

    #[inline(never)]
    fn close(&mut self) {
        let outer = self.outer.pop().unwrap_or_default();
        let node = std::mem::replace(&mut self.inner, outer).close();
        self.inner.children.push(node);
    }

    #[inline(never)]
    fn done(&mut self) -> Html {
        match self.inner.children.pop() {
            Some(only) if self.inner.children.is_empty() => only,
            last => {
                self.inner.children.extend(last);
                std::mem::take(&mut self.inner).close()
            }
        }
    }

    #[inline(never)]
    fn attribute(&mut self, value: Option<AttrValue>) {
        self.inner.values.push(value.map(AttributeOrProperty::Attribute));
    }

    #[inline(never)]
    fn class(&mut self, value: Option<AttrValue>) {
        self.attribute(value.filter(|class| !class.is_empty()));
    }

    #[inline(never)]
    fn listen(&mut self, listener: Option<Rc<dyn Listener>>) {
        self.inner.listeners.push(listener);
    }

    #[inline(never)]
    fn node(&mut self, node: VNode) {
        self.inner.children.push(node);
    }

    #[inline(never)]
    fn text(&mut self, text: String) {
        self.node(VText::new(text).into());
    }

    #[inline(never)]
    fn words(&mut self, text: &str) {
        self.text(text.to_owned());
    }
}

#[allow(clippy::inline_always, reason = "see above")]
impl Markup {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(Making::new())
    }

    /// Begins an element: what is known of it, in lines.
    #[inline(always)]
    pub(crate) fn open(&mut self, known: &'static str) {
        self.0.open(known);
    }

    /// Begins a list: what stands in one place of an element, however much it is.
    #[inline(always)]
    pub(crate) fn list(&mut self) {
        self.0.list();
    }

    /// Ends what was begun last.
    #[inline(always)]
    pub(crate) fn close(&mut self) {
        self.0.close();
    }

    /// All of it.
    #[inline(always)]
    pub(crate) fn done(mut self) -> Html {
        self.0.done()
    }

    /// The value of the next attribute that is not fixed.
    #[inline(always)]
    pub(crate) fn attribute(&mut self, value: Option<AttrValue>) {
        self.0.attribute(value);
    }

    /// The same for `class`: there is no empty one.
    #[inline(always)]
    pub(crate) fn class(&mut self, value: Option<AttrValue>) {
        self.0.class(value);
    }

    #[inline(always)]
    pub(crate) fn listen(&mut self, listener: Option<Rc<dyn Listener>>) {
        self.0.listen(listener);
    }

    /// What tells it from its neighbours in a list that changes.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: impl Into<Key>) {
        self.0.inner.key = Some(key.into());
    }

    /// A reference that will lead to its node.
    #[inline(always)]
    pub(crate) fn refer(&mut self, node: NodeRef) {
        self.0.inner.node = node;
    }

    /// What is typed into a field.
    #[inline(always)]
    pub(crate) fn typed(&mut self, value: Option<AttrValue>) {
        self.0.inner.typed = value;
    }

    /// Whether a box is ticked.
    #[inline(always)]
    pub(crate) fn checked(&mut self, is: bool) {
        self.0.inner.checked = Some(is);
    }

    /// Something inside the element.
    #[inline(always)]
    pub(crate) fn put(&mut self, child: impl Child) {
        child.put(self);
    }
}

/// What may stand inside an element.
pub(crate) trait Child {
    fn put(self, to: &mut Markup);
}

impl Child for VNode {
    #[inline(always)]
    fn put(self, to: &mut Markup) {
        to.0.node(self);
    }
}

impl Child for String {
    #[inline(always)]
    fn put(self, to: &mut Markup) {
        to.0.text(self);
    }
}

impl Child for &str {
    #[inline(always)]
    fn put(self, to: &mut Markup) {
        to.0.words(self);
    }
}

impl Child for &String {
    #[inline(always)]
    fn put(self, to: &mut Markup) {
        self.as_str().put(to);
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Child for $number {
            fn put(self, to: &mut Markup) {
                to.0.text(self.to_string());
            }
        }
    )*};
}

numbers!(u8, u32, usize);

impl<T: Child> Child for Option<T> {
    #[inline(always)]
    fn put(self, to: &mut Markup) {
        if let Some(child) = self {
            child.put(to);
        }
    }
}

impl<T: Child> Child for Vec<T> {
    fn put(self, to: &mut Markup) {
        for child in self {
            child.put(to);
        }
    }
}

/// What may be the value of an attribute; `None` leaves the attribute out.
pub(crate) trait Attribute {
    fn value(self, name: &'static str) -> Option<AttrValue>;
}

/// There or not there, as `disabled` is.
impl Attribute for bool {
    fn value(self, name: &'static str) -> Option<AttrValue> {
        self.then_some(AttrValue::Static(name))
    }
}

macro_rules! attribute {
    ($($value:ty),*) => {$(
        impl Attribute for $value {
            fn value(self, _: &'static str) -> Option<AttrValue> {
                self.into_prop_value()
            }
        }
    )*};
}

attribute!(&'static str, String, AttrValue, Classes, Option<&'static str>, Option<String>, Option<AttrValue>);

#[cfg(test)]
mod tests {
    use super::*;

    /// A node as text: tags with their attributes by name, keys, listeners and children.
    fn shown(node: &VNode) -> String {
        match node {
            VNode::VText(text) => text.text.to_string(),
            VNode::VList(list) => list.iter().map(shown).collect(),
            VNode::VTag(tag) => {
                let mut attributes: Vec<_> = tag.attributes.iter().collect();
                attributes.sort_unstable();
                let (key, value, checked) = (&tag.key, tag.value(), tag.checked());
                let children = tag.children().map(shown);
                format!("<{} {attributes:?} {key:?} {value:?} {checked:?}>{children:?}", tag.tag())
            }
            _ => panic!("nothing else is markup of ours"),
        }
    }

    /// The same markup by this macro and by Yew's.
    macro_rules! same {
        ($($markup:tt)*) => {
            assert_eq!(shown(&html! { $($markup)* }), shown(&yew::html! { $($markup)* }));
        };
    }

    #[test]
    fn markup_means_what_it_means_to_yew() {
        let (class, words, none) = ("a b", String::from("words"), None::<String>);
        same! { <br /> }
        same! { <p class="x" aria-hidden="true">{"text"}</p> }
        same! { <p {class} id={words.clone()} title={none.clone()}>{ &words }{" "}{ 5_u32 }</p> }
        same! { <p class={String::new()}>{ none.clone() }{ Some("one") }</p> }
        same! { <p class={classes!("a", (1 > 2).then_some("b"))}><b>{"x"}</b><i /></p> }
        same! { <input type="checkbox" value={words.clone()} checked={true} hidden=true disabled={1 > 2} /> }
        same! { <option value={words.clone()} selected={true}>{"x"}</option> }
        same! { <li key="a">{"x"}</li> }
    }

    #[test]
    fn parts_that_come_and_go_and_lists_mean_the_same_too() {
        for n in 0..3 {
            same! { <p>if n == 0 { {"none"} } else if n == 1 { <b>{"one"}</b> } else { {"many"}{ n } }</p> }
            same! { <ul>{ for (0..n).map(|i: usize| yew::html! { <li key={i}>{i}</li> }) }<li /></ul> }
            same! { <>{"before"}if let Some(m) = n.checked_sub(1) { <b>{m}</b> }<>{"after"}</></> }
        }
    }

    #[test]
    fn listeners_and_references_are_kept() {
        let node = NodeRef::default();
        let html = html! { <b ref={node.clone()} onclick={Callback::from(|_: MouseEvent| ())} /> };
        let VNode::VTag(tag) = html else { panic!("an element") };
        assert_eq!(tag.node_ref, node);
        let plain = VNode::VTag(Rc::new(VTag::new("b")));
        assert_ne!(VNode::VTag(tag), plain, "it listens");
    }
}
