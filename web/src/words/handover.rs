//! Handing a run over: pictures, tables, files, embedding.

words! {
    HandoverWords, handover;

    export: "Export", "导出";
}
