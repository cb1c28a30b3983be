//! Compare: two systems on the same traffic.

words! {
    CompareWords, compare;

    tab: "Compare", "对比";
}
