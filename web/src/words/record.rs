//! Why one request, refusal or pick went as it did.

words! {
    RecordWords, record;

    title: "Why", "为何";
}
