//! Handing a run over: pictures, tables, files, embedding.

words! {
    HandoverWords, handover;

    export: "Save", "保存";
    export_about: "What the page shows, and the figures of the whole run.", "页面所见，以及整个运行的数据。";
    export_picture: "Picture", "画面";
    export_tracks: "Tracks", "曲线";
    export_history: "History", "历史";
    export_report: "Report", "报告";
    export_scenario: "Scenario", "场景";
    print: "Print…", "打印…";
    about_picture: "{0} of {1} · seed {2} · {3}engine {4} · Tidegate", "{0} / {1} · 种子 {2} · {3}引擎 {4} · Tidegate";
    about_hash: "run {0} · ", "运行 {0} · ";
    working: "Computing…", "正在计算…";
    saved: "Saved {0}", "已保存 {0}";
    failed: "This did not work: {0}", "未能完成：{0}";

    qr: "Show a QR code", "显示二维码";
    qr_label: "The link as a QR code", "链接的二维码";
    qr_long: "Too long for a QR code, which holds 2,953 characters.", "链接过长：二维码最多容纳 2,953 个字符。";

    embed: "Embed in a page", "嵌入网页";
    embed_about: "Stands still until clicked. Up to two controls.", "点击后才播放，最多两个控件。";
    control_load: "load", "负载";
    control_workers: "workers", "线程";
    control_policy: "policy", "策略";
    control_seed: "seed", "种子";
    load: "Load", "负载";
    play_here: "Play", "播放";
    open_full: "Open in Tidegate", "在 Tidegate 中打开";

    run_long: "The link is {0} characters long: save the scenario as a file first.", "链接有 {0} 个字符，请先把场景存成文件。";
    run_files: "Listens on 127.0.0.1:8080 and serves the files of ./public. Put your own folder in its place. Ctrl-C stops it. Then switch to Live to watch it here.", "监听 127.0.0.1:8080，提供 ./public 里的文件，请换成自己的目录。Ctrl-C 停止。然后切到“实况”在这里观看。";
    run_save: "Save {0}", "保存 {0}";
    offline: "offline", "离线";

    printed: "class|arrived|completed|turned away|failed|in time per s|mean wait, s|99 % wait at most, s", "类|到达|完成|已拒绝|失败|每秒按时完成|平均等待（秒）|99% 的等待不超过（秒）";
}
