//! The guided tour, and what to look for in a preset.

words! {
    TourWords, tour;

    title: "Tour", "导览";
}
