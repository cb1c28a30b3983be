//! The scenario as text.

words! {
    TextWords, text;

    title: "As text", "文本";
}
