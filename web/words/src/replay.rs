//! Your traffic: a log, under one policy or two.

words! {
    ReplayWords, replay;

    tab: "Replay a log", "回放日志";
    title: "Play your own traffic", "回放自己的流量";
    about: "Drop an access log of a web server (Common or Combined), or a table whose first line names its columns, such as t_s,class,service_us. Requests become classes by path and kind. The file is read in this browser and never uploaded.", "拖入 Web 服务器的访问日志（Common 或 Combined），或首行是列名的表格，如 t_s,class,service_us。请求按路径和种类归为各类。文件只在本浏览器中读取，不会上传。";
    plays: "{0}: {1} requests in {2}", "{0}：{2} 内 {1} 个请求";
    other: "Another file", "换一个文件";
    both: "Under two policies", "用两种策略回放";
}
