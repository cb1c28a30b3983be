//! Your traffic: a log, under one policy or two.

words! {
    ReplayWords, replay;

    tab: "Replay a log", "回放日志";
}
